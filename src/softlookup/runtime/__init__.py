"""Models: fetching, converting, loading, observing, prefill and decode; the only part that imports transformers."""
