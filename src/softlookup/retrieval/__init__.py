"""Chooses what the model reads: lexical ranking of passages, closure over references, context; no torch."""
