from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taxosphere.encoders.precomputed import PrecomputedEncoder, read
from taxosphere.errors import InputError


def test_rows_come_out_unit_and_in_the_order_asked_for() -> None:
    encoder = PrecomputedEncoder(["a", "b"], np.array([[3.0, 4.0], [0.0, 2.0]], np.float32))
    np.testing.assert_allclose(encoder.encode(["b", "a", "b"]), [[0, 1], [0.6, 0.8], [0, 1]], rtol=1e-6)


def test_ids_become_the_texts_that_are_asked_for(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(2, dtype=np.float64))
    (tmp_path / "ids.txt").write_text("Q1\nQ2\n")
    encoder = read(tmp_path / "v.npy", tmp_path / "ids.txt", {"Q2": "dog: it barks"})
    np.testing.assert_array_equal(encoder.encode(["dog: it barks", "Q1"]), [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("rows", "message"),
    [([[1.0, np.nan]], "not finite"), ([[0.0, 0.0]], "'a' is zero"), ([[1.0], [1.0]], r"1 texts.*\(2, 1\)")],
)
def test_unusable_vectors_are_refused(rows: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PrecomputedEncoder(["a"], np.array(rows, np.float32))


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(3))
    (tmp_path / "ids.txt").write_text("a\nb\n")
    with pytest.raises(InputError, match=r"ids\.txt: 2 lines.*\(3, 3\)"):
        read(tmp_path / "v.npy", tmp_path / "ids.txt")
    with pytest.raises(InputError, match=r"none\.txt"):
        read(tmp_path / "v.npy", tmp_path / "none.txt")
    (tmp_path / "v.npy").write_text("no array")
    with pytest.raises(InputError, match=r"v\.npy: not a readable"):
        read(tmp_path / "v.npy", tmp_path / "ids.txt")
