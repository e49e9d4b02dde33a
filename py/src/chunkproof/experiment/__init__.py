"""The second experiment: which chunking puts the annotated evidence into a context of a fixed number of tokens (spec 16)."""
