"""Every kind of event: what it needs, and what it does to the taxonomy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from taxosphere.decisions.state import ALIAS, CONCEPT, ITEM, PARENTS, SYNONYMS, TEXT, Conflict, Item, Step
from taxosphere.placing.name_keys import fold
from taxosphere.taxonomy import Concept

MANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of event.

    ``state`` is what it makes of the item ('' where that stays), ``parents`` the fewest and the most parents it takes.
    """

    summary: str
    apply: Callable[[Step], None] | None
    """None for what the fold does itself."""
    state: str = ""
    parents: tuple[int, int] = (0, 0)
    children: bool = False
    in_table: bool = False
    """May it be written into the column `decision` of a review table?"""


def _attach(step: Step) -> None:
    _place(step, tuple(dict.fromkeys(step.resolve(parent) for parent in step.event.parents)))


def _place(step: Step, parents: tuple[str, ...]) -> None:
    """Put the new concept below these parents, wherever it was before."""
    item = step.event.item
    concept = step.concept()
    if _is_there(step, concept, parents):
        return
    if not concept.name.strip():
        raise Conflict("no text", f"the new concept '{item}' has no name")
    attached = step.get(CONCEPT, item) is not None
    if attached and step.parents(item) == parents:
        raise Conflict("repeated", f"'{concept.name}' is there already")
    if item in parents:
        raise Conflict("cycle", f"'{concept.name}' cannot be its own parent")
    if step.state.depending.get(item):  # a concept that never had children closes no cycle, whatever is undone later
        above = next((parent for parent in parents if step.is_above(item, parent)), None)
        if above is not None:
            raise Conflict("cycle", f"'{step.state.name(above)}' hangs below '{concept.name}' itself")
    _withdraw_synonyms(step)
    if not attached:
        step.set(CONCEPT, item, value=concept)
    _link(step, item, parents)
    _settle(step)


def _link(step: Step, child: str, parents: tuple[str, ...]) -> None:
    step.set(PARENTS, child, value=parents)
    for parent in parents:
        step.refer(parent, PARENTS, child)


def _is_there(step: Step, concept: Concept, parents: tuple[str, ...]) -> bool:
    """Has the base the concept already: under its id, or under its name below one of the parents?

    In a base that the person has not seen, a name in another spelling counts as well.
    """
    item, base = step.event.item, step.state.base
    there = item if item in base else ""
    if there and fold(step.state.name(item)) != fold(concept.name):
        raise Conflict("taken", f"the id '{item}' of '{concept.name}' belongs to '{step.state.name(item)}' now")
    if not there and step.get(CONCEPT, item) is None:
        state = step.state
        namesakes = state.ids_by_folded_name.get(fold(concept.name), []) if step.moved_on else []
        namesakes = namesakes or state.ids_by_name.get(concept.name, [])
        there = next((id for id in namesakes if _shares(step.parents(id), parents)), "")
    if not there:
        return False
    if step.get(ALIAS, item) == there:
        raise Conflict("repeated", f"'{concept.name}' is there already")
    _withdraw_synonyms(step)
    step.notices.append(f"'{concept.name}' is in the taxonomy already, as {there}")
    step.set(ALIAS, item, value=there)
    _settle(step)
    return True


def _shares(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return not set(one).isdisjoint(other) or not (one or other)


def _settle(step: Step, target: str = "") -> None:
    item = Item(KINDS[step.event.kind].state, step.event.id, target)
    step.set(ITEM, step.event.item, value=item)


def _withdraw_synonyms(step: Step) -> None:
    former: Item | None = step.get(ITEM, step.event.item)
    if former is not None and former.target:
        step.set(SYNONYMS, former.target, step.event.item, value=None)


def _leave(step: Step) -> None:
    """Undo the effect of what was decided before about the item."""
    _withdraw_synonyms(step)
    if step.get(CONCEPT, step.event.item) is not None:
        step.detach(step.event.item)
    if step.get(ALIAS, step.event.item) is not None:
        step.set(ALIAS, step.event.item, value=None)


def _top(step: Step) -> None:
    _place(step, ())


def _same(step: Step) -> None:
    item, target = step.event.item, step.resolve(step.event.parents[0])
    if target == item:
        raise Conflict("cycle", f"'{step.state.name(item)}' cannot be a synonym of itself")
    former: Item | None = step.get(ITEM, item)
    if former is not None and former.target == target:
        raise Conflict("repeated", f"'{step.state.name(item)}' is a synonym of '{step.state.name(target)}' already")
    concept = step.get(TEXT, item) or step.concept()
    if not concept.name.strip():
        raise Conflict("no text", f"the new concept '{item}' has no name")
    _leave(step)
    step.set(SYNONYMS, target, item, value=(concept.name, *concept.synonyms))
    step.refer(target, SYNONYMS, target, item)
    _settle(step, target)


def _set_aside(step: Step) -> None:
    former: Item | None = step.get(ITEM, step.event.item)
    if former is not None and former.state == KINDS[step.event.kind].state:
        raise Conflict("repeated", f"'{step.state.name(step.event.item)}' is {former.state} already")
    _leave(step)
    _settle(step)


def _insert(step: Step) -> None:
    item = step.event.item
    parents = tuple(dict.fromkeys(step.resolve(parent) for parent in step.event.parents)) or step.parents(item)
    if step.get(CONCEPT, item) is None or (step.event.parents and parents != step.parents(item)):
        _place(step, parents)
    if step.get(CONCEPT, item) is None:
        raise Conflict("no place", f"'{step.state.name(item)}' has no place of its own to move others below")
    children = tuple(dict.fromkeys(step.resolve(child) for child in step.event.children))
    for child in children:
        before = step.parents(child)
        if not set(before) & set(parents):
            raise Conflict("no sibling", f"'{step.state.name(child)}' hangs below no parent of '{step.concept().name}'")
        if step.is_above(child, item):
            raise Conflict("cycle", f"'{step.concept().name}' hangs below '{step.state.name(child)}' already")
        _link(step, child, (*(parent for parent in before if parent not in parents), item))
    _settle(step)


def _comment(step: Step) -> None:
    if not step.event.note.strip():
        raise Conflict("no text", "a comment needs a note")


def _edit(step: Step) -> None:
    item, concept = step.event.item, step.event.concept
    if concept is None or not concept.name.strip():
        raise Conflict("no text", "an edit needs the concept with its new text, and a name")
    if item in step.state.base:
        raise Conflict("taken", f"'{step.state.name(item)}' is in the taxonomy already; its text is edited there")
    step.set(TEXT, item, value=replace(concept, id=item))


KINDS = {
    "accept": Kind("below the suggested parents", _attach, "accepted", (1, MANY), in_table=True),
    "move": Kind("below other parents", _attach, "accepted", (1, MANY), in_table=True),
    "top": Kind("a new top-level concept", _top, "accepted", in_table=True),
    "same": Kind("a synonym of an existing concept", _same, "same", (1, 1), in_table=True),
    "reject": Kind("not wanted", _set_aside, "rejected", in_table=True),
    "later": Kind("to be decided later", _set_aside, "later", in_table=True),
    "insert": Kind("between its parents and some of their children", _insert, "accepted", (0, MANY), children=True),
    "comment": Kind("a note", _comment),
    "edit": Kind("other name, definition or synonyms for the new concept", _edit),
    "undo": Kind("takes an earlier event back", None),
}
