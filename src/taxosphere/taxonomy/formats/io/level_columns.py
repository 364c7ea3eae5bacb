"""Which columns of a table are the levels of a hierarchy, by their titles or by what they hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from taxosphere.taxonomy.formats.io import titles

NAMING = frozenset(
    "name names label title titles bezeichnung titel libellé nombre nome text value preferred term".split()
)
DESCRIBING = frozenset(
    "description definition beschreibung descripción definición définition includes excludes".split()
)
EMPTY = frozenset("- – — na nan n/a #n/a null (blank) (leer)".split())  # what some put into empty cells
PREFIXED = 0.9  # share of rows that are filled from the left, and of paths that are continued from another row


@dataclass(frozen=True, slots=True)
class Levels:
    """Columns of the names on each level, outermost first, and of their codes where they have columns of their own."""

    names: list[int] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)


def find(header: Sequence[str]) -> Levels:
    """The columns whose titles say that they are levels: `Tier 1` … `Tier 4`, or `Category`, `Subcategory`.

    Parameters
    ----------
    header : sequence of str
        Titles of all columns.

    Returns
    -------
    Levels
        Empty where fewer than two columns are levels.
    """
    best = max([*_numbered(header), *_named(header)], key=len, default=[])
    if len(best) < 2:
        return Levels()
    names, codes = [], []
    for kinds in best:
        naming = kinds.get("name", kinds.get("", kinds.get("code", -1)))
        coding = kinds.get("code", kinds.get("", -1) if "name" in kinds else -1)
        names.append(naming)
        codes.append(coding if coding != naming else -1)
    return Levels(names, codes if all(code >= 0 for code in codes) else [])


def _kind(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """What a column says about its level, and the words that name the level."""
    coded = tuple(word for word in words if word not in titles.ID_WORDS and word not in DESCRIBING)
    if len(coded) < len(words) - 1 and coded and titles.ID_WORDS.intersection(words):
        return "name", coded  # what a code means: `Commodity code description level 1`
    for kind, family in (("description", DESCRIBING), ("name", NAMING), ("code", titles.ID_WORDS)):
        rest = tuple(word for word in words if word not in family)
        if len(rest) < len(words) and rest:
            return kind, rest
    return "", tuple(words)


def _numbered(header: Sequence[str]) -> Iterator[list[dict[str, int]]]:
    """Runs of columns that differ by their numbers only."""
    groups: dict[tuple[str, ...], dict[int, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for i, title in enumerate(header):
        parts = titles.numbered(title) if title else None
        if parts is None:
            continue
        kind, stem = _kind(parts[0].split())
        words = [word for word in stem if word != "#"]
        leveled = any(word in titles.PLAIN_LEVELS for word in words)
        if kind != "description" and (not words or leveled or titles.LEVEL_WORDS.issuperset(words)):
            groups[stem][parts[1]].setdefault(kind, i)
    for numbers in groups.values():
        first = min(numbers)
        run = [numbers[n] for n in range(first, first + len(numbers)) if n in numbers]
        if first <= 2 and len(run) == len(numbers) and _in_order(run):
            yield run


def _named(header: Sequence[str]) -> Iterator[list[dict[str, int]]]:
    """Columns that nest by their names."""
    columns: dict[str, dict[str, int]] = defaultdict(dict)
    for i, title in enumerate(header):
        words = titles.words(title).split()
        if words:
            kind, stem = _kind(words)
            columns[" ".join(stem)].setdefault(kind, i)
    for line in titles.LEVEL_LINES:
        run = [columns[level] for level in line if level in columns and set(columns[level]) != {"description"}]
        if len(run) > 1 and _in_order(run):
            yield run


def _in_order(run: Sequence[dict[str, int]]) -> bool:
    """Whether outer levels stand left of inner ones."""
    places = [min(i for kind, i in kinds.items() if kind != "description") for kinds in run]
    return places == sorted(places)


def shown(header: Sequence[str], levels: Levels) -> str:
    """`columns 'Tier 1' … 'Tier 4'`, for messages."""
    first, last = (
        f"'{header[i]}'" if header[i : i + 1] not in ([], [""]) else f"{i + 1}"
        for i in (levels.names[0], levels.names[-1])
    )
    return f"columns {first} … {last}"


def by_content(rows: Sequence[Sequence[str]], width: int) -> Levels | None:
    """Columns without telling titles in which rows are paths, filled from the left; None where there are none.

    Parameters
    ----------
    rows : sequence of sequences of str
        The table below its titles.
    width : int
        Number of its columns.
    """
    last = [row[width - 1].strip() if len(row) == width else "" for row in rows]
    ends = (width, width - 1) if width > 3 and all(last) and len(set(last)) == len(last) else (width,)  # ids at the end
    for end in ends:
        for start in range(min(3, end - 1)):
            cells = [[cell.strip() for cell in row[start:end]] for row in rows]
            columns = list(range(start, end))
            filled = [tuple(cell for cell in row if cell) for row in cells]
            if len({len(path) for path in filled}) > 1 and _are_paths(cells, filled):
                return Levels(columns)
            if end - start > 1 and _is_outline(cells):
                return Levels(columns)
    return None


def _are_paths(cells: Sequence[Sequence[str]], filled: Sequence[tuple[str, ...]]) -> bool:
    """Whether rows have no gaps, and nearly every path continues one that is a row too."""
    whole = sum(not any(row[len(path) :]) for row, path in zip(cells, filled, strict=True))
    several = [path for path in filled if len(path) > 1]
    rows_as_paths = set(filled)
    if whole < PREFIXED * len(filled) or not several or len(several) == len(filled):
        return False
    return sum(path[:-1] in rows_as_paths for path in several) >= PREFIXED * len(several)


def _is_outline(cells: Sequence[Sequence[str]]) -> bool:
    """Whether every row fills one cell, at most one step right of the row above, and some go right."""
    places = [[i for i, cell in enumerate(row) if cell] for row in cells]
    if any(len(place) != 1 for place in places) or not places or places[0] != [0]:
        return False
    steps = [after[0] - before[0] for before, after in pairwise(places)]
    return bool(steps) and max(steps) == 1 and len({place[0] for place in places}) > 1


def begins_with_titles(rows: Sequence[Sequence[str]], levels: Levels) -> bool:
    """Whether the first row is one of titles that are not usual: full, and repeated nowhere below."""
    first = [rows[0][i].strip() if i < len(rows[0]) else "" for i in levels.names]
    below = {row[levels.names[0]].strip() for row in rows[1:] if levels.names[0] < len(row)}
    return all(first) and len(first) > 1 and first[0] not in below
