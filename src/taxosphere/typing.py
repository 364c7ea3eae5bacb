"""Type aliases that every folder shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Longs: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = Any
"""A scipy sparse array in CSR layout; scipy ships no types for it."""
CountProgress: TypeAlias = Callable[[int, int], None]
"""Called as ``progress(done, total)``."""
Progress: TypeAlias = Callable[[int, int, str], None]
"""Called as ``progress(done, total, message)`` while something takes long."""

RANDOM_STATES = 1 << 32
"""A random state is a whole number from 0 up to, not including, this: what numpy's generators accept."""
