"""Work in batches, on one machine or many: a placer of Arrow batches, executors, and resumable streams."""

from taxosphere.scale.placer import Placer

__all__ = ["Placer"]
