"""What a run will cost and how a document should be read; no torch."""
