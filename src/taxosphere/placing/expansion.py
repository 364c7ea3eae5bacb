"""Deciding where a whole list of new concepts goes, from their suggestions.

New concepts may be parents of new concepts. Each is first ranked in the taxonomy alone; then its parent is looked for
among the other new ones (`new_parents`). Where none of them is a likely parent the first answer stays, so that a
concept has one probability whether it is asked alone or in a list (`list_effect`). Attachments are made in the order of
their probability; a candidate that would close a cycle is skipped.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from taxosphere.placing.duplicates import SURE, Match, NameIndex
from taxosphere.placing.name_keys import fold
from taxosphere.placing.suggestions import Suggestion, Suggestions
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats.image_folder import readable


@dataclass(frozen=True, slots=True)
class Placement:
    """What became of one new concept.

    Attributes
    ----------
    concept
        The new concept.
    suggestions
        Its ranked parents.
    parents
        Those it was attached to; empty when a person must decide.
    why
        Why a person must decide.
    takes
        Children of its parents that may belong below it: (id, probability).
    """

    concept: Concept
    suggestions: Suggestions
    parents: tuple[Suggestion, ...] = ()
    why: str = ""
    takes: tuple[tuple[str, float], ...] = ()

    @property
    def attached(self) -> bool:
        """Whether it has a parent now."""
        return bool(self.parents)

    @property
    def state(self) -> str:
        """ "attached", or why it is not."""
        return "attached" if self.attached else self.why

    @property
    def surest(self) -> float:
        """Probability of its first parent, or of the best suggestion where it was not attached."""
        best = self.parents or self.suggestions[:1]
        return best[0].probability if best else 0.0

    def as_dict(self) -> dict[str, Any]:
        """As JSON values.

        Returns
        -------
        dict
            Its fields by name, suggestions included.
        """
        return {
            **self.suggestions.as_dict(),
            "state": self.state,
            "parents": [parent.id for parent in self.parents],
            "takes": [{"id": id, "probability": probability} for id, probability in self.takes],
            "list_effect": self.suggestions.list_effect,
        }


@dataclass(frozen=True, slots=True)
class Expansion:
    """The result of placing a list.

    Attributes
    ----------
    taxonomy
        With the attached concepts.
    placements
        One for each new concept, in the order of the list.
    moved
        Existing concepts that were moved below a new one: (child id, old parent id, new parent id).
    """

    taxonomy: Taxonomy
    placements: tuple[Placement, ...]
    moved: tuple[tuple[str, str, str], ...] = field(default=())

    @property
    def attached(self) -> tuple[Placement, ...]:
        """Placements of concepts that were attached."""
        return tuple(p for p in self.placements if p.attached)

    @property
    def review(self) -> tuple[Placement, ...]:
        """Placements that are left to a person."""
        return tuple(p for p in self.placements if not p.attached)


def find_duplicates(suggestions: Sequence[Suggestions], seed: Taxonomy, names: NameIndex) -> dict[int, str]:
    """Why some concepts of a list are not placed: they are in the taxonomy already, or earlier in the list.

    Concepts with a common name are told apart by their descriptions; one without any is taken for one that is there.
    Where the existing concept has no description, it must be a child of the best parent.

    Parameters
    ----------
    suggestions
        Of each new concept.
    seed
        The taxonomy.
    names
        Its names.

    Returns
    -------
    Reasons, by number in the list.
    """
    first: dict[str, Concept] = {}
    reasons = {}
    for i, ranked in enumerate(suggestions):
        query = ranked.query
        keys = [key for key in map(fold, (query.name, *query.synonyms)) if key]
        before = [first[key] for key in keys if key in first]
        existing = next((match for match in ranked.already if is_duplicate(ranked, match, seed, names)), None)
        earlier = next((c for c in before if not names.is_common(c.name) or c.description == query.description), None)
        if existing is not None:
            reasons[i] = f"already there as '{existing.name}' ({existing.how})"
        elif earlier is not None:
            reasons[i] = f"'{earlier.name}' stands before it in the list"
        else:
            for key in keys:
                first.setdefault(key, query)
    return reasons


def is_duplicate(suggestions: Suggestions, match: Match, seed: Taxonomy, names: NameIndex) -> bool:
    """Whether a query is so surely the existing concept of a ``match`` that it is not placed; as `find_duplicates`."""
    if match.id not in seed:
        return True  # an obsolete one: a person decides whether it comes back
    other, query = seed.concept(seed.position(match.id)), suggestions.query
    if not names.is_common(other.name):
        return match.probability >= SURE
    if other.description:
        return query.description in ("", other.description)
    return bool(suggestions.ranked) and suggestions[0].id in seed.parents(match.id)


def decide(
    suggestions: Sequence[Suggestions],
    alone: Sequence[Suggestions],
    *,
    accept: float,
    ids: set[str],
    duplicates: Mapping[int, str],
) -> list[Placement]:
    """Attach new concepts, the most probable first, and leave the rest to a person.

    A candidate can be a parent when it exists, or is a new concept that was attached, and attaching below it closes no
    cycle. A concept whose best parent is new and not yet decided waits. Where new concepts wait for each other, the one
    with the least probable parent goes where it would go without the others.

    Parameters
    ----------
    suggestions
        Of each new concept, with the other new ones among the candidates.
    alone
        Without them.
    accept
        Least probability with which a concept is attached.
    ids
        Of the existing concepts.
    duplicates
        Reasons not to place some, by number (`find_duplicates`).
    """
    return _Decisions(suggestions, alone, accept, set(ids), duplicates).run()


class _Decisions:
    """The state of `decide`: which new concepts are placed, and which wait for which.

    Concepts are gone through in passes, the most probable first. Instead of looking at all of them in every pass, each
    is looked at when what it waits for has been settled: in the same pass if it comes later in the order, otherwise in
    the next one.
    """

    def __init__(
        self,
        suggestions: Sequence[Suggestions],
        alone: Sequence[Suggestions],
        accept: float,
        settled: set[str],
        duplicates: Mapping[int, str],
    ) -> None:
        self.suggestions, self.alone, self.accept, self.settled = suggestions, alone, accept, settled
        self.above: dict[str, tuple[str, ...]] = {}
        self.placed = {i: Placement(suggestions[i].query, suggestions[i], why=why) for i, why in duplicates.items()}
        self.order = sorted(set(range(len(suggestions))) - set(duplicates), key=lambda i: (-_surest(suggestions[i]), i))
        self.place_in_order = {i: place for place, i in enumerate(self.order)}
        self.number = {ranked.query.id: i for i, ranked in enumerate(suggestions)}
        self.ready: list[tuple[int, int]] = []  # heap of (pass, place in the order)
        self.blocked: list[int] = []  # heap of places in the order: their best parent is left to a person
        self.waiting_for: dict[int, list[int]] = {}
        self.best: dict[int, Suggestion] = {}

    def run(self) -> list[Placement]:
        """Placements of all concepts."""
        for place, i in enumerate(self.order):
            best = next((s for s in self.suggestions[i] if s.probability >= self.accept), None)
            if best is None or best.id in self.settled:
                self.ready.append((0, place))  # in order, so it is a heap
            else:
                self.best[i] = best
                self.waiting_for.setdefault(self.number[best.id], []).append(i)
        for i in [i for i in self.waiting_for if i in self.placed]:
            self._release(i, (0, -1))
        now, first = 0, 0
        while len(self.placed) < len(self.suggestions):
            if self.ready:
                now, place = heapq.heappop(self.ready)
                i = self.order[place]
                self._settle(i, self.suggestions[i], (now, place), wait=True)
                continue
            now += 1  # what is settled out of turn is settled before a pass begins
            if self.blocked:
                i = self.order[heapq.heappop(self.blocked)]
                if not self._settle(i, self.suggestions[i], (now, -1), wait=False):
                    why = "its best parent is new and unsettled"
                    self.placed[i] = Placement(self.suggestions[i].query, self.suggestions[i], why=why)
                    self._release(i, (now, -1))
            else:
                while self.order[first] in self.placed:
                    first += 1
                members = _cycle(self.order[first], lambda i: self.number[self.best[i].id])
                stuck = min(members, key=lambda i: self.best[i].probability)
                self._settle(stuck, self.alone[stuck], (now, -1), wait=False)
        return [self.placed[i] for i in range(len(self.suggestions))]

    def _settle(self, i: int, ranked: Suggestions, when: tuple[int, int], *, wait: bool) -> bool:
        """Place a concept; False where it has to wait. ``when``: the pass, and how far it has got in the order."""
        placement = _place(ranked, self.accept, self.settled, self.above, wait)
        if placement is None:
            return False
        self.placed[i] = placement
        if placement.attached:
            self.settled.add(placement.concept.id)
            self.above[placement.concept.id] = tuple(p.id for p in placement.parents)
        self._release(i, when)
        return True

    def _release(self, i: int, when: tuple[int, int]) -> None:
        """Go on with the concepts that wait for ``i``, which has been placed."""
        now, reached = when
        attached = self.placed[i].attached
        for other in self.waiting_for.pop(i, ()):
            place = self.place_in_order[other]
            if other in self.placed:
                continue
            if attached:
                heapq.heappush(self.ready, (now + (place < reached), place))
            else:
                heapq.heappush(self.blocked, place)


def _surest(suggestions: Suggestions) -> float:
    return suggestions[0].probability if suggestions else 0.0


def _cycle(start: int, next_of: Callable[[int], int]) -> list[int]:
    """The cycle in which one ends up from ``start``."""
    path = {start: 0}  # with the number of steps
    at = next_of(start)
    while at not in path:
        path[at] = len(path)
        at = next_of(at)
    return list(path)[path[at] :]


def _acceptable(suggestions: Suggestions, accept: float, above: Mapping[str, tuple[str, ...]]) -> list[Suggestion]:
    """Candidates with enough probability that close no cycle; ``above`` are the parents of new concepts by id."""
    id = suggestions.query.id
    return [s for s in suggestions if s.probability >= accept and not _below(s.id, id, lambda at: above.get(at, ()))]


def _place(
    suggestions: Suggestions,
    accept: float,
    settled: set[str],
    above: Mapping[str, tuple[str, ...]],
    wait: bool,
) -> Placement | None:
    """What becomes of one concept now; None while it has to wait for another new one."""
    concept, acceptable = suggestions.query, _acceptable(suggestions, accept, above)
    if not acceptable:
        likely_new = suggestions.none_probability > _surest(suggestions)
        why = "perhaps a new top-level concept" if likely_new else "not sure enough"
        return Placement(concept, suggestions, why=why)
    usable = acceptable if wait else [s for s in acceptable if s.id in settled]
    if not usable or usable[0].id not in settled:
        return None
    possible = {s.id for s in _acceptable(suggestions, 0.0, above)} & settled
    together = tuple(s for s in suggestions.parents if s.id in possible)
    return Placement(concept, suggestions, parents=together if usable[0] in together else (usable[0],))


def _below(one: str, other: str, parents: Callable[[str], Iterable[str]]) -> bool:
    """Whether ``one`` is the ``other`` or one of its descendants."""
    stack, seen = [one], set()
    while stack:
        at = stack.pop()
        if at == other:
            return True
        if at not in seen:
            seen.add(at)
            stack.extend(parents(at))
    return False


def grow(seed: Taxonomy, placements: Sequence[Placement], *, insert: float | None) -> Expansion:
    """The taxonomy with the attached concepts.

    Parameters
    ----------
    seed
        The taxonomy.
    placements
        Of all new concepts.
    insert
        Least probability with which existing children are moved below a new concept; None moves none.
    """
    attached = [p for p in placements if p.attached]
    above = {p.concept.id: tuple(parent.id for parent in p.parents) for p in attached}
    edges = [(parent, new) for new, parents in above.items() for parent in parents]

    def parents_now(id: str) -> tuple[str, ...]:
        return above[id] if id in above else seed.parents(id)

    least = math.inf if insert is None else insert
    moved: list[tuple[str, str, str]] = []
    for placement in attached:
        new = placement.concept.id
        for child, probability in placement.takes:
            if probability < least or child in above:
                continue
            old = [s.id for s in placement.parents if s.id in seed and child in seed.children(s.id)]
            if old and not _below(new, child, parents_now):
                above[child] = (*(parent for parent in seed.parents(child) if parent not in old), new)
                moved += [(child, parent, new) for parent in old]
    drop = {(old, child) for child, old, _ in moved}
    kept = [pair for pair in seed.edges() if pair not in drop] if drop else None
    base = seed if kept is None else Taxonomy.from_concepts(seed.concepts(), kept, seed.meta)
    edges += dict.fromkeys((new, child) for child, _, new in moved)
    return Expansion(base.add([named(p.concept) for p in attached], edges), tuple(placements), tuple(moved))


def named(concept: Concept) -> Concept:
    """The concept; one with images alone gets the file name of the first as its name."""
    return concept if concept.name else replace(concept, name=readable(PurePath(concept.images[0]).stem))
