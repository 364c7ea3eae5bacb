"""What every test may use: the benchmark folder where it exists, and taxonomies small enough to check by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from taxosphere import Taxonomy

# No time limit for a made-up example: a busy machine is no failure.
settings.register_profile("taxosphere", deadline=None, max_examples=60)
settings.load_profile("taxosphere")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, those in the browser and of whole fits: at the end one process would wait for them.

    Within a file the order stays. Needs --no-loadscope-reorder, or the files with the fewest tests come last.
    """
    tests = Path(__file__).parent
    items.sort(key=lambda item: (item.path.parent != tests / "ui", item.path.parent != tests))


def _shared(name: str, variable: str) -> Path:
    """A folder of files that are not part of the project: where the variable says, or beside the checkout."""
    if os.environ.get(variable):
        return Path(os.environ[variable])
    above = Path(__file__).resolve().parents
    places = [folder / "shared" / name for folder in above[2:4]]
    return next((place for place in places if place.is_dir()), places[0])


def _data_folder() -> Path:
    return _shared("data", "TAXOSPHERE_DATA")


@pytest.fixture(scope="session")
def real_files() -> Path:
    """The folder of real taxonomy files with counts by independent readers; tests are skipped where it is absent."""
    folder = _shared("real", "TAXOSPHERE_REAL")
    if not (folder / "expected.tsv").is_file():
        pytest.skip("the real files are not here (set TAXOSPHERE_REAL)")
    return folder


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
