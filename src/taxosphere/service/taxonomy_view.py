"""The taxonomy as it stands after the decisions so far, one concept at a time.

`Fold.taxonomy` builds the whole taxonomy; a page shows a few concepts after each decision. This reads the base and what
differs from it, at a cost that does not depend on the size of the taxonomy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from taxosphere.decisions.fold import Fold
from taxosphere.decisions.state import CONCEPT, PARENTS, SYNONYMS, TEXT, State
from taxosphere.service.name_search import NameSearch, plain, words
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.checks import is_obsolete

BASE, NEW = "base", "new"
_DEEPEST = 200  # steps of a path


class TaxonomyView:
    """Concepts, their parents, children and paths at present.

    Parameters
    ----------
    fold
        Returns the decisions so far; called anew for each question, because a base may be replaced.
    """

    def __init__(self, fold: Callable[[], Fold]) -> None:
        self._fold = fold
        self._index: tuple[Taxonomy, NameSearch] | None = None

    @property
    def base(self) -> Taxonomy:
        """The taxonomy without any decision."""
        return self._fold().base

    @property
    def depth(self) -> int:
        """Steps from a root to the deepest concept of the base."""
        return int(self.base.levels.max(initial=0))

    @property
    def _state(self) -> State:
        return self._fold().state

    def __contains__(self, id: str) -> bool:
        return id in self._state

    def name(self, id: str) -> str:
        """Name of a concept, its id where there is none."""
        return self._state.name(id)

    def state(self, id: str) -> str:
        """`BASE` or `NEW`."""
        return BASE if id in self.base else NEW

    def concept(self, id: str) -> Concept:
        """A concept with its edits and the synonyms that decisions have added; `KeyError` where there is none."""
        state = self._state
        if id in state.base:
            concept = state.base.concept(state.base.position(id))
        else:
            concept = state.values.get((TEXT, id)) or state.values[CONCEPT, id]
        keys = [key for key in list(state.values) if key[0] == SYNONYMS and key[1] == id]
        more = [text for key in keys for text in state.values.get(key) or ()]
        synonyms = tuple(dict.fromkeys((*concept.synonyms, *more)))
        return Concept(concept.id, concept.name, concept.description, synonyms, concept.images, concept.extras)

    def definition(self, id: str) -> str:
        """Definition of a concept, nothing where there is none."""
        state = self._state
        if id in state.base:
            return state.base.descriptions[state.base.position(id)]
        concept: Concept | None = state.values.get((TEXT, id)) or state.values.get((CONCEPT, id))
        return concept.description if concept is not None else ""

    def obsolete(self, id: str) -> bool:
        """Is it marked as obsolete?"""
        base = self.base
        return id in base and bool(is_obsolete(base.extras[base.position(id)]))

    # -- edges --------------------------------------------------------------------------------------------------------

    def parents(self, id: str) -> tuple[str, ...]:
        """Ids of the parents."""
        return self._state.parents(id)

    def children(self, id: str) -> list[str]:
        """Ids of the children: those of the base that stayed, then those that came."""
        state = self._state
        stayed = state.base.children(id) if id in state.base else ()
        kept = [child for child in stayed if id in state.parents(child)]
        below = tuple(state.below.get(id, ()))  # a copy: another thread may decide meanwhile
        came = [child for child in sorted(below) if child not in stayed]
        return kept + came

    def roots(self) -> list[str]:
        """Ids of the concepts without a parent."""
        state = self._state
        base = [state.base.ids[position] for position in state.base.roots.tolist()]
        kept = [id for id in base if not state.parents(id)]
        return kept + [id for id in self.new_ids() if not state.parents(id)]

    def new_ids(self) -> list[str]:
        """Ids of the concepts that decisions have added."""
        return [key[1] for key in list(self._state.values) if key[0] == CONCEPT]

    def path(self, id: str) -> list[str]:
        """Names from a root to the first parent of a concept, along the shortest way that the base knows."""
        names: list[str] = []
        above = self._nearest_root(self.parents(id))
        while above is not None and len(names) < _DEEPEST:
            names.append(self.name(above))
            above = self._nearest_root(self.parents(above))
        return names[::-1]

    def paths(self, id: str, most: int = 20) -> list[list[str]]:
        """For each parent the names from a root to it, in the order of `parents_by_depth`."""
        return [[*self.path(parent), self.name(parent)] for parent in self.parents_by_depth(id)[:most]]

    def parents_by_depth(self, id: str) -> list[str]:
        """Parents of a concept, the one nearest to a root first: `path` leads through it."""
        return sorted(self.parents(id), key=self._level)

    def _nearest_root(self, ids: tuple[str, ...]) -> str | None:
        return min(ids, key=self._level, default=None)

    def _level(self, id: str) -> int:
        return int(self.base.levels[self.base.position(id)]) if id in self.base else _DEEPEST

    def counts(self) -> tuple[int, int, int]:
        """Numbers of concepts, edges and roots."""
        state = self._state
        base, new = state.base, self.new_ids()
        moved = [key[1] for key in list(state.values) if key[0] == PARENTS and key[1] in base]
        changed = sum(len(state.parents(id)) - len(base.parents(id)) for id in moved)
        edges = len(base.edge_array) + changed + sum(len(state.parents(id)) for id in new)
        rooted = sum(not state.parents(id) for id in new)
        lost = sum(bool(state.parents(id)) and not base.parents(id) for id in moved)
        return len(base) + len(new), edges, len(base.roots) + rooted - lost

    # -- search -------------------------------------------------------------------------------------------------------

    def search(self, query: str) -> list[str]:
        """Ids of concepts with a word beginning with each word of the query, best first."""
        base, search = self._searchable()
        return [*self._search_new(query), *(base.ids[position] for position in search.find(query))]

    def prepare(self) -> None:
        """Build the search index before somebody waits for it."""
        self._searchable()

    def _searchable(self) -> tuple[Taxonomy, NameSearch]:
        base = self.base
        if self._index is None or self._index[0] is not base:
            self._index = base, NameSearch(base.names, base.synonyms)
        return self._index

    def _search_new(self, query: str) -> Iterator[str]:
        asked = words(query)
        if not asked:
            return
        state = self._state
        for id in self.new_ids():
            concept: Concept | None = state.values.get((TEXT, id)) or state.values.get((CONCEPT, id))
            if concept is None:  # taken back meanwhile
                continue
            parts = words(" ".join(map(plain, (concept.name, *concept.synonyms))))
            if all(any(part.startswith(word) for part in parts) for word in asked):
                yield id
