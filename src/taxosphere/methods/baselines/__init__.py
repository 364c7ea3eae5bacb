"""The systems Polaris is compared with, one file each, and the references that need no training."""
