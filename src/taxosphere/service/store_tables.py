"""The tables of the store as the newest migration leaves them."""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()

BASES = sa.Table(
    "bases",
    METADATA,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("digest", sa.Text),
    sa.Column("name", sa.Text),
    sa.Column("content", sa.LargeBinary),
    sa.Column("at", sa.Text),
)
EVENTS = sa.Table(
    "events",
    METADATA,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("id", sa.Text),
    sa.Column("item", sa.Text),
    sa.Column("kind", sa.Text),
    sa.Column("by", sa.Text),
    sa.Column("at", sa.Text),
    sa.Column("body", sa.Text),
    sa.Column("key", sa.Text),
    sa.Column("previous", sa.Text),
    sa.Column("hash", sa.Text),
)
ITEMS = sa.Table(
    "items",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("position", sa.BigInteger),
    sa.Column("name", sa.Text),
    sa.Column("concept", sa.JSON),
    sa.Column("summary", sa.JSON),
    sa.Column("probability", sa.Float),
    sa.Column("why", sa.Text),
    sa.Column("state", sa.Text),
    sa.Column("version", sa.Integer),
    sa.Column("assignee", sa.Text),
    sa.Column("added_at", sa.Text),
)
SUGGESTIONS = sa.Table(  # apart from the items: each is some kilobytes, and a list of items shows none of it
    "suggestions",
    METADATA,
    sa.Column("item", sa.Text, primary_key=True),
    sa.Column("content", sa.JSON),
)
JOBS = sa.Table(
    "jobs",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("position", sa.BigInteger),
    sa.Column("kind", sa.Text),
    sa.Column("state", sa.Text),
    sa.Column("done", sa.BigInteger),
    sa.Column("total", sa.BigInteger),
    sa.Column("message", sa.Text),
    sa.Column("payload", sa.JSON),
    sa.Column("result", sa.JSON),
    sa.Column("by", sa.Text),
    sa.Column("worker", sa.Text),
    sa.Column("added_at", sa.Text),
    sa.Column("changed_at", sa.Text),
)
MODELS = sa.Table(
    "models",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("path", sa.Text),
    sa.Column("base", sa.Text),
    sa.Column("figures", sa.JSON),
    sa.Column("active", sa.Boolean),
    sa.Column("added_at", sa.Text),
)


def _credentials(name: str) -> sa.Table:
    return sa.Table(
        name,
        METADATA,
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("name", sa.Text),
        sa.Column("role", sa.Text),
        sa.Column("added_at", sa.Text),
        sa.Column("expires_at", sa.Text),
    )


TOKENS, SESSIONS = _credentials("tokens"), _credentials("sessions")
