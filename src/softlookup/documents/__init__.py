"""Files become a :class:`Document` of clauses with exact character offsets; no model, no torch."""
