"""What to do with one document: the steps, the strategies, the choice and its words."""
