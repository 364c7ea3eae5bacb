"""What a taxonomy and its new concepts are after some decisions: the base, and the values that differ from it.

Every value has a key. An event reads and writes keys through a `Step`, which remembers both: an event can be taken back
as long as no later one has touched what it wrote.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from taxosphere.decisions.events import Event, Strings
from taxosphere.errors import TaxosphereError
from taxosphere.placing.name_keys import fold
from taxosphere.taxonomy import Concept, Taxonomy

Key = tuple[str, ...]
# The first word of a key, and what its value is.
ITEM = "item"  # (ITEM, item): `Item`, what was decided last
CONCEPT = "concept"  # (CONCEPT, id): the new concept as it was attached
TEXT = "text"  # (TEXT, item): the new concept as a person has edited it
PARENTS = "parents"  # (PARENTS, id): ids of the parents, where they are not those of the base
SYNONYMS = "synonyms"  # (SYNONYMS, id, item): texts that an item of the same meaning adds to a concept
ALIAS = "alias"  # (ALIAS, item): id of the concept of a newer base that the item already is


@dataclass(frozen=True, slots=True)
class Item:
    """What was decided last about a new concept."""

    state: str
    event: str
    target: str = ""
    """The concept that a ``same`` names."""


class Conflict(TaxosphereError):
    """An event cannot be carried out: ``code`` says why in one word, the message in a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class State:
    """The base and every value that differs from it; changed by committed steps only."""

    def __init__(self, base: Taxonomy) -> None:
        self.base = base
        self.values: dict[Key, Any] = {}
        self.below: defaultdict[str, set[str]] = defaultdict(set)
        """Concepts with changed parents, by each of these parents."""
        self.depending: defaultdict[str, set[Key]] = defaultdict(set)
        """Keys whose present or former value refers to a new concept, by its id."""

    @cached_property
    def ids_by_name(self) -> dict[str, list[str]]:
        """Ids of the base by exact name."""
        ids: dict[str, list[str]] = {}
        for id, name in zip(self.base.ids, self.base.names, strict=True):
            ids.setdefault(name, []).append(id)
        return ids

    @cached_property
    def ids_by_folded_name(self) -> dict[str, list[str]]:
        """Ids of the base by name without what spelling varies."""
        ids: dict[str, list[str]] = {}
        for id, name in zip(self.base.ids, self.base.names, strict=True):
            ids.setdefault(fold(name), []).append(id)
        return ids

    def parents(self, id: str) -> Strings:
        """Ids of the parents at present."""
        changed: Strings | None = self.values.get((PARENTS, id))
        if changed is not None:
            return changed
        return self.base.parents(id) if id in self.base else ()

    def __contains__(self, id: str) -> bool:
        return id in self.base or (CONCEPT, id) in self.values

    def name(self, id: str) -> str:
        """Name of a concept of the base or a new one, its id where it is unknown."""
        if id in self.base:
            return self.base.names[self.base.position(id)]
        concept: Concept | None = self.values.get((TEXT, id)) or self.values.get((CONCEPT, id))
        return concept.name if concept is not None else id

    def restore(self, key: Key, value: Any) -> None:
        """Set a value, or with None remove it."""
        if key[0] == PARENTS:
            for parent in self.values.get(key, ()):
                self.below[parent].discard(key[1])
            for parent in value or ():
                self.below[parent].add(key[1])
        if value is None:
            self.values.pop(key, None)
        else:
            self.values[key] = value

    def of_kind(self, word: str) -> Iterator[tuple[Key, Any]]:
        """Keys that begin with a word, in the order in which they were set, with their values."""
        return ((key, value) for key, value in self.values.items() if key[0] == word)


class Step:
    """One event being carried out; nothing is changed before `commit`."""

    def __init__(self, state: State, event: Event, *, moved_on: bool) -> None:
        self.state = state
        self.event = event
        self.moved_on = moved_on
        """Is the base another one than the person saw?"""
        self.touched: set[Key] = set()
        self.pending: dict[Key, Any] = {}
        self.notices: list[str] = []
        self._references: list[tuple[str, Key]] = []
        self._names = dict(event.names)

    # -- reading ------------------------------------------------------------------------------------------------------

    def get(self, *key: str) -> Any:
        """The value of a key, None where there is none."""
        self.touched.add(key)
        return self.pending[key] if key in self.pending else self.state.values.get(key)

    def parents(self, id: str) -> Strings:
        """Ids of the parents of a concept, as far as this step has come."""
        changed: Strings | None = self.get(PARENTS, id)
        if changed is not None:
            return changed
        return self.state.base.parents(id) if id in self.state.base else ()

    def exists(self, id: str) -> bool:
        """Is it a concept of the base, or a new one that has been attached?"""
        return id in self.state.base or self.get(CONCEPT, id) is not None

    def resolve(self, id: str) -> str:
        """The id under which a concept that the event names exists now.

        Raises
        ------
        Conflict
            ``gone`` where it does not exist any more and no concept has its former name.
        """
        id = self.get(ALIAS, id) or id
        name = self._names.get(id)
        if self.exists(id):
            if self.moved_on and name is not None and id in self.state.base and self.state.name(id) != name:
                self.notices.append(f"'{name}' ({id}) is called '{self.state.name(id)}' now")
            return id
        namesakes = self.state.ids_by_name.get(name, []) if self.moved_on and name else []
        if len(namesakes) == 1:
            self.notices.append(f"'{name}' has the id {namesakes[0]} now, not {id}")
            return namesakes[0]
        item: Item | None = self.get(ITEM, id)
        if item is not None:
            raise Conflict("gone", f"the new concept '{self.state.name(id)}' ({id}) has no place yet ({item.state})")
        label = f"'{name}' ({id})" if name and name != id else f"'{id}'"
        raise Conflict("gone", f"the concept {label} is not in the taxonomy")

    def concept(self) -> Concept:
        """The new concept as the event has it, or an earlier one of the same item."""
        concept = self.event.concept or self.get(CONCEPT, self.event.item) or self.get(TEXT, self.event.item)
        if concept is None:
            raise Conflict("no text", f"nothing says what the new concept '{self.event.item}' is called")
        return concept

    def is_above(self, upper: str, lower: str) -> bool:
        """Is ``upper`` the concept ``lower`` or one of its ancestors?"""
        waiting, seen = [lower], set[str]()
        while waiting:
            at = waiting.pop()
            if at == upper:
                return True
            if at not in seen:
                seen.add(at)
                waiting.extend(self.parents(at))
        return False

    # -- writing ------------------------------------------------------------------------------------------------------

    def set(self, *key: str, value: Any) -> None:
        """Set a value when the step is committed; None removes it."""
        self.touched.add(key)
        self.pending[key] = value

    def refer(self, id: str, *key: str) -> None:
        """Remember that the value of a key makes sense only while the concept ``id`` exists."""
        self.touched.add((CONCEPT, id))
        self._references.append((id, key))

    def detach(self, id: str) -> None:
        """Take a new concept out of the taxonomy; refused while something hangs from it."""
        below = {child for child in self.state.below.get(id, ()) if id in self.parents(child)}
        if below:
            child = self.state.name(min(below))
            raise Conflict("in use", f"'{child}' hangs below '{self.state.name(id)}'; move it first")
        depending = self.state.depending.get(id, set())
        synonyms = [key for key in depending if key[0] == SYNONYMS and self.get(*key) is not None]
        if synonyms:
            name = self.state.name(synonyms[0][2])
            raise Conflict("in use", f"'{name}' was made a synonym of '{self.state.name(id)}'; undo that first")
        self.touched |= depending
        self.set(CONCEPT, id, value=None)
        self.set(PARENTS, id, value=None)

    def commit(self) -> dict[Key, Any]:
        """Carry the step out.

        Returns
        -------
        dict
            What the written keys held before.
        """
        before = {key: self.state.values.get(key) for key in self.pending}
        for key, value in self.pending.items():
            self.state.restore(key, value)
        for id, key in self._references:
            self.state.depending[id].add(key)
        return before
