"""Which new concepts were decided about before, under whatever id they come this time."""

from __future__ import annotations

from taxosphere.decisions.events import Event, Snapshot
from taxosphere.decisions.fold import Fold
from taxosphere.placing.name_keys import fold
from taxosphere.taxonomy import Concept


class Former:
    """Looks new concepts up among those that were decided about.

    A concept is the same where its id is, or where its name is but for spelling and no two definitions differ.

    Parameters
    ----------
    folding
        What was decided.
    """

    def __init__(self, folding: Fold) -> None:
        self._items = folding.items()
        self._by_name: dict[str, list[tuple[str, str]]] = {}
        for item in self._items:
            concept = folding.text(item)
            if concept is not None:
                self._by_name.setdefault(fold(concept.name), []).append((concept.description, item))

    def item(self, concept: Concept) -> str:
        """The item that a concept was decided about as, or nothing."""
        if concept.id in self._items:
            return concept.id
        namesakes = self._by_name.get(fold(concept.name), [])
        same = (item for text, item in namesakes if text == concept.description or not (text and concept.description))
        return next(same, "")

    def decision(self, concept: Concept) -> tuple[Snapshot, Event] | None:
        """What was decided about a concept, and by which event; None where nothing was."""
        return self._items.get(self.item(concept))
