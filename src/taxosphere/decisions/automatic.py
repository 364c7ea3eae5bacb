"""Decisions that nobody made: what `expand` attached because the model was sure enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from taxosphere.decisions.events import AUTOMATIC, Event
from taxosphere.decisions.review_reader import Origin

if TYPE_CHECKING:
    from taxosphere.placing.expansion import Expansion, Placement

NOTE = "attached without a person: the model was sure enough"


def events(expansion: Expansion, origin: Origin) -> list[Event]:
    """Events for what an expansion attached and moved, parents before their children.

    Parameters
    ----------
    expansion
        What `Polaris.expand` returned.
    origin
        Who asked for it (nobody: the model itself), when, on which base, with which model.
    """
    attached = {placement.concept.id: placement for placement in expansion.attached}
    made = [_accept(expansion, placement, origin) for placement in _parents_first(attached)]
    children: dict[str, list[str]] = {}
    for child, _, new in expansion.moved:
        children.setdefault(new, []).append(child)
    return made + [_insert(expansion, new, below, origin) for new, below in children.items()]


def _parents_first(attached: dict[str, Placement]) -> Iterator[Placement]:
    """Every placement after those of its new parents; an expansion has no circle among them."""
    done: set[str] = set()
    waiting = list(attached.values())[::-1]
    while waiting:
        placement = waiting[-1]
        above = [attached[parent.id] for parent in placement.parents if parent.id in attached and parent.id not in done]
        if above:
            waiting += above
            continue
        waiting.pop()
        if placement.concept.id not in done:
            done.add(placement.concept.id)
            yield placement


def _accept(expansion: Expansion, placement: Placement, origin: Origin) -> Event:
    taxonomy, parents = expansion.taxonomy, tuple(parent.id for parent in placement.parents)
    return Event(
        id=uuid4().hex,
        kind="accept",
        item=placement.concept.id,
        by=origin.by or AUTOMATIC,
        at=origin.at,
        base=origin.base,
        concept=taxonomy.concept(taxonomy.position(placement.concept.id)),
        parents=parents,
        names=_names(expansion, parents),
        probability=placement.surest,
        model=origin.model,
        suggested=tuple(suggestion.id for suggestion in placement.suggestions),
        note=NOTE,
    )


def _insert(expansion: Expansion, new: str, children: Sequence[str], origin: Origin) -> Event:
    below = tuple(dict.fromkeys(children))
    return Event(
        id=uuid4().hex,
        kind="insert",
        item=new,
        by=origin.by or AUTOMATIC,
        at=origin.at,
        base=origin.base,
        children=below,
        names=_names(expansion, below),
        model=origin.model,
        note=NOTE,
    )


def _names(expansion: Expansion, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    taxonomy = expansion.taxonomy
    return tuple((id, taxonomy.names[taxonomy.position(id)]) for id in ids)
