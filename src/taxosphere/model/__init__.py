"""The Polaris model: a network onto the sphere, its losses and its training."""
