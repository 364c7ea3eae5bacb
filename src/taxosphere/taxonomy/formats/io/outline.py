"""Trees whose entries have a name and perhaps an id, as outlines, mind maps and Newick trees do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import count

from taxosphere.taxonomy.formats.io.draft import Draft, counted


class Outline:
    """Adds the entries of a nested tree to a draft, roots first.

    A name that was there already, without an id, is another concept: its id is its path. An id that was there already
    is the same concept in a second place.

    Parameters
    ----------
    draft : Draft
        Takes the concepts and edges.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.rows: dict[str, int] = {}
        self.paths: dict[str, str] = {}
        self.numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(2))
        self.repeated = 0

    def add(
        self,
        name: str,
        parent: str | None,
        id: str = "",
        description: str = "",
        synonyms: Iterable[str] = (),
        images: Iterable[str] = (),
        extras: Iterable[tuple[str, str]] = (),
        line: int = 0,
    ) -> str:
        """Add an entry and return its id.

        Parameters
        ----------
        name : str
            Its name.
        parent : str or None
            Id of the entry that it stands in; None for a root.
        id : str
            Its id, where it has one.
        description, synonyms, images, extras
            As in `Draft.concept`.
        line : int
            Where it stands.
        """
        path = f"{self.paths[parent]} / {name}" if parent is not None else name
        if id and id in self.rows:
            self.draft.add(self.rows[id], description, synonyms, images, extras)
        else:
            id = id or self._new_id(name, path)
            self.rows[id] = len(self.draft.ids)
            self.paths[id] = path if len(path) <= 400 else f"… / {name}"
            self.draft.concept(id, name, description, synonyms, images, extras, line)
        if parent is not None:
            self.draft.edge(parent, id, line)
        return id

    def _new_id(self, name: str, path: str) -> str:
        if name not in self.rows:
            return name
        self.repeated += 1
        id = path
        while id in self.rows:
            id = f"{path} ({next(self.numbers[path])})"
        return id

    def close(self) -> None:
        """Say what was decided about repeated names."""
        if self.repeated:
            names = counted(self.repeated, "repeated name")
            self.draft.left_out(f"{names} without an id: each a concept of its own, with its path as id")
