"""Cross-references: found, read, and led to the clauses they name."""
