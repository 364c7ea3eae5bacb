"""Who may do what: tokens that an administrator hands out, and the sessions of browsers. Only hashes are kept."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from taxosphere.decisions.events import now
from taxosphere.service.store import StoreError
from taxosphere.service.store_tables import SESSIONS, TOKENS

ROLES = ("viewer", "curator", "admin")
NEVER = "9999-12-31T23:59:59Z"


@dataclass(frozen=True, slots=True)
class Person:
    """Who a token or session belongs to."""

    name: str
    role: str


def sha256(secret: str) -> str:
    """What is stored in place of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()


def add_token(connection: Connection, person: Person, *, hashed: str = "", expires_at: str = NEVER) -> str:
    """A new token for a person, shown this once; with ``hashed`` the SHA-256 of one that exists already."""
    return _add(connection, TOKENS, person, hashed, expires_at)


def add_session(connection: Connection, person: Person, expires_at: str) -> str:
    """A new session, to be put into a cookie."""
    return _add(connection, SESSIONS, person, "", expires_at)


def _add(connection: Connection, table: sa.Table, person: Person, hashed: str, expires_at: str) -> str:
    if person.role not in ROLES:
        raise StoreError(f"no role is called '{person.role}'; there are {', '.join(ROLES)}")
    secret = "" if hashed else secrets.token_urlsafe(32)
    row = {"sha256": hashed or sha256(secret), "name": person.name, "role": person.role}
    connection.execute(table.delete().where(table.c.sha256 == row["sha256"]))
    connection.execute(table.insert().values(**row, added_at=now(), expires_at=expires_at))
    return secret


def holder(connection: Connection, secret: str) -> Person | None:
    """Whose token or session a secret is; None where it is none or has expired.

    The look-up is by hash, so how long it takes says nothing about the secret.
    """
    for table in (SESSIONS, TOKENS):
        row = connection.execute(sa.select(table).where(table.c.sha256 == sha256(secret))).first()
        if row is not None and row.expires_at > now():
            return Person(row.name, row.role)
    return None


def revoke(connection: Connection, name: str) -> int:
    """Take all tokens and sessions of a person away; how many there were."""
    tables = (SESSIONS, TOKENS)
    return sum(connection.execute(table.delete().where(table.c.name == name)).rowcount for table in tables)


def end_session(connection: Connection, secret: str) -> None:
    """Log out, and forget what has expired."""
    over = (SESSIONS.c.sha256 == sha256(secret)) | (SESSIONS.c.expires_at <= now())
    connection.execute(SESSIONS.delete().where(over))
