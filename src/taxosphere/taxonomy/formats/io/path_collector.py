"""Concepts from paths: a concept is its path, for many branches have an "Accessories"; or its name, by choice."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from taxosphere.taxonomy.formats.io.draft import Draft, counted

JOINED = " > "  # steps of the path that is the id of a concept without one
LARGEST = 200_000  # concepts, up to which repeated branches are searched
PROPOSED = 0.02  # share of concepts in repeated branches above which merging is proposed

Details = tuple[str, Iterable[str], Iterable[str], Iterable[tuple[str, str]]]
Path = tuple[str, ...]


class PathCollector:
    """Fills a draft from rows that are paths.

    Parameters
    ----------
    draft : Draft
        Where concepts and edges go.
    merge : bool
        Concepts of the same name are one.
    with_ids : bool
        Whether rows have ids; they wait for `finish` then, for an id may come after the first mention of a path.
    """

    def __init__(self, draft: Draft, merge: bool, with_ids: bool = False) -> None:
        self.draft = draft
        self.merge = merge
        self.with_ids = with_ids
        self.rows: list[tuple[Path, Sequence[str], int, Details | None]] = []
        self.explicit: dict[Path, str] = {}
        self.taken: set[str] = set()
        self.positions: dict[str, int] = {}  # of ids in the draft
        self.ids: dict[Path, str] = {}
        self.links: set[tuple[str, str]] = set()
        self.ends: set[str] = set()  # ids of the last steps of rows
        self.repeated = 0

    def add(self, path: Path, ids: Sequence[str], line: int, details: Details | None = None) -> None:
        """Take one row: its path, the ids of the last steps of it (empty where it has none), its line, and what else it
        says about the last step."""
        if self.with_ids:
            self.rows.append((path, ids, line, details))
        else:
            self._take(path, line, details)

    def finish(self) -> None:
        """Make concepts and edges of the rows that wait, and say what there is to say."""
        others = 0
        for path, ids, _, _ in self.rows:
            for depth, id in enumerate(ids, len(path) - len(ids) + 1):
                if id:
                    others += self.explicit.setdefault(self._key(path[:depth]), id) != id
        self.taken |= set(self.explicit.values())
        for path, _, line, details in self.rows:
            self._take(path, line, details)
        if self.repeated:
            self.draft.notes.append(f"{counted(self.repeated, 'row')} with the path of another row, joined with it")
        if others:
            self.draft.left_out(f"{counted(others, 'id')} of paths that have another id already")
        if not self.merge and len(self.draft.ids) <= LARGEST:
            self._propose_merging()

    def only_leaves(self) -> bool:
        """Whether concepts that have children have no row of their own."""
        return self.ends.isdisjoint(self.draft.parents)

    def _take(self, path: Path, line: int, details: Details | None) -> None:
        id = self._place(path, line)
        self.repeated += id in self.ends
        self.ends.add(id)
        if details is not None:
            self.draft.add(self.positions[id], *details)

    def _key(self, path: Path) -> Path:
        return path[-1:] if self.merge else path

    def _place(self, path: Path, line: int) -> str:
        """Concepts for all steps of a path that have none yet, and the edges between them; returns the last id."""
        start = 0 if self.merge else len(path)
        while start and path[:start] not in self.ids:
            start -= 1
        above = self.ids[path[:start]] if start else ""
        tree = not self.merge and not self.explicit  # then every new step is a new edge
        for depth in range(start + 1, len(path) + 1):
            key = self._key(path[:depth])
            id = self.ids.get(key, "")
            if not id:
                id = self.ids[key] = self.explicit.get(key) or self._path_id(key)
                self._concept(id, path[depth - 1], line)
            if above and (tree or ((above, id) not in self.links and above != id)):
                if not tree:
                    self.links.add((above, id))
                self.draft.edge(above, id, line)
            above = id
        return above

    def _concept(self, id: str, name: str, line: int) -> None:
        row = self.positions.setdefault(id, len(self.draft.ids))
        if row == len(self.draft.ids):
            self.draft.concept(id, name, line=line)
        elif self.draft.names[row] != name:
            first = self.draft.names[row]
            text = f"the id '{id[:60]}' is '{name[:60]}' here and '{first[:60]}' in line {self.draft.lines[row]}"
            self.draft.faults.append(("contradictory columns", line, text))

    def _path_id(self, key: Path) -> str:
        id = JOINED.join(key)
        while id in self.taken or id in self.positions:
            id += " "
        return id

    def _propose_merging(self) -> None:
        """Say where whole branches are repeated."""
        below: defaultdict[str, list[str]] = defaultdict(list)
        for parent, child in zip(self.draft.parents, self.draft.children, strict=True):
            below[parent].append(child)
        shapes: dict[str, int] = {}
        numbers: dict[tuple[str, tuple[int, ...]], int] = {}
        sizes: dict[str, int] = {}
        for id in sorted(self.ids.values(), key=_depths(self.ids).__getitem__, reverse=True):
            name = self.draft.names[self.positions[id]]
            shape = (name, tuple(sorted(shapes.get(child, -1) for child in below[id])))
            shapes[id] = numbers.setdefault(shape, len(numbers))
            sizes[id] = 1 + sum(sizes.get(child, 1) for child in below[id])
        uses = Counter(shapes.values())
        branches = [id for id in self.ids.values() if below[id] and uses[shapes[id]] > 1]
        if len(branches) < 2 or len(branches) < PROPOSED * len(self.draft.ids):
            return
        largest = max(branches, key=lambda id: sizes[id])
        name, merged = self.draft.names[self.positions[largest]], len(set(self.draft.names))
        self.draft.notes.append(
            f"whole branches are repeated, such as '{name}' ({uses[shapes[largest]]} times); "
            f"--merge names makes concepts of the same name one ({merged:,} instead of {len(self.draft.ids):,})"
        )


def _depths(ids: dict[Path, str]) -> dict[str, int]:
    return {id: len(path) for path, id in ids.items()}
