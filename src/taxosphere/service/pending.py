"""Where open items would go: for each concept the items whose best parent it is, so that a tree can mark them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from taxosphere.decisions.fold import Fold
from taxosphere.service.store_tables import ITEMS


class Pending:
    """Open items by their best parent.

    Parameters
    ----------
    fold
        Returns the decisions so far.
    """

    def __init__(self, fold: Callable[[], Fold]) -> None:
        self._fold = fold
        self._lock = threading.Lock()
        self._below: dict[str, list[tuple[str, str]]] = {}
        self._position = 0

    def catch_up(self, connection: Connection) -> None:
        """Read the items that came since the last call."""
        rows = sa.select(ITEMS.c.id, ITEMS.c.name, ITEMS.c.position, ITEMS.c.summary)
        with self._lock:
            chosen = rows.where(ITEMS.c.position > self._position).order_by(ITEMS.c.position)
            for row in connection.execute(chosen):
                best = row.summary.get("best")
                if best is not None:
                    self._below.setdefault(best["id"], []).append((row.id, row.name))
                self._position = row.position

    def reset(self, connection: Connection) -> None:
        """Read all items again: their suggestions have changed."""
        with self._lock:
            self._below, self._position = {}, 0
        self.catch_up(connection)

    def below(self, parent: str) -> list[tuple[str, str]]:
        """Ids and names of open items whose best parent is a concept."""
        fold = self._fold()
        return [(id, name) for id, name in tuple(self._below.get(parent, ())) if fold.snapshot(id).state == "open"]
