"""Opening the database of decisions: one file of SQLite, or PostgreSQL by its URL.

SQLite runs with a write-ahead log and ``synchronous=FULL``: what was acknowledged survives a kill and a power cut. Any
number of processes may use the database at once; those that write take turns.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Connection, Engine

from taxosphere import atomic
from taxosphere.errors import InputError, TaxosphereError, require

BUSY_SECONDS = 60  # that a process waits for others which are writing
_IDLE = 1.0  # seconds unused after which a connection to a server is tried before it is used
_KEPT = 32  # connections that stay open, more than requests are worked on at once: opening one takes long
_WRITE = "taxosphere_write"
_LOCK = 7_236_158_001  # of PostgreSQL's advisory locks, one is ours


class StoreError(TaxosphereError):
    """The database is not what it should be."""


class DatabaseUnavailable(StoreError):
    """The database cannot be used now: its disk is full or read-only, its file is damaged, or its server is gone.

    Parameters
    ----------
    reason
        What the database says, in one line.
    name
        Which database.
    """

    def __init__(self, reason: str, name: str | None) -> None:
        self.reason = reason
        super().__init__(f"{name}: the database cannot be used ({reason}); nothing was recorded")


class Store:
    """An open database of decisions, migrated to the newest tables.

    Parameters
    ----------
    url
        ``postgresql://USER@HOST/NAME``, ``sqlite:///FILE``, or simply the name of a file, which is made where it is
        missing.
    create
        Whether a missing file may be made; without, it is an `InputError`.

    Raises
    ------
    InputError
        Where there is no such database, or it is none of ours, or one of a newer version.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        self.url = _parsed(url)
        self.name = self.url.database if self.is_file else self.url.render_as_string(hide_password=True)
        if self.is_file:
            _check_file(Path(str(self.url.database)), create)
        self.engine = _engine(self.url)
        try:
            self._migrate()
        except (DatabaseUnavailable, sa.exc.DatabaseError) as error:
            self.engine.dispose()
            reason = error.reason if isinstance(error, DatabaseUnavailable) else _first_line(error)
            raise InputError(f"cannot be opened as a database of decisions ({reason})", self.name) from None
        except BaseException:
            self.engine.dispose()
            raise

    @property
    def is_file(self) -> bool:
        """Is it SQLite, and not a server?"""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the database, whatever others write meanwhile."""
        options: dict[str, Any] = {} if self.is_file else {"isolation_level": "REPEATABLE READ"}
        with (
            self._available(),
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def asking(self) -> Iterator[Connection]:
        """A connection for a single question: with a server it saves the two messages that surround a transaction."""
        options: dict[str, Any] = {} if self.is_file else {"isolation_level": "AUTOCOMMIT"}
        with self._available(), self.engine.connect().execution_options(**options) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection that alone may write; committed where the block ends well, else nothing has changed."""
        with (
            self._available(),
            self.engine.connect().execution_options(**{_WRITE: True}) as connection,
            connection.begin(),
        ):
            if not self.is_file:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            yield connection

    @contextmanager
    def _available(self) -> Iterator[None]:
        """Say in one line that the database failed; what it refuses by its rules stays the error it is."""
        try:
            yield
        except (sa.exc.OperationalError, sa.exc.InterfaceError) as error:
            raise DatabaseUnavailable(_first_line(error), self.name) from error
        except sa.exc.DatabaseError as error:
            if type(error) is not sa.exc.DatabaseError or not self.is_file:  # so SQLite says that a file is damaged
                raise
            raise DatabaseUnavailable(_first_line(error), self.name) from error
        except UnicodeDecodeError as error:  # in a text, or in the name of a table that SQLite wants to complain about
            raise DatabaseUnavailable("it holds text that is no UTF-8, the file is damaged", self.name) from error
        except json.JSONDecodeError as error:
            raise DatabaseUnavailable("it holds text that is no JSON, the file is damaged", self.name) from error

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _migrate(self) -> None:
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
        scripts = ScriptDirectory.from_config(config)
        newest = scripts.get_current_head()
        with self.reading() as connection:
            present = MigrationContext.configure(connection).get_current_revision()
        if present == newest:
            return
        if present is not None and present not in {script.revision for script in scripts.walk_revisions()}:
            raise InputError(f"was made by a newer taxosphere (tables of step {present}); update this one", self.name)
        with self.writing() as connection:  # whoever comes second sees that it is done
            if present is None and _tables(connection) - {"alembic_version"} and not _is_ours(connection):
                raise InputError("is a database of something else; name another one", self.name)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def exists(url: str) -> bool:
    """Is there such a file already? A server counts as there; whether it answers shows when it is opened."""
    parsed = _parsed(url)
    return parsed.get_backend_name() != "sqlite" or Path(str(parsed.database)).exists()


def _parsed(url: str) -> sa.URL:
    if "://" not in url:
        return sa.URL.create("sqlite", database=url)
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise InputError("is no address of a database; write a file name or postgresql://USER@HOST/NAME", url) from None
    backend = parsed.get_backend_name()
    if backend in ("postgresql", "postgres"):
        require("psycopg", "service")
        return parsed.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or not parsed.database:
        raise InputError("decisions are kept in a file of SQLite or in PostgreSQL", url.partition("://")[0])
    return parsed.set(drivername="sqlite")


def _check_file(path: Path, create: bool) -> None:
    if not path.exists():
        if not create:
            raise InputError("no such database", path)
        atomic.refuse_file(path)
    elif not path.is_file():
        raise InputError("is no file", path)
    elif path.stat().st_size:
        with path.open("rb") as handle:
            if handle.read(16) != b"SQLite format 3\0":
                raise InputError("is no database of decisions; name another file", path)


def _engine(url: sa.URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        engine = sa.create_engine(url, pool_size=_KEPT, pool_use_lifo=True)  # few stay in use, the others rest
        sa.event.listen(engine, "checkin", _on_checkin)
        sa.event.listen(engine, "checkout", _on_checkout)
        return engine
    arguments = {"timeout": BUSY_SECONDS, "check_same_thread": False}
    engine = sa.create_engine(url, connect_args=arguments, pool_size=_KEPT)
    sa.event.listen(engine, "connect", _on_connect)
    sa.event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(raw: Any, _record: object) -> None:
    raw.isolation_level = None  # or Python would begin transactions by rules of its own, and none around tables
    cursor = raw.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
    _write_ahead(cursor)
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _write_ahead(cursor: sqlite3.Cursor) -> None:
    """Let changes go to a log first, so that readers and a writer do not wait for each other.

    Of several processes that change this setting of a new file at once, SQLite refuses some without waiting.
    """
    until = time.monotonic() + BUSY_SECONDS
    while cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _on_checkin(_raw: Any, record: Any) -> None:
    record.info["used"] = time.monotonic()


def _on_checkout(raw: Any, record: Any, _proxy: object) -> None:
    """Try a connection that has rested: the server may have been started again. One just used need not be asked."""
    if time.monotonic() - record.info.get("used", time.monotonic()) < _IDLE:
        return
    try:
        raw.execute("SELECT 1")
        raw.rollback()
    except Exception:
        raise sa.exc.DisconnectionError from None  # the pool takes another one


def _on_begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITE)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _tables(connection: Connection) -> set[str]:
    return set(sa.inspect(connection).get_table_names())


def _is_ours(connection: Connection) -> bool:
    """Has another process made the tables since we looked?"""
    return MigrationContext.configure(connection).get_current_revision() is not None


def _first_line(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0]
