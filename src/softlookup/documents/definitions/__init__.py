"""Defined terms: where they are defined, under which names, and what they cover."""
