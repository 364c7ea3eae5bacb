"""The systems Polaris is compared with, and the references that need no training."""
