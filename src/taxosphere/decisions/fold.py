"""The taxonomy that a base and a sequence of events make, and which of the events were carried out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import attrgetter
from typing import Any

import numpy as np

from taxosphere.decisions.events import Event, Snapshot, Strings, digest
from taxosphere.decisions.kinds import KINDS
from taxosphere.decisions.state import ALIAS, CONCEPT, ITEM, PARENTS, SYNONYMS, TEXT, Conflict, Item, Key, State, Step
from taxosphere.errors import InputError
from taxosphere.taxonomy import Concept, Taxonomy

__all__ = ["Conflict", "Fold", "Outcome", "fold"]

QUEUE_STATES = {"move": "moved", "top": "top"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An event that was not carried out, and why."""

    event: Event
    code: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class _Carried:
    """An event that was carried out: its number, the values it touched, and what those it changed were before.

    ``touched`` begins with the values that were changed, in the order of ``before``; the others were only read.
    """

    event: Event
    number: int
    touched: tuple[_Touched, ...]
    before: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Touched:
    """A value of the state that events have read or changed, with these events in their order."""

    key: Key
    by: list[_Carried]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sequence of events.

    ``surviving`` are the events that were carried out and not undone: folded alone they give the same taxonomy.
    ``notices`` are sentences about concepts that the base has renamed, or has already.
    """

    taxonomy: Taxonomy
    surviving: tuple[Event, ...]
    refused: tuple[Refusal, ...]
    notices: tuple[tuple[Event, str], ...]


class Fold:
    """A base with events carried out one by one.

    Parameters
    ----------
    base
        The taxonomy to begin from.
    base_digest
        Its `digest`, where it has been computed already. Events that state another one are carried out by the rules
        for a base that has moved on: a renamed concept is recognised by its id, one with another id by its name, a
        new concept that the base has meanwhile is left as it is.
    """

    def __init__(self, base: Taxonomy, base_digest: str = "") -> None:
        self.base = base
        self.base_digest = base_digest or digest(base)
        self.refused: list[Refusal] = []
        self.notices: list[tuple[Event, str]] = []
        self._state = State(base)
        self._carried: dict[str, _Carried | None] = {}  # every event; None for an undo, and for what it took back
        self._touched: dict[Key, _Touched] = {}

    # -- events -------------------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> Event:
        """Carry one event out.

        Parameters
        ----------
        event
            The next event.

        Returns
        -------
        Event
            The same event with `before` and `after` filled in.

        Raises
        ------
        Conflict
            Where it cannot be carried out; the fold stays as it was.
        """
        if event.id in self._carried:
            raise Conflict("repeated", f"the event '{event.id}' was carried out before")
        before = self.snapshot(event.item)
        if event.kind == "undo":
            self._undo(event)
        else:
            self._carry_out(event)
        return replace(event, before=before, after=self.snapshot(event.item))

    def add(self, event: Event) -> None:
        """Carry one event out, or remember in `refused` why that is impossible."""
        try:
            self.apply(event)
        except Conflict as conflict:
            self.refused.append(Refusal(event, conflict.code, str(conflict)))

    def _carry_out(self, event: Event) -> None:
        check(event)
        step = Step(self._state, event, moved_on=bool(event.base) and event.base != self.base_digest)
        rule = KINDS[event.kind].apply
        assert rule is not None  # only an undo has none
        rule(step)
        former = step.commit()
        touched = (*former, *(step.touched - former.keys()))
        records = tuple(self._touched.get(key) or self._touched.setdefault(key, _Touched(key, [])) for key in touched)
        carried = _Carried(self._with_shared_text(event), len(self._carried), records, tuple(former.values()))
        for record in records:
            record.by.append(carried)
        self._carried[event.id] = carried
        self.notices += [(event, text) for text in step.notices]

    def _with_shared_text(self, event: Event) -> Event:
        """The event with the concept of the last one about the item, where they are equal: one copy is kept."""
        decided = self._touched.get((ITEM, event.item))
        former = decided.by[-1].event.concept if decided is not None and decided.by else None
        return event if former is None or former != event.concept else replace(event, concept=former)

    def _undo(self, event: Event) -> None:
        target = self._carried.get(event.undoes)
        if target is None:
            seen = event.undoes in self._carried
            reason = "was undone already, or is an undo itself; decide again" if seen else "was never carried out"
            raise Conflict("no such event", f"the event '{event.undoes}' {reason}")
        if event.item != target.event.item:
            raise Conflict("no such event", f"the event '{event.undoes}' is not about '{event.item}'")
        later = self.depending(event.undoes)
        if later:
            raise Conflict("in use", f"undo first: {describe(later[-1], self._state)}")
        for record, value in zip(target.touched, target.before, strict=False):
            self._state.restore(record.key, value)
        for record in target.touched:
            del record.by[bisect_left(record.by, target.number, key=attrgetter("number"))]
        self._carried[event.undoes] = self._carried[event.id] = None
        self.notices = [notice for notice in self.notices if notice[0].id != event.undoes]

    def depending(self, id: str) -> list[Event]:
        """Events that stand in the way of taking one back, because they build on what it did; oldest first."""
        target, later = self._standing(id), dict[int, Event]()
        for record in target.touched[: len(target.before)]:
            following = takewhile(lambda other: other.number > target.number, reversed(record.by))
            later |= {other.number: other.event for other in following}
        return [later[number] for number in sorted(later)]

    def _standing(self, id: str) -> _Carried:
        """An event that was carried out and not undone."""
        carried = self._carried[id]
        assert carried is not None
        return carried

    @property
    def surviving(self) -> tuple[Event, ...]:
        """Events that were carried out and not undone, in their order."""
        return tuple(carried.event for carried in self._carried.values() if carried is not None)

    # -- items --------------------------------------------------------------------------------------------------------

    def snapshot(self, item: str) -> Snapshot:
        """State and parents of an item at present."""
        decided: Item | None = self._state.values.get((ITEM, item))
        if decided is None:
            return Snapshot()
        parents = (decided.target,) if decided.target else self._state.values.get((PARENTS, item), ())
        return Snapshot(decided.state, parents)

    @property
    def state(self) -> State:
        """The base and every value that differs from it; to be read only."""
        return self._state

    def deciding(self, item: str) -> Event | None:
        """The event that decided where an item stands at present, None while it is open."""
        decided: Item | None = self._state.values.get((ITEM, item))
        carried = None if decided is None else self._carried.get(decided.event)
        return None if carried is None else carried.event

    def queue_state(self, item: str) -> str:
        """State of an item as a queue shows it: ``moved`` and ``top`` are told apart from ``accepted``."""
        event, state = self.deciding(item), self.snapshot(item).state
        return state if event is None else QUEUE_STATES.get(event.kind, state)

    def items(self) -> dict[str, tuple[Snapshot, Event]]:
        """Every item that something was decided about, with the event that decided it."""
        return {
            key[1]: (self.snapshot(key[1]), self._standing(item.event).event) for key, item in self._state.of_kind(ITEM)
        }

    def name(self, id: str) -> str:
        """Name of a concept of the base or a new one; the id itself where there is no such concept."""
        return self._state.name(id)

    def text(self, item: str) -> Concept | None:
        """The new concept with its edits, where an event has said what it is."""
        present: Concept | None = self._state.values.get((TEXT, item)) or self._state.values.get((CONCEPT, item))
        event = self.deciding(item)
        if present is not None or (event is not None and event.concept is not None):
            return present or (event.concept if event is not None else None)
        return next((e.concept for e in self.surviving if e.item == item and e.concept is not None), None)

    def attached(self) -> dict[str, Event]:
        """The event that decided where each new concept of the taxonomy hangs, by the concept's id."""
        return {
            key[1]: self._standing(self._state.values[ITEM, key[1]].event).event
            for key, _ in self._state.of_kind(CONCEPT)
        }

    # -- the result ---------------------------------------------------------------------------------------------------

    def taxonomy(self) -> Taxonomy:
        """The base with everything that was decided; the base itself where nothing has changed."""
        state, base = self._state, self.base
        attached = sorted(
            ((key[1], concept) for key, concept in state.of_kind(CONCEPT)), key=lambda one: self._when(one[0])
        )
        new = [state.values.get((TEXT, id), concept) for id, concept in attached]
        moved = {key[1]: parents for key, parents in state.of_kind(PARENTS) if key[1] in base}
        kept = base
        if moved:
            rows = {
                base.position(child): set(map(base.position, base_parents(parents, base)))
                for child, parents in moved.items()
            }
            edges = base.edge_array
            drop = [i for i, (p, c) in enumerate(edges.tolist()) if c in rows and p not in rows[c]]
            kept = base.with_edges(np.delete(edges, drop, axis=0))
        children = [concept.id for concept in new] + sorted(moved, key=base.position)
        pairs = [(parent, child) for child in children for parent in state.parents(child)]
        return self._with_synonyms(kept.add(new, pairs) if new or pairs else kept)

    def _with_synonyms(self, grown: Taxonomy) -> Taxonomy:
        added: dict[str, list[str]] = {}
        for key, texts in sorted(self._state.of_kind(SYNONYMS), key=lambda one: self._when(one[0][2])):
            added.setdefault(key[1], []).extend(texts)
        if not added:
            return grown
        columns = list(grown.synonyms)
        for id, texts in added.items():
            at = grown.position(id)
            present = dict.fromkeys((*columns[at], *texts))
            columns[at] = tuple(text for text in present if text != grown.names[at] or text in columns[at])
        return replace(grown, synonyms=tuple(columns))

    def _when(self, item: str) -> int:
        """Number of the event that decided an item: an order that an undo of other events does not change."""
        return self._standing(self._state.values[ITEM, item].event).number

    def outcome(self) -> Outcome:
        """Everything at once, as `fold` returns it."""
        return Outcome(self.taxonomy(), self.surviving, tuple(self.refused), tuple(self.notices))

    def alias(self, item: str) -> str:
        """The concept of the base that an item already is, or nothing."""
        there: str = self._state.values.get((ALIAS, item), "")
        return there


def base_parents(parents: Strings, base: Taxonomy) -> list[str]:
    """Those of the parents that are concepts of the base."""
    return [parent for parent in parents if parent in base]


def fold(base: Taxonomy, events: Iterable[Event]) -> Outcome:
    """The taxonomy that events make of a base.

    Parameters
    ----------
    base
        The taxonomy to begin from.
    events
        In the order in which they were decided. What cannot be carried out is left out and listed.

    Returns
    -------
    Outcome
        The taxonomy, the surviving events, the refused ones with their reasons.
    """
    folding = Fold(base)
    for event in events:
        folding.add(event)
    return folding.outcome()


def check(event: Event) -> None:
    """Refuse an event that no base could carry out, with `InputError` where its kind does not exist."""
    kind = KINDS.get(event.kind)
    if kind is None:
        raise InputError(f"no kind of decision is called '{event.kind}'; there are {', '.join(KINDS)}")
    fewest, most = kind.parents
    if not fewest <= len(event.parents) <= most:
        wanted = "no parent" if most == 0 else "one parent" if most == 1 else f"at least {fewest} parent"
        raise Conflict("parents", f"'{event.kind}' takes {wanted}, not {len(event.parents)}")
    if event.children and not kind.children:
        raise Conflict("children", f"'{event.kind}' takes no children")
    if event.kind == "insert" and not event.children:
        raise Conflict("children", "'insert' needs children to move below the new concept")
    if event.concept is not None and event.concept.id != event.item:
        raise Conflict("item", f"the concept has the id '{event.concept.id}', the decision is about '{event.item}'")


def describe(event: Event, state: State) -> str:
    """An event in a few words: what was decided about which concept, by whom and when."""
    name = event.concept.name if event.concept is not None else state.name(event.item)
    who = f" by {event.by}" if event.by else ""
    return f"'{event.kind}' of '{name}'{who}{f' on {event.at[:10]}' if event.at else ''} ({event.id})"
