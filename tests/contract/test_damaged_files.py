"""Hundreds of damaged files: each is read, or refused in one line, soon. The long run is benchmarks/fuzz_formats.py."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import pytest

from support.mutations import mutated, samples
from taxosphere import Taxonomy
from taxosphere.errors import TaxosphereError

pytest.importorskip("pyoxigraph")

ROUNDS = 8  # damaged files for each sound one
REGRESSIONS = Path(__file__).parents[1] / "regressions"


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return samples()


def check(path: Path) -> None:
    began = time.process_time()
    for strict in (True, False):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                Taxonomy.read(path, strict=strict)
        except TaxosphereError as error:
            assert "\n" not in str(error)  # noqa: PT017 - reading it is right too
    assert time.process_time() - began < 10  # of the processor: other work does not count


def test_sound_files_are_read(files: dict[str, bytes], tmp_path: Path) -> None:
    unread = {"codes.csv", "obographs.json"}  # the first needs --map
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        if name not in unread:
            assert len(Taxonomy.read(tmp_path / name)) >= 1


@pytest.mark.parametrize("number", range(ROUNDS))
def test_damaged_files_are_read_or_refused(files: dict[str, bytes], number: int, tmp_path: Path) -> None:
    for place in range(number * len(files), (number + 1) * len(files)):
        name, content = mutated(files, place)
        (tmp_path / name).write_bytes(content)
        check(tmp_path / name)
        (tmp_path / name).unlink()


@pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("*")), ids=lambda path: path.name)
def test_what_once_ended_in_a_traceback(path: Path) -> None:
    check(path)
