"""A quiz over all lessons: sizes are drawn by a seed, answers graded, explanations run softlookup's own functions."""
