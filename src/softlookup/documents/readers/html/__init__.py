"""HTML files: shown text, lists, tables and counters."""
