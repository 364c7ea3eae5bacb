"""Concept texts to vectors: the packaged encoder, any transformer, or vectors made elsewhere."""
