"""Concept texts and images to vectors: one step of the way, frozen or fine-tuned."""
