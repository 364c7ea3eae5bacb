from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taxosphere.encoders.text.precomputed import PrecomputedEncoder, matrix, read
from taxosphere.errors import InputError


def test_rows_come_out_unit_and_in_the_order_asked_for() -> None:
    encoder = PrecomputedEncoder(["a", "b"], np.array([[3.0, 4.0], [0.0, 2.0]], np.float32))
    np.testing.assert_allclose(encoder.encode(["b", "a", "b"]), [[0, 1], [0.6, 0.8], [0, 1]], rtol=1e-6)


def test_a_file_names_the_text_of_each_row(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(2, dtype=np.float64))
    (tmp_path / "v.txt").write_text("cat\ndog: it barks\n")
    encoder = read(tmp_path / "v.npy", tmp_path / "v.txt")
    np.testing.assert_array_equal(encoder.encode(["dog: it barks", "cat"]), [[0, 1], [1, 0]])


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
    for content in (b"no array", b""):
        (tmp_path / "v.npy").write_bytes(content)
        with pytest.raises(InputError, match=r"v\.npy: not a readable"):
            read(tmp_path / "v.npy", tmp_path / "ids.txt")


@pytest.mark.parametrize("array", [np.array([["a", "b"]]), np.zeros(3), np.zeros((1, 2, 3))])
def test_what_is_no_table_of_numbers_is_refused(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "v.npy", array)
    with pytest.raises(InputError, match=r"v\.npy: not a \.npy array with a row of numbers"):
        matrix(tmp_path / "v.npy")
    np.savez(tmp_path / "two.npz", array)
    (tmp_path / "two.npz").rename(tmp_path / "v.npy")
    with pytest.raises(InputError, match=r"v\.npy: not a \.npy array"):
        matrix(tmp_path / "v.npy", mapped=True)
