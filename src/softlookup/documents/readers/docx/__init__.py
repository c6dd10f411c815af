"""Word files: numbering as Word prints it, revisions, fields, notes, tables."""
