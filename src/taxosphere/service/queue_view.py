"""The queue as the page shows it: pages of rows, one item with everything about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from taxosphere.decisions.fold import Fold
from taxosphere.decisions.state import TEXT
from taxosphere.service import cursors, store_items
from taxosphere.service.store_items import QueueItem
from taxosphere.service.store_tables import ITEMS
from taxosphere.service.taxonomy_view import TaxonomyView
from taxosphere.taxonomy import Concept

Document = dict[str, Any]
STATES = ("open", "accepted", "moved", "top", "same", "rejected", "later")
_COLUMNS = (
    ITEMS.c.id,
    ITEMS.c.position,
    ITEMS.c.name,
    ITEMS.c.state,
    ITEMS.c.probability,
    ITEMS.c.version,
    ITEMS.c.assignee,
    ITEMS.c.summary,
)
_SORTED = {  # column, type of its values, descending
    "added": (ITEMS.c.position, int, False),
    "name": (ITEMS.c.name, str, False),
    "probability": (ITEMS.c.probability, float, False),
    "-probability": (ITEMS.c.probability, float, True),
}


class QueueView:
    """Rows of the queue with who decided, and items with their suggestions.

    Parameters
    ----------
    fold
        Returns the decisions so far.
    view
        The taxonomy they make.
    """

    def __init__(self, fold: Callable[[], Fold], view: TaxonomyView) -> None:
        self._fold = fold
        self._view = view

    def page(
        self,
        connection: Connection,
        *,
        sort: str,
        cursor: str,
        limit: int,
        state: str = "",
        query: str = "",
        assignee: str = "",
    ) -> tuple[list[Document], str | None]:
        """A page of rows, and the cursor of the next one.

        Parameters
        ----------
        connection
            From `Store.reading`.
        sort
            One of ``added``, ``name``, ``probability``, ``-probability``.
        cursor
            What the page before named as its next; nothing for the first page.
        limit
            Most rows.
        state, query, assignee
            Only those in a state, with a text in their name, of a person.
        """
        column, kind, descending = _SORTED[sort]
        place = ITEMS.c.position
        chosen = sa.select(*_COLUMNS).limit(limit + 1)
        for condition in _conditions(state, query, assignee):
            chosen = chosen.where(condition)
        if cursor:
            value, position = cursors.decode(cursor, kind, int)
            from_here, beyond = (column <= value, column < value) if descending else (column >= value, column > value)
            chosen = chosen.where(from_here, beyond | (place > position))
        rows = connection.execute(chosen.order_by(column.desc() if descending else column, place)).all()
        following = None
        if len(rows) > limit:
            last = rows[limit - 1]
            following = cursors.encode(getattr(last, column.name), last.position)
        return [self._row(row) for row in rows[:limit]], following

    def row(self, connection: Connection, id: str) -> Document | None:
        """One row, None where the queue holds no such item."""
        return self.rows(connection, [id]).get(id)

    def rows(self, connection: Connection, ids: Sequence[str]) -> dict[str, Document]:
        """Rows by id; an id that the queue does not hold is left out."""
        chosen = sa.select(*_COLUMNS).where(ITEMS.c.id.in_(ids))
        return {row.id: self._row(row) for row in connection.execute(chosen)} if ids else {}

    def row_and_next(self, connection: Connection, id: str) -> tuple[Document | None, str | None]:
        """One row, and the open item that comes after it in the order of the queue, or before it where none does."""
        place = sa.select(ITEMS.c.position).where(ITEMS.c.id == id).scalar_subquery()
        waiting = sa.select(ITEMS.c.id).where(ITEMS.c.state == "open").order_by(ITEMS.c.position).limit(1)
        following = waiting.where(ITEMS.c.position > place).scalar_subquery().label("following")
        record = connection.execute(sa.select(*_COLUMNS, following).where(ITEMS.c.id == id)).first()
        if record is None:
            return None, connection.scalar(waiting)
        return self._row(record), record.following or connection.scalar(waiting.where(ITEMS.c.id != id))

    def _row(self, row: Any) -> Document:
        event = self._fold().deciding(row.id)
        return {
            "id": row.id,
            "name": row.name,
            "state": row.state,
            "best": row.summary.get("best"),
            "none_probability": row.summary.get("none_probability"),
            "assignee": row.assignee or None,
            "version": row.version,
            "decided_by": None if event is None else event.by,
            "decided_at": None if event is None else event.at,
        }

    def detail(self, connection: Connection, id: str) -> Document:
        """One item with its concept, suggestions and insertions; `NoSuchItem` where there is none."""
        item, row = store_items.get(connection, id), self.row(connection, id)
        assert row is not None
        concept, stored = self.concept(item), item.suggestions
        listed = [{**entry, "definition": entry.get("definition", "")} for entry in stored.get("suggestions", ())]
        present = [entry for entry in listed if entry["id"] in self._view]
        suggestions = {
            "query": stored.get("query", {"id": id, "name": concept.name, "description": concept.description}),
            "none_probability": stored.get("none_probability", 1.0),
            "parents": [parent for parent in stored.get("parents", ()) if parent in self._view],
            "already": stored.get("already", []),
            "suggestions": present,
        }
        text = {"name": concept.name, "definition": concept.description, "synonyms": list(concept.synonyms)}
        document = {"concept": {**text, "own": dict(concept.extras)}, "suggestions": suggestions}
        return {**row, **document, "insertions": stored.get("insertions", [])}

    def concept(self, item: QueueItem) -> Concept:
        """The new concept with its edits."""
        edited: Concept | None = self._fold().state.values.get((TEXT, item.id))
        return edited or item.concept

    def counts(self, connection: Connection) -> dict[str, int]:
        """Number of items in each state."""
        return dict.fromkeys(STATES, 0) | store_items.counts(connection)


def _conditions(state: str, query: str, assignee: str) -> list[Any]:
    conditions: list[Any] = []
    if state:
        conditions.append(ITEMS.c.state == state)
    if assignee:
        conditions.append(ITEMS.c.assignee == assignee)
    if query:
        conditions.append(ITEMS.c.name.icontains(query, autoescape=True))
    return conditions


def sure(threshold: float) -> Any:
    """Condition: open items whose best parent is at least so probable, and which are not there already."""
    return sa.and_(ITEMS.c.state == "open", ITEMS.c.probability >= threshold, ITEMS.c.why == "")


def expected(connection: Connection, threshold: float) -> tuple[int, float]:
    """How many items `sure` chooses, and how many of them are right by their calibrated probabilities."""
    total = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(ITEMS.c.probability), 0.0))
    row = connection.execute(total.where(sure(threshold))).one()
    return row[0], float(row[1])
