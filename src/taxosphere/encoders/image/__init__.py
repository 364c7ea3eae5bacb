"""Images to vectors: EfficientNet, CLIP-like models, or vectors made elsewhere."""
