"""Suggestions in a table of their own, what a list of items shows of them in a column, and an index for each order."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_ORDERS = ("position", "name", "probability")
_BLOCK = 500


def upgrade() -> None:
    op.create_table(
        "suggestions",
        sa.Column("item", sa.Text, primary_key=True),
        sa.Column("content", sa.JSON, nullable=False),
    )
    op.execute("INSERT INTO suggestions (item, content) SELECT id, suggestions FROM items")
    op.add_column("items", sa.Column("summary", sa.JSON, nullable=False, server_default="{}"))
    _summarise()
    op.drop_column("items", "suggestions")
    for column in ("state", "name", "probability"):
        op.drop_index(f"ix_items_{column}", "items")
    for column in _ORDERS:
        within = ["state", column] if column == "position" else ["state", column, "position"]
        op.create_index(f"ix_items_state_{column}", "items", within)
    for column in ("name", "probability"):
        op.create_index(f"ix_items_{column}_position", "items", [column, "position"])


def _summarise() -> None:
    """Fill the column from the suggestions, block by block."""
    connection = op.get_bind()
    rows = sa.table("suggestions", sa.column("item", sa.Text), sa.column("content", sa.JSON))
    items = sa.table("items", sa.column("id", sa.Text), sa.column("summary", sa.JSON))
    last = ""
    while block := connection.execute(
        sa.select(rows).where(rows.c.item > last).order_by(rows.c.item).limit(_BLOCK)
    ).all():
        for row in block:
            connection.execute(items.update().where(items.c.id == row.item).values(summary=_summary(row.content)))
        last = block[-1].item


def _summary(content: dict[str, Any]) -> dict[str, Any]:
    best = content.get("best")
    if best is None and content.get("suggestions"):
        first = content["suggestions"][0]
        best = {**{key: first[key] for key in ("id", "name", "probability")}, "path": first["path"][:-1]}
    return {"best": best, "none_probability": content.get("none_probability")}
