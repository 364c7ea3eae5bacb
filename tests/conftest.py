"""What every test may use: the benchmark folder where it exists, and taxonomies small enough to check by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from taxosphere import Taxonomy


def _data_folder() -> Path:
    named = os.environ.get("TAXOSPHERE_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of benchmark taxonomies; tests that need it are skipped where it is absent."""
    folder = _data_folder()
    if not folder.is_dir():
        pytest.skip("the benchmark data is not here (set TAXOSPHERE_DATA)")
    return folder


@pytest.fixture(scope="session")
def animals() -> Taxonomy:
    """A tree of eight concepts and one with two parents, small enough to work out on paper.

    animal ─┬─ bird ─┬─ sparrow
            │        └─ duck ← (also a farm animal)
            ├─ mammal ─ dog
            └─ farm animal ─ duck
    mineral (a second root, alone)
    """
    pairs = [
        ("animal", "bird"),
        ("animal", "mammal"),
        ("animal", "farm animal"),
        ("bird", "sparrow"),
        ("bird", "duck"),
        ("mammal", "dog"),
        ("farm animal", "duck"),
    ]
    return Taxonomy.from_edges(pairs, names={"mineral": "mineral"}, descriptions={"duck": "a waterbird that quacks"})
