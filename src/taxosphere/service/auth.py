"""Who is asking: one-time links, tokens and the sessions of browsers, and what each role may do."""

from __future__ import annotations

import hmac
import re
import secrets
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.service import store_access
from taxosphere.service.store import Store
from taxosphere.service.store_access import ROLES, Person, sha256

COOKIE = "taxosphere_session"
PUBLIC = "public"
"""Role of routes that need nobody to be known."""
SESSION_DAYS = 30
_REMEMBERED_SECONDS = 5.0  # a revoked session is refused after at most so long
_MOST_REMEMBERED = 10_000
_LONGEST_SECRET = 200


@dataclass(frozen=True, slots=True)
class TokenHash:
    """A person and the SHA-256 of a token of theirs."""

    person: Person
    sha256: str


def may(person: Person | None, needed: str) -> bool:
    """Whether somebody may use what needs a role: `PUBLIC` or one of `ROLES`, which are ordered."""
    if needed == PUBLIC:
        return True
    return person is not None and ROLES.index(person.role) >= ROLES.index(needed)


def read_tokens(path: Path) -> list[TokenHash]:
    """Tokens from a file with a line ``NAME ROLE SHA256`` for each; ``#`` begins a comment.

    Raises
    ------
    InputError
        Where a line is not of that form, or the file holds no token.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", path) from None
    except UnicodeDecodeError:
        raise InputError("is no UTF-8 text", path) from None
    tokens = []
    for number, line in enumerate(lines, 1):
        parts = line.split("#")[0].split()
        if not parts:
            continue
        if len(parts) != 3 or not re.fullmatch(r"[0-9a-fA-F]{64}", parts[2]):
            raise InputError("a line is NAME ROLE SHA256, the last with 64 hexadecimal digits", path, number)
        if parts[1] not in ROLES:
            raise InputError(f"no role is called '{parts[1]}'; there are {', '.join(ROLES)}", path, number)
        tokens.append(TokenHash(Person(parts[0], parts[1]), parts[2].lower()))
    if not tokens:
        raise InputError("names nobody; a line is NAME ROLE SHA256", path)
    return tokens


def local_token(path: Path) -> str:
    """The token of this machine's user, made at the first start in a file that only they may read."""
    if not path.exists():
        with atomic.file(path) as temporary:
            temporary.touch(0o600)
            temporary.write_text(secrets.token_urlsafe(32) + "\n", "ascii")
        path.chmod(0o600)
    if path.stat().st_mode & 0o077:
        raise InputError("is readable by others; remove it (a new one is made) or 'chmod 600' it", path)
    return path.read_text("ascii").strip()


class Access:
    """Recognises people by what they present.

    Parameters
    ----------
    store
        Where sessions are kept, as hashes.
    tokens
        Who may come in by a token.
    """

    def __init__(self, store: Store, tokens: list[TokenHash]) -> None:
        self._store = store
        self._tokens = tokens
        self._once: dict[str, Person] = {}
        self._lock = threading.Lock()
        self._remembered: dict[str, tuple[float, Person]] = {}

    def one_time_link(self, person: Person) -> str:
        """A secret that lets somebody in once."""
        secret = secrets.token_urlsafe(32)
        self._once[sha256(secret)] = person
        return secret

    def by_token(self, secret: str) -> Person | None:
        """Whose permanent token this is."""
        if len(secret) > _LONGEST_SECRET:
            return None
        digest, person = sha256(secret), None
        for token in self._tokens:  # all of them, so that the time says nothing
            if hmac.compare_digest(token.sha256, digest):
                person = token.person
        return person

    def by_session(self, secret: str) -> Person | None:
        """Whose session this is, while it lasts."""
        if len(secret) > _LONGEST_SECRET:
            return None
        digest, present = sha256(secret), time.monotonic()
        until, person = self._remembered.get(digest, (0.0, None))
        if person is not None and until > present:
            return person
        with self._store.reading() as connection:
            person = store_access.holder(connection, secret)
        with self._lock:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            if person is not None:
                self._remembered[digest] = (present + _REMEMBERED_SECONDS, person)
        return person

    def open_session(self, secret: str) -> str | None:
        """A session in exchange for a one-time secret or a token; None where it is neither."""
        if len(secret) > _LONGEST_SECRET:
            return None
        with self._lock:
            person = self._once.pop(sha256(secret), None)
        person = person or self.by_token(secret)
        if person is None:
            return None
        until = (datetime.now(UTC) + timedelta(days=SESSION_DAYS)).strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._store.writing() as connection:
            return store_access.add_session(connection, person, until)

    def end_session(self, secret: str) -> None:
        """Forget a session."""
        with self._store.writing() as connection:
            store_access.end_session(connection, secret)
        with self._lock:
            self._remembered.pop(sha256(secret), None)
