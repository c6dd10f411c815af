"""Attention and its statistics on plain tensors; knows no model.

Shape legend used everywhere: B batch, Hq query heads, Hkv key/value heads, Tq query rows, Tk keys,
D head dimension, G row groups. ``scores`` are scaled q.k before softmax, ``weights`` after it.
"""
