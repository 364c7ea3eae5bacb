"""Placing a whole list of new concepts at once.

New concepts may be parents of new concepts. Each is first placed in the seed alone; then all of them join the
candidates, provisionally attached where they would go, and each is ranked again with itself left out. Attachments are
made from the surest down; one that would close a circle passes to the next candidate.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import PurePath
from typing import Any

from taxosphere import atomic
from taxosphere.placing.duplicates import NameIndex, fold
from taxosphere.placing.suggestions import Suggestion, Suggestions
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats.image_folder import readable

_CANDIDATES = 5  # of a concept in the review table


@dataclass(frozen=True, slots=True)
class Placement:
    """What became of one new concept."""

    concept: Concept
    suggestions: Suggestions
    parents: tuple[Suggestion, ...] = ()
    """Where it was attached; empty when a person must decide."""
    why: str = ""
    """Why a person must decide."""
    takes: tuple[tuple[str, float], ...] = ()
    """Children of its parents that may belong below it: (id, probability)."""

    @property
    def attached(self) -> bool:
        return bool(self.parents)

    @property
    def state(self) -> str:
        return "attached" if self.attached else self.why

    @property
    def surest(self) -> float:
        """Probability of the parent it was attached to, or of the best one there was."""
        best = self.parents or self.suggestions[:1]
        return best[0].probability if best else 0.0

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.suggestions.as_dict(),
            "state": self.state,
            "parents": [parent.id for parent in self.parents],
            "takes": [{"id": id, "probability": probability} for id, probability in self.takes],
        }


@dataclass(frozen=True, slots=True)
class Expansion:
    """The grown taxonomy, and a placement for each new concept in the order they were given."""

    taxonomy: Taxonomy
    placements: tuple[Placement, ...]
    moved: tuple[tuple[str, str, str], ...] = field(default=())
    """Existing concepts that were moved below a new one: (child id, old parent id, new parent id)."""

    @property
    def attached(self) -> tuple[Placement, ...]:
        return tuple(p for p in self.placements if p.attached)

    @property
    def review(self) -> tuple[Placement, ...]:
        return tuple(p for p in self.placements if not p.attached)


def held_back(suggestions: Sequence[Suggestions], seed: Taxonomy, names: NameIndex) -> dict[int, str]:
    """Why some of the list are not placed at all: they are there already, or stand in the list twice.

    A name that several concepts may bear says so only together with the same definition, or of a child of the parent
    where the new one would go.
    """
    first: dict[str, Concept] = {}
    found = {}
    for i, given in enumerate(suggestions):
        query = given.query
        keys = [key for key in map(fold, (query.name, *query.synonyms)) if key]
        before = [first[key] for key in keys if key in first]
        there = next((match for match in given.already if _is_twin(given, match[0], seed, names)), None)
        twin = next((c for c in before if not names.common(c.name) or c.description == query.description), None)
        if there is not None:
            found[i] = f"already there as '{there[1]}' ({there[2]})"
        elif twin is not None:
            found[i] = f"'{twin.name}' stands before it in the list"
        else:
            for key in keys:
                first.setdefault(key, query)
    return found


def _is_twin(given: Suggestions, id: str, seed: Taxonomy, names: NameIndex) -> bool:
    other = seed.concept(seed.position(id))
    beside = bool(given.ranked) and given[0].id in seed.parents(id)
    same = bool(other.description) and other.description == given.query.description
    return not names.common(other.name) or same or beside


def decide(
    suggestions: Sequence[Suggestions],
    alone: Sequence[Suggestions],
    *,
    accept: float,
    ids: set[str],
    held: Mapping[int, str],
) -> list[Placement]:
    """Attach from the surest down; ``ids`` are the concepts that exist already, ``held`` those to leave to a person.

    A candidate counts when it exists, or is a new concept that has been attached, and attaching below it closes no
    circle. A concept whose best parent is new and still unsettled waits. Where new concepts wait for each other, the
    one that is least sure of it goes where it would go ``alone``.
    """
    settled = set(ids)
    above: dict[str, tuple[str, ...]] = {}
    placed = {i: Placement(suggestions[i].query, suggestions[i], why=why) for i, why in held.items()}
    waiting = sorted(set(range(len(suggestions))) - set(held), key=lambda i: (-_surest(suggestions[i]), i))
    number = {given.query.id: i for i, given in enumerate(suggestions)}

    def settle(i: int, given: Suggestions, *, patient: bool) -> bool:
        placement = _place(given, accept, settled, above, patient)
        if placement is None:
            return False
        placed[i] = placement
        if placement.attached:
            settled.add(placement.concept.id)
            above[placement.concept.id] = tuple(p.id for p in placement.parents)
        return True

    while waiting:
        still = [i for i in waiting if not settle(i, suggestions[i], patient=True)]
        if len(still) == len(waiting):
            wanted = {i: _sure(suggestions[i], accept, above)[0] for i in still}
            stuck = next((i for i in still if number[wanted[i].id] in placed), None)  # below one for review
            if stuck is None:
                stuck = min(_circle({i: number[s.id] for i, s in wanted.items()}), key=lambda i: wanted[i].probability)
                settle(stuck, alone[stuck], patient=False)
            elif not settle(stuck, suggestions[stuck], patient=False):
                given = suggestions[stuck]
                placed[stuck] = Placement(given.query, given, why="its best parent is new and unsettled")
            still.remove(stuck)
        waiting = still
    return [placed[i] for i in range(len(suggestions))]


def _surest(suggestions: Suggestions) -> float:
    return suggestions[0].probability if suggestions else 0.0


def _circle(next_of: Mapping[int, int]) -> list[int]:
    """Those that lead to each other, when each leads to another."""
    path = [next(iter(next_of))]
    while next_of[path[-1]] not in path:
        path.append(next_of[path[-1]])
    return path[path.index(next_of[path[-1]]) :]


def _sure(suggestions: Suggestions, accept: float, above: Mapping[str, tuple[str, ...]]) -> list[Suggestion]:
    """Candidates that are sure enough and close no circle; what exists never hangs below what is new here."""
    own = suggestions.query.id
    return [s for s in suggestions if s.probability >= accept and not _below(s.id, own, lambda at: above.get(at, ()))]


def _place(
    suggestions: Suggestions,
    accept: float,
    settled: set[str],
    above: Mapping[str, tuple[str, ...]],
    patient: bool,
) -> Placement | None:
    """What to do with one concept now; None while it has to wait for another new one."""
    concept, sure = suggestions.query, _sure(suggestions, accept, above)
    if not sure:
        likely_new = suggestions.none_probability > _surest(suggestions)
        why = "perhaps a new top-level concept" if likely_new else "not sure enough"
        return Placement(concept, suggestions, why=why)
    usable = sure if patient else [s for s in sure if s.id in settled]
    if not usable or usable[0].id not in settled:
        return None
    possible = {s.id for s in _sure(suggestions, 0.0, above)} & settled
    joint = tuple(s for s in suggestions.parents if s.id in possible)
    return Placement(concept, suggestions, parents=joint if usable[0] in joint else (usable[0],))


def _below(one: str, other: str, parents: Callable[[str], Iterable[str]]) -> bool:
    """Is ``one`` the ``other``, or does it hang below it?"""
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
    """Add the attached concepts; with ``insert`` also move children that belong below one at least that surely."""
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
    """A concept known by pictures alone is called after the first of them."""
    return concept if concept.name else replace(concept, name=readable(PurePath(concept.images[0]).stem))


def write_review(expansion: Expansion, path: str | PathLike[str]) -> None:
    """What a person must decide, one concept a row, with its best candidates; opens in any spreadsheet."""
    header = ["id", "name", "description", "synonyms", "image", "why", "none_probability"]
    for rank in range(1, _CANDIDATES + 1):
        header += [f"parent_{rank}", f"parent_{rank}_name", f"parent_{rank}_probability"]
    with atomic.file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t", lineterminator="\n")
        writer.writerow(header)
        for placement in expansion.review:
            concept, found = placement.concept, placement.suggestions
            row = [concept.id, concept.name, concept.description, "|".join(concept.synonyms), "|".join(concept.images)]
            row += [placement.why, f"{found.none_probability:.4f}"]
            for suggestion in found[:_CANDIDATES]:
                row += [suggestion.id, suggestion.name, f"{suggestion.probability:.4f}"]
            writer.writerow(row)
