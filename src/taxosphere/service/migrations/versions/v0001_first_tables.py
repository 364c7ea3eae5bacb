"""The first tables: bases and events that are only ever added, and what the workbench keeps."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

APPEND_ONLY = ("bases", "events")


def upgrade() -> None:
    _decisions()
    _queue()
    _people()
    for table in APPEND_ONLY:
        _only_ever_add(table)


def _decisions() -> None:
    """Taxonomies that were decided on, what was decided, and the models that suggested."""
    op.create_table(
        "bases",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("item", sa.Text, nullable=False, index=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False, index=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("previous", sa.Text, nullable=False, unique=True),
        sa.Column("hash", sa.Text, nullable=False, unique=True),
    )
    op.create_table(
        "models",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("base", sa.Text, nullable=False),
        sa.Column("figures", sa.JSON, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("added_at", sa.Text, nullable=False),
    )


def _queue() -> None:
    """New concepts that wait for a decision, and work in the background."""
    op.create_table(
        "items",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("position", sa.BigInteger, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False, index=True),
        sa.Column("concept", sa.JSON, nullable=False),
        sa.Column("suggestions", sa.JSON, nullable=False),
        sa.Column("probability", sa.Float, nullable=False, index=True),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False, index=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("assignee", sa.Text, nullable=False),
        sa.Column("added_at", sa.Text, nullable=False),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("position", sa.BigInteger, nullable=False, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False, index=True),
        sa.Column("done", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("payload", sa.JSON, nullable=False),
        sa.Column("result", sa.JSON, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("added_at", sa.Text, nullable=False),
        sa.Column("changed_at", sa.Text, nullable=False),
    )


def _people() -> None:
    """Who may do what."""
    op.create_table(
        "tokens",
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("added_at", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Text, nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("added_at", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Text, nullable=False),
    )


def _only_ever_add(table: str) -> None:
    """Let the database itself refuse to change or remove a row."""
    message = f"rows of {table} are only ever added"
    if op.get_bind().dialect.name == "sqlite":
        for action in ("update", "delete"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action} BEFORE {action.upper()} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
            )
        return
    op.execute(
        f"CREATE FUNCTION {table}_only_ever_add() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{message}'; END $$"
    )
    for action, each in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        op.execute(
            f"CREATE TRIGGER {table}_no_{each.lower()} BEFORE {action} ON {table} "
            f"FOR EACH {each} EXECUTE FUNCTION {table}_only_ever_add()"
        )
