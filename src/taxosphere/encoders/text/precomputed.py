"""Vectors made elsewhere: a .npy matrix beside the ids (or texts) of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import InputError
from taxosphere.typing import Floats


class PrecomputedEncoder:
    """Looks vectors up by text instead of encoding.

    Parameters
    ----------
    texts : sequence of str
        The text of every row.
    vectors : float array of shape (n, dim)
        Rows are scaled to length one.
    name : str

    Raises
    ------
    InputError
        The two do not fit together, a number is not finite or a row is zero.
    """

    def __init__(self, texts: Sequence[str], vectors: NDArray[np.floating], name: str = "precomputed") -> None:
        matrix = np.asarray(vectors, dtype=np.float32)
        if matrix.ndim != 2 or len(matrix) != len(texts):
            raise InputError(f"{len(texts)} texts but a vector array of shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise InputError("the vectors hold a number that is not finite")
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        if (norms == 0).any():
            raise InputError(f"the vector of '{texts[int((norms[:, 0] == 0).argmax())]}' is zero")
        self._row = {text: row for row, text in reversed(list(enumerate(texts)))}
        self._vectors = matrix / norms
        self.name = name

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._vectors.shape[1])

    def encode(self, texts: Sequence[str]) -> Floats:
        """Vectors (len(texts), dim); `InputError` names a text without one."""
        missing = next((text for text in texts if text not in self._row), None)
        if missing is not None:
            raise InputError(f"there is no precomputed vector for '{missing}'")
        rows: Floats = self._vectors[np.array([self._row[text] for text in texts], dtype=np.intp)]
        return rows


def matrix(path: Path, *, mapped: bool = False) -> NDArray[np.floating]:
    """The two-dimensional array of a .npy file, mapped from disk with ``mapped``; `InputError` for anything else."""
    try:
        array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"not a readable .npy array: {error}", path) from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiu":
        raise InputError("not a .npy array with a row of numbers for each vector", path)
    return array


def read(vectors: Path, ids: Path) -> PrecomputedEncoder:
    """An encoder from a .npy file and a text file with the text of each row, one a line."""
    rows = matrix(vectors)
    try:
        lines = ids.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as UTF-8 text: {error}", ids) from None
    if len(rows) != len(lines):
        raise InputError(f"{len(lines)} lines, but the array {vectors} has the shape {rows.shape}", ids)
    return PrecomputedEncoder(lines, rows, name=str(vectors))
