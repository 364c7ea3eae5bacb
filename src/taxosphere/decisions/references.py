"""How people name concepts in a table: by id, by name, or as ``name (id)``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy

SEPARATOR = "|"
_LABEL = re.compile(r".*\((.+)\)", re.DOTALL)
_CLOSE = 0.8  # how much of two names must agree for one to be proposed
_SHOWN = 4  # of the concepts that share a name


class References:
    """Finds the concept that a person means.

    Parameters
    ----------
    taxonomy
        The existing concepts.
    new
        (id, name) of new concepts that may be named as well.
    """

    def __init__(self, taxonomy: Taxonomy, new: Iterable[tuple[str, str]] = ()) -> None:
        self._names: dict[str, str] = dict(zip(taxonomy.ids, taxonomy.names, strict=True))
        self._names.update(new)
        self._by_name: dict[str, list[str]] = {}
        self._by_plain_name: dict[str, list[str]] = {}
        for id, name in self._names.items():
            self._by_name.setdefault(name, []).append(id)
            self._by_plain_name.setdefault(_plain(name), []).append(id)

    def label(self, id: str) -> str:
        """The shortest text that `resolve` takes for this concept and a person understands."""
        name = self._names.get(id, "")
        if self._candidates(name) == [id] and SEPARATOR not in name and name == name.strip():
            return name
        label = f"{name} ({id})" if name and SEPARATOR not in name else id
        return label if self._candidates(label) == [id] else id

    def find(self, text: str) -> str:
        """The id of the one concept that a text names, empty where there is none or more than one."""
        candidates = self._candidates(text.strip())
        return candidates[0] if len(candidates) == 1 else ""

    def resolve(self, text: str) -> str:
        """The id of the concept that a text names.

        Raises
        ------
        InputError
            Where no concept or more than one is called so.
        """
        candidates = self._candidates(text.strip())
        if len(candidates) == 1:
            return candidates[0]
        if not candidates:
            near = get_close_matches(_plain(text), self._by_plain_name, 1, _CLOSE)
            hint = f"; is it '{self._names[self._by_plain_name[near[0]][0]]}'?" if near else ""
            raise InputError(f"no concept is called '{text.strip()}' or has this id{hint}")
        shown = ", ".join(f"{self._names[id]} ({id})" for id in candidates[:_SHOWN])
        more = f" and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
        raise InputError(f"{len(candidates)} concepts are called '{text.strip()}': {shown}{more}; write the id")

    def resolve_all(self, cell: str) -> tuple[str, ...]:
        """The ids of the concepts in one cell, separated by ``|``."""
        text = cell.strip()
        if not text:
            return ()
        parts = [text] if self._candidates(text) else [part for part in text.split(SEPARATOR) if part.strip()]
        return tuple(dict.fromkeys(map(self.resolve, parts)))

    def names(self, ids: Iterable[str]) -> Iterator[tuple[str, str]]:
        """(id, name) of concepts."""
        return ((id, self._names.get(id, id)) for id in ids)

    def _candidates(self, text: str) -> list[str]:
        if text in self._names:
            return [text]
        label = _LABEL.fullmatch(text)
        if label and label[1] in self._names and text not in self._by_name:
            return [label[1]]
        return self._by_name.get(text) or self._by_plain_name.get(_plain(text), [])


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())
