"""The whole store as one file, and back: a database of SQLite, whatever the store itself runs on."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.service.store import Store
from taxosphere.service.store_events import verify_chain
from taxosphere.service.store_tables import METADATA, SESSIONS

_BLOCK = 1000


def backup(store: Store, path: str | os.PathLike[str]) -> int:
    """Write everything but the sessions of browsers into one file, as it stood at one moment, while others go on.

    Returns
    -------
    int
        Number of decisions in it.

    Raises
    ------
    StoreError
        Where the history of the store was changed.
    """
    with atomic.file(path) as temporary:
        temporary.unlink()
        with Store(str(temporary)) as copy, store.reading() as one, copy.writing() as other:
            _copy(one, other)
            last = verify_chain(other)
        with closing(sqlite3.connect(temporary)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")  # with a log beside it, the file alone were not all of it
    return 0 if last is None else last.seq


def restore(path: str | os.PathLike[str], store: Store) -> int:
    """Fill an empty store from a backup; the number of decisions in it.

    Raises
    ------
    InputError
        Where the store holds something already.
    StoreError
        Where the history in the backup was changed.
    """
    with Store(os.fspath(path), create=False) as backed, backed.reading() as one, store.writing() as other:
        filled = [table.name for table in METADATA.sorted_tables if other.execute(sa.select(table).limit(1)).first()]
        if filled:
            raise InputError("is not empty; restore into a new database", store.name)
        _copy(one, other)
        last = verify_chain(other)
    return 0 if last is None else last.seq


def _copy(one: Connection, other: Connection) -> None:
    for table in METADATA.sorted_tables:
        if table is SESSIONS:
            continue
        for rows in one.execute(sa.select(table)).partitions(_BLOCK):
            other.execute(table.insert(), [dict(row._mapping) for row in rows])
