"""Random states; in a module of its own, so that the help of commands waits for nothing."""

from __future__ import annotations

SEEDS = 1 << 32  # random states there are, as many as numpy takes
