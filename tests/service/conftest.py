"""A store on each of the two databases: a file of SQLite, and PostgreSQL from a wheel, started for the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from taxosphere.service.store import Store

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
