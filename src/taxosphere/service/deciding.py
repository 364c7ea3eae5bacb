"""From what a person chose to an event in the store: checked, recorded once, with what the model had said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from taxosphere.decisions.events import Event, now
from taxosphere.service import history, queue_view, store_items
from taxosphere.service.problems import Problem
from taxosphere.service.requests import Changes, DecisionRequest
from taxosphere.service.store_access import Person
from taxosphere.service.store_items import QueueItem, StaleVersion
from taxosphere.service.store_tables import ITEMS
from taxosphere.service.workbench import Workbench
from taxosphere.taxonomy import Concept

Document = dict[str, Any]
_BULK = 100  # decisions recorded in one transaction
_MOST_BULK = 20_000


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person chose about an item of the queue."""

    item: str
    kind: str
    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    changes: Changes | None = None
    note: str = ""

    @classmethod
    def of(cls, request: DecisionRequest) -> Choice:
        """The choice that a request states."""
        parents, children = tuple(request.parents), tuple(request.children)
        return cls(request.item, request.kind, parents, children, request.changes, request.note)


def decide(workbench: Workbench, choice: Choice, person: Person, *, version: int, key: str = "") -> Document:
    """Carry out and record a decision.

    Parameters
    ----------
    workbench
        The open workbench.
    choice, person
        What was decided by whom.
    version
        Version of the item that the person saw.
    key
        Idempotency key: the same one again changes nothing and has the same answer.

    Returns
    -------
    dict
        The event, the item's row, and the id of the next open item.

    Raises
    ------
    Problem
        409 with the present row where the version is no longer the item's.
    Conflict
        Where the decision cannot be carried out.
    """
    key = f"{person.name}\n{key}" if key else ""
    with workbench.store.asking() as connection:
        item, is_repeated = store_items.get_and_former(connection, choice.item, key)
        former = history.find_by_key(connection, key) if is_repeated else None
    if former is not None:
        return _answer(workbench, former[0], _same_choice(former[1], choice))
    event = _event(workbench, item, choice, person)
    try:
        recorded = workbench.ledger.decide(event, key=key, version=version)
    except StaleVersion as stale:
        raise _stale(workbench, stale.item.id) from None
    workbench.hub.wake()
    return _answer(workbench, recorded.seq, recorded.event)


def undo(workbench: Workbench, id: str, person: Person, note: str = "", key: str = "") -> Document:
    """Take a decision back; `Conflict` where another one depends on it."""
    key = f"{person.name}\n{key}" if key else ""
    with workbench.store.reading() as connection:
        former = history.find_by_key(connection, key) if key else None
        target = history.find(connection, id)
    if former is not None and former[1].undoes == id:
        return _answer(workbench, *former)
    if target is None:
        raise Problem(404, "there is no such decision")
    event = Event(
        id=uuid4().hex,
        kind="undo",
        item=target[1].item,
        by=person.name,
        at=now(),
        base=workbench.ledger.latest.base_digest,
        undoes=id,
        note=note,
    )
    recorded = workbench.ledger.decide(event, key=key)
    workbench.hub.wake()
    return _answer(workbench, recorded.seq, recorded.event)


def accept_sure(workbench: Workbench, threshold: float, person: Person) -> list[str]:
    """Accept every open item whose best parent is at least so probable; ids of the events.

    What cannot be carried out, or was decided by somebody else meanwhile, is left as it is.
    """
    with workbench.store.reading() as connection:
        chosen = sa.select(ITEMS.c.id).where(queue_view.sure(threshold)).order_by(ITEMS.c.position).limit(_MOST_BULK)
        ids = list(connection.scalars(chosen))
    done: list[str] = []
    for start in range(0, len(ids), _BULK):
        with workbench.store.reading() as connection:
            items = [store_items.get(connection, id) for id in ids[start : start + _BULK]]
        events = [
            (_event(workbench, item, Choice(item.id, "accept", note="accepted in bulk"), person), item.version)
            for item in items
            if item.state == "open" and item.suggestions.get("suggestions")
        ]
        done += [recorded.event.id for recorded in workbench.ledger.decide_each(events)]
        workbench.hub.wake()
    return done


def _event(workbench: Workbench, item: QueueItem, choice: Choice, person: Person) -> Event:
    stored, view = item.suggestions, workbench.view
    listed = {entry["id"]: entry["probability"] for entry in stored.get("suggestions", ())}
    parents = choice.parents
    if choice.kind == "accept" and not parents:
        joint = [id for id in stored.get("parents", ()) if id in view]
        parents = tuple(joint or list(listed)[:1])
        if not parents:
            raise Problem(422, "there is no suggested parent to accept; name one")
    concept = workbench.queue.concept(item)
    if choice.kind == "edit":
        concept = _edited(concept, choice.changes)
    first = parents[0] if parents else ""
    return Event(
        id=uuid4().hex,
        kind=choice.kind,
        item=item.id,
        by=person.name,
        at=now(),
        base=workbench.ledger.latest.base_digest,
        concept=replace(concept, id=item.id),
        parents=parents,
        children=choice.children,
        names=tuple((id, view.name(id)) for id in dict.fromkeys((*parents, *choice.children))),
        probability=listed.get(first),
        model=workbench.suggester.version,
        suggested=tuple(listed),
        note=choice.note,
    )


def _edited(concept: Concept, changes: Changes | None) -> Concept:
    if changes is None or not changes.model_fields_set:
        raise Problem(422, "an edit needs 'changes' with a name, definition or synonyms")
    return replace(
        concept,
        name=concept.name if changes.name is None else changes.name.strip(),
        description=concept.description if changes.definition is None else changes.definition.strip(),
        synonyms=concept.synonyms if changes.synonyms is None else tuple(changes.synonyms),
    )


def _same_choice(event: Event, choice: Choice) -> Event:
    """The event of an earlier request with the same key; 422 where that one chose otherwise."""
    same = (event.item, event.kind, event.children, event.note) == (
        choice.item,
        choice.kind,
        choice.children,
        choice.note,
    )
    if not same or (choice.parents and choice.parents != event.parents):
        raise Problem(422, "this Idempotency-Key was used for another decision")
    return event


def _stale(workbench: Workbench, item: str) -> Problem:
    assert workbench.ledger.fold is not None  # catches up
    with workbench.store.reading() as connection:
        current = workbench.queue.row(connection, item)
    return Problem(409, "somebody else has decided about this concept meanwhile", current=current)


def _answer(workbench: Workbench, seq: int, event: Event) -> Document:
    with workbench.store.asking() as connection:
        item, following = workbench.queue.row_and_next(connection, event.item)
    return {"event": workbench.history.document(seq, event), "item": item, "next": following}
