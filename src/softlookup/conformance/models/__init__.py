"""Checks of whole decoders: logits with and without a cache, padding, packing, and what each layer really attends."""
