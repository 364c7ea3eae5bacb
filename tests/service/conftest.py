"""A store on each of the two databases: a file of SQLite, and PostgreSQL from a wheel, started for the tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taxosphere.service.store import Store

if TYPE_CHECKING:
    from support.workbenches import Client
    from taxosphere.service.workbench import Workbench

_NUMBER = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a PostgreSQL server that lives as long as the tests, without the name of a database."""
    from support.postgres import server

    with server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new, empty store may be."""
    if request.param == "sqlite":
        return str(tmp_path / "decisions.db")
    from support.postgres import new_database

    server: str = request.getfixturevalue("postgres")
    return new_database(server, f"store_{os.getpid()}_{next(_NUMBER)}")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened:
        yield opened


@pytest.fixture(scope="session")
def meadow_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a model that learned a meadow in a second."""
    from support.workbenches import fit_meadow

    return fit_meadow(tmp_path_factory.mktemp("model") / "meadow")


@pytest.fixture(scope="session")
def prepared_folder(meadow_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a workbench with twenty new concepts in its queue, to be copied."""
    from support.workbenches import workbench

    folder = tmp_path_factory.mktemp("prepared") / "workbench"
    with workbench(meadow_model, str(folder / "decisions.db"), folder, items=20):
        return folder


@pytest.fixture
def bench(meadow_model: Path, prepared_folder: Path, tmp_path: Path) -> Iterator[Workbench]:
    """A workbench with twenty new concepts in its queue."""
    from support.workbenches import workbench

    folder = tmp_path / "workbench"
    shutil.copytree(prepared_folder, folder)
    with workbench(meadow_model, str(folder / "decisions.db"), folder) as opened:
        yield opened


@pytest.fixture
def client(bench: Workbench) -> Iterator[Client]:
    """An administrator at that workbench."""
    from support import workbenches

    with workbenches.client(bench) as opened:
        yield opened
