"""Placing a whole list of new concepts at once.

New concepts may be parents of new concepts. Each is first placed in the seed alone; then all of them join the
candidates, provisionally attached where they would go, and each is ranked again with itself left out. Attachments are
made from the surest down; one that would close a circle passes to the next candidate.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import PurePath
from typing import Any

from taxosphere import atomic
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


def decide(
    suggestions: Sequence[Suggestions], *, accept: float, hold_duplicates: bool, ids: set[str]
) -> list[Placement]:
    """Attach from the surest down; ``ids`` are the concepts that exist already.

    A candidate counts when it exists, or is a new concept that has been attached, and attaching below it closes no
    circle. A concept whose best parent is new and still unsettled waits; when everything waits, the surest that has a
    settled candidate takes that one.
    """
    settled = set(ids)
    above: dict[str, tuple[str, ...]] = {}
    placed: dict[int, Placement] = {}
    waiting = sorted(range(len(suggestions)), key=lambda i: (-_surest(suggestions[i]), i))

    def settle(i: int, patient: bool) -> bool:
        placement = _place(suggestions[i], accept, hold_duplicates, settled, above, patient)
        if placement is None:
            return False
        placed[i] = placement
        if placement.attached:
            settled.add(placement.concept.id)
            above[placement.concept.id] = tuple(p.id for p in placement.parents)
        return True

    while waiting:
        still = [i for i in waiting if not settle(i, patient=True)]
        if len(still) == len(waiting):
            forced = next((i for i in still if settle(i, patient=False)), None)
            if forced is None:
                break
            still.remove(forced)
        waiting = still
    for i in waiting:
        placed[i] = Placement(suggestions[i].query, suggestions[i], why="its best parent is new and unsettled")
    return [placed[i] for i in range(len(suggestions))]


def _surest(suggestions: Suggestions) -> float:
    return suggestions[0].probability if suggestions else 0.0


def _place(
    suggestions: Suggestions,
    accept: float,
    hold_duplicates: bool,
    settled: set[str],
    above: dict[str, tuple[str, ...]],
    patient: bool,
) -> Placement | None:
    """What to do with one concept now; None while it has to wait for another new one."""
    concept = suggestions.query
    if suggestions.already and hold_duplicates:
        _, name, how = suggestions.already[0]
        return Placement(concept, suggestions, why=f"already there as '{name}' ({how})")

    def closes_no_circle(parent: Suggestion) -> bool:
        return not _below(parent.id, concept.id, lambda at: above.get(at, ()))  # what exists never hangs below new ones

    sure = [s for s in suggestions if s.probability >= accept and closes_no_circle(s)]
    if not sure:
        likely_new = suggestions.none_probability > _surest(suggestions)
        why = "perhaps a new top-level concept" if likely_new else "not sure enough"
        return Placement(concept, suggestions, why=why)
    usable = sure if patient else [s for s in sure if s.id in settled]
    if not usable or usable[0].id not in settled:
        return None
    joint = tuple(s for s in suggestions.parents if s.id in settled and closes_no_circle(s))
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

    moved: list[tuple[str, str, str]] = []
    for placement in attached if insert is not None else ():
        new = placement.concept.id
        for child, probability in placement.takes:
            old = next((s.id for s in placement.parents if s.id in seed and child in seed.children(s.id)), None)
            if insert is None or probability < insert or old is None or child in above:
                continue
            if not _below(new, child, parents_now):
                above[child] = (*(parent for parent in seed.parents(child) if parent != old), new)
                moved.append((child, old, new))
    drop = {(old, child) for child, old, _ in moved}
    kept = [pair for pair in seed.edges() if pair not in drop] if drop else None
    base = seed if kept is None else Taxonomy.from_concepts(seed.concepts(), kept, seed.meta)
    edges += [(new, child) for child, _, new in moved]
    return Expansion(base.add([named(p.concept) for p in attached], edges), tuple(placements), tuple(moved))


def named(concept: Concept) -> Concept:
    """A concept known by pictures alone is called after the first of them."""
    return concept if concept.name else replace(concept, name=readable(PurePath(concept.images[0]).stem))


def write_review(expansion: Expansion, path: str | PathLike[str]) -> None:
    """What a person must decide, one concept a row, with its best candidates; opens in any spreadsheet."""
    header = ["id", "name", "description", "why", "none_probability"]
    for rank in range(1, _CANDIDATES + 1):
        header += [f"parent_{rank}", f"parent_{rank}_name", f"parent_{rank}_probability"]
    with atomic.file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t", lineterminator="\n")
        writer.writerow(header)
        for placement in expansion.review:
            concept, found = placement.concept, placement.suggestions
            row = [concept.id, concept.name, concept.description, placement.why, f"{found.none_probability:.4f}"]
            for suggestion in found[:_CANDIDATES]:
                row += [suggestion.id, suggestion.name, f"{suggestion.probability:.4f}"]
            writer.writerow(row)
