"""Which new concepts were decided about before, under whatever id they come this time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from taxosphere.decisions.events import Event, Snapshot
from taxosphere.decisions.fold import Fold
from taxosphere.placing.name_keys import fold
from taxosphere.taxonomy import Concept


class NameIndex:
    """Finds a concept by its name where spelling does not count, unless two definitions differ.

    Parameters
    ----------
    concepts
        (id, concept) of those to be found.
    """

    def __init__(self, concepts: Iterable[tuple[str, Concept]]) -> None:
        self._by_name: dict[str, list[tuple[str, str]]] = {}
        for id, concept in concepts:
            self._by_name.setdefault(fold(concept.name), []).append((concept.description, id))

    def find(self, concept: Concept) -> str:
        """The id of the one that is the same, the one of equal definition first; or nothing."""
        namesakes = self._by_name.get(fold(concept.name), [])
        equal = (id for text, id in namesakes if text == concept.description)
        silent = (id for text, id in namesakes if not (text and concept.description))
        return next(chain(equal, silent), "")


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
        texts = ((item, folding.text(item)) for item in self._items)
        self._names = NameIndex((item, concept) for item, concept in texts if concept is not None)

    def item(self, concept: Concept) -> str:
        """The item that a concept was decided about as, or nothing."""
        if concept.id in self._items:
            return concept.id
        return self._names.find(concept)

    def decision(self, concept: Concept) -> tuple[Snapshot, Event] | None:
        """What was decided about a concept, and by which event; None where nothing was."""
        return self._items.get(self.item(concept))
