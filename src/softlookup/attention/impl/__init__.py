"""Implementations of one attention call; none imports another, none falls back to another."""
