"""Answers on disk while a list is worked on, so that equal concepts are ranked once however far apart they stand."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from taxosphere.errors import TaxosphereError
from taxosphere.taxonomy import Concept

_KEYS_PER_LOOKUP = 900  # SQLite builds allow at least 999 bound values in one statement


def key_of(concept: Concept) -> bytes:
    """Equal for concepts that are answered alike: same name, description, synonyms and images, whatever their ids."""
    parts = json.dumps([concept.name, concept.description, concept.synonyms, concept.images])
    return blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class AnswerStore(AbstractContextManager["AnswerStore"]):
    """Answers by key, in a SQLite file; a kill leaves whole parts.

    Parameters
    ----------
    path : Path
        The file; it is made where it is missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._connection = sqlite3.connect(path)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer BLOB NOT NULL)")
        except sqlite3.Error as error:
            raise TaxosphereError(f"{path}: {error}") from None

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Stored answers of these keys; keys without one are left out.

        Raises
        ------
        TaxosphereError
            The file was damaged.
        """
        wanted = list(dict.fromkeys(keys))
        answers: dict[bytes, Any] = {}
        for start in range(0, len(wanted), _KEYS_PER_LOOKUP):
            part = wanted[start : start + _KEYS_PER_LOOKUP]
            marks = ",".join("?" * len(part))
            with self._readable():
                rows = self._connection.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", part)
                answers |= {key: json.loads(zlib.decompress(blob)) for key, blob in rows}
        return answers

    def missing(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that have no answer yet."""
        absent = set(keys)
        for start in range(0, len(keys), _KEYS_PER_LOOKUP):
            part = keys[start : start + _KEYS_PER_LOOKUP]
            marks = ",".join("?" * len(part))
            with self._readable():
                rows = self._connection.execute(f"SELECT key FROM answers WHERE key IN ({marks})", part)
                absent.difference_update(key for (key,) in rows)
        return absent

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Say in one line that the file was damaged, which the checksum of a compressed answer shows too."""
        try:
            yield
        except (sqlite3.Error, zlib.error, ValueError, TypeError) as error:
            raise TaxosphereError(f"{self.path}: is damaged ({error}); start without --resume") from None

    def put(self, answers: Mapping[bytes, Any]) -> None:
        """Store answers, all of them or none.

        Raises
        ------
        TaxosphereError
            They cannot be written, for example because the disk is full.
        """
        rows = [(key, zlib.compress(json.dumps(answer).encode(), 1)) for key, answer in answers.items()]
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise TaxosphereError(f"{self.path}: {error}") from None
