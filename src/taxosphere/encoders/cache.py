"""Vectors kept between runs, so that a text is encoded once in its life.

One SQLite file per cache folder: readers and writers of several processes may overlap, and a kill leaves either the
old or the new rows. A cache is disposable: one that cannot be opened or written never stops the work.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

import numpy as np

from taxosphere.typing import Floats

_KEYS_PER_LOOKUP = 900  # SQLite builds allow at least 999 bound values in one statement
_SECONDS_TO_WAIT = 30.0
_SUM = 8  # bytes of a checksum behind each vector
# Not WITHOUT ROWID: with vectors in the inner pages of the tree, a lookup reads many times as many.
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"


def default_folder() -> Path:
    """The folder of the environment variable TAXOSPHERE_CACHE, else the platform's cache folder."""
    stated = os.environ.get("TAXOSPHERE_CACHE")
    if stated:
        return Path(stated)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "taxosphere"


class _Connection:
    """The connection of this process to its cache file.

    It stays open, because opening takes longer than a lookup. Before a fork it is closed, since SQLite's locks do not
    survive one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: tuple[Path, int] | None = None
        self._connection: sqlite3.Connection | None = None
        if hasattr(os, "register_at_fork"):
            release = self._lock.release
            os.register_at_fork(before=self._fork, after_in_parent=release, after_in_child=release)

    def _fork(self) -> None:
        self._lock.acquire()
        self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._of = self._connection = None

    @contextmanager
    def to(self, path: Path) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; a new one where the file has been replaced."""
        with self._lock:
            wanted = (path, path.stat().st_ino)
            if self._connection is None or self._of != wanted:
                self._close()
                self._connection = sqlite3.connect(path, timeout=_SECONDS_TO_WAIT, check_same_thread=False)
                self._of = wanted
                self._connection.execute("PRAGMA synchronous=NORMAL")
            yield self._connection


_connection = _Connection()


def _checksum(key: bytes, vector: bytes) -> bytes:
    return blake2b(vector, digest_size=_SUM, key=key).digest()


class VectorCache:
    """Vectors of one encoder under one setting; ``identity`` says which weights and settings made them."""

    def __init__(self, folder: Path, identity: str, dim: int) -> None:
        self.path = folder / "vectors.sqlite"
        self.identity = identity
        self.dim = dim

    def _key(self, text: str) -> bytes:
        # Both parts are hashed with their length in front, so no pair of (identity, text) can imitate another.
        parts = (self.identity.encode(), text.encode("utf-8", "surrogatepass"))
        return blake2b(b"".join(len(p).to_bytes(8, "big") + p for p in parts), digest_size=16).digest()

    def _create(self) -> None:
        """Create the file and its table where they are missing."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=_SECONDS_TO_WAIT)) as connection, connection:
            connection.execute(_SCHEMA)
            with suppress(sqlite3.OperationalError):  # another process may be at it in this moment
                connection.execute("PRAGMA journal_mode=WAL")

    def get(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Cached vectors, by text; texts that are not in the cache are left out."""
        keys = {self._key(text): text for text in texts}
        wanted = list(keys)
        vectors: dict[str, Floats] = {}
        try:
            with _connection.to(self.path) as connection:
                for start in range(0, len(wanted), _KEYS_PER_LOOKUP):
                    part = wanted[start : start + _KEYS_PER_LOOKUP]
                    marks = ",".join("?" * len(part))
                    rows = connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
                    for key, blob in rows:
                        if self._is_whole(key, blob):
                            vectors[keys[key]] = np.frombuffer(blob, dtype="<f4", count=self.dim)
        except (sqlite3.Error, OSError, KeyError):  # a damaged index may give keys that nobody asked for
            return {}
        return vectors

    def put(self, texts: Sequence[str], vectors: Floats) -> None:
        """Store vectors (len(texts), dim); a cache that cannot be written is ignored."""
        pairs = ((self._key(text), row.astype("<f4").tobytes()) for text, row in zip(texts, vectors, strict=True))
        rows = [(key, vector + _checksum(key, vector)) for key, vector in pairs]
        with suppress(sqlite3.Error, OSError):
            try:
                self._insert(rows)
            except (sqlite3.Error, OSError):
                if self._repair():
                    self._insert(rows)

    def _is_whole(self, key: bytes, blob: object) -> bool:
        """Is it a vector as it was stored? SQLite does not notice a changed bit. Rows of 0.1 have no checksum."""
        size = 4 * self.dim
        if not isinstance(blob, bytes) or len(blob) not in (size, size + _SUM):
            return False
        return len(blob) == size or blob[size:] == _checksum(key, blob[:size])

    def _insert(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        if not self.path.exists():
            self._create()
        with _connection.to(self.path) as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def _repair(self) -> bool:
        """Whether another try is worth it: the table was missing or the file damaged, and both are repaired now."""
        try:
            self._create()
            with _connection.to(self.path) as connection:
                connection.execute("SELECT key FROM vectors LIMIT 1").fetchone()
        except sqlite3.OperationalError:
            return False  # locked, read-only or full: the file itself is fine
        except sqlite3.DatabaseError:
            self.path.rename(self.path.with_suffix(".damaged"))
        return True
