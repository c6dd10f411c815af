"""What in the context was looked at while the question was read; ranking, citations and abstention."""
