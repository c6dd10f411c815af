"""Functions with one planted bug each, and correct ones: what the checker is examined with."""
