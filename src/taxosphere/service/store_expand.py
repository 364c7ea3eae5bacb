"""What a store remembers for the next list of new concepts: what was decided is not asked again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from taxosphere.decisions import automatic
from taxosphere.decisions.fold import Conflict
from taxosphere.decisions.former import Former, NameIndex
from taxosphere.decisions.review import ReviewRow
from taxosphere.decisions.review_reader import Origin
from taxosphere.service import store_apply, store_bases, store_items
from taxosphere.service.store import Store
from taxosphere.service.store_items import QueueItem
from taxosphere.service.store_ledger import Ledger
from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    from taxosphere.placing.expansion import Expansion

_SETTLED = ("accepted", "same")


@dataclass(frozen=True, slots=True)
class Sorted:
    """A list of new concepts: those to ask about, those that have their place, those that were rejected."""

    open: list[tuple[int, Concept]]
    settled: int
    rejected: list[ReviewRow]


class Memory:
    """What a store remembers, seen from the taxonomy of a model.

    Parameters
    ----------
    store
        The open store.
    taxonomy
        The taxonomy of the model, which becomes the base of a store that has none.
    """

    def __init__(self, store: Store, taxonomy: Taxonomy) -> None:
        self.store = store
        with store.reading() as connection:
            empty = store_bases.number(connection) == 0
            waiting = store_items.every(connection)
        if empty:
            store_bases.put(store, taxonomy)
        self.folding = store_apply.replayed(store, taxonomy)
        self.reserved = store_apply.reserved_ids(store)
        self._former = Former(self.folding)
        self._waiting = NameIndex((concept.id, concept) for concept in waiting)

    def sort_out(self, concepts: Iterable[tuple[int, Concept]]) -> Sorted:
        """Which concepts of a list were decided about; one that waits in the queue keeps the id it has there."""
        sorted_out = Sorted([], 0, [])
        settled = 0
        for row, concept in concepts:
            decision = self._former.decision(concept)
            if decision is None or decision[0].state not in (*_SETTLED, "rejected"):
                id = concept.id or self._former.item(concept) or self._waiting.find(concept)
                sorted_out.open.append((row, replace(concept, id=id)))
            elif decision[0].state == "rejected":
                again = replace(concept, id=self._former.item(concept))
                sorted_out.rejected.append(ReviewRow.decided(again, decision[1]))
            else:
                settled += 1
        return replace(sorted_out, settled=settled)

    def record(self, expansion: Expansion, origin: Origin) -> list[str]:
        """Record what was attached, and put the rest into the queue.

        Returns
        -------
        list of str
            One line about each attachment that the store could not take, because others have decided meanwhile.
        """
        ledger, events = Ledger(self.store), automatic.events(expansion, origin)
        refused = []
        try:
            ledger.decide_all(events)
        except Conflict:
            for event in events:
                try:
                    ledger.decide(event)
                except Conflict as conflict:
                    refused.append(f"not recorded: {conflict}")
        with self.store.writing() as connection:
            store_items.add(connection, _items(expansion))
        return refused


def _items(expansion: Expansion) -> Sequence[QueueItem]:
    return [
        QueueItem(
            concept=placement.concept,
            suggestions=placement.suggestions.as_dict(),
            probability=placement.surest,
            why=placement.why,
        )
        for placement in expansion.review
    ]
