"""Ids for new concepts, in the style of those that are there: the next number, a slug, or the name itself."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count, groupby

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.obo import kept_ids
from taxosphere.taxonomy.graph import Taxonomy

_SAMPLE = 500  # ids are enough to tell how most are made
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})", re.DOTALL)
_PREFIXED = re.compile(r"[A-Za-z]\w*:\S+")
_COUNTER = re.compile(r"([^{}]*)\{([0-9]{1,2})\}([^{}]*)")
_MOST_DIGITS = 18
_LEAST_PREFIX = 0.1  # of the ids share the prefix of a number; codes that nest have one each


@dataclass(frozen=True, slots=True)
class Numbers:
    """Ids that are a prefix, a number and perhaps a suffix; ``width`` is that of zero-padded numbers, else 0."""

    prefix: str
    width: int
    first: int
    last: int | None = None
    suffix: str = ""

    def spell(self, number: int) -> str:
        """The id with this number."""
        return f"{self.prefix}{number:0{self.width}d}{self.suffix}"

    def number(self, id: str) -> int | None:
        """The number of an id of this kind, else None."""
        digits = id[len(self.prefix) : len(id) - len(self.suffix)]
        fits = id.startswith(self.prefix) and id.endswith(self.suffix) and digits.isascii() and digits.isdigit()
        return int(digits) if fits and 0 < len(digits) <= _MOST_DIGITS else None


@dataclass(frozen=True, slots=True)
class Slugs:
    """Ids made of the words of a name behind a namespace; with ``make`` None the name itself."""

    space: str
    between: str
    make: Callable[[list[str]], list[str]] | None

    def spell(self, name: str) -> str:
        """The id of a concept of this name, as long as no other has it."""
        parts = words(name)
        if self.make is None:
            return name.strip() or "concept"
        return self.space + (self.between.join(self.make(parts)) or "concept")


Style = Numbers | Slugs


class IdMinter:
    """Makes ids for new concepts, each once.

    Parameters
    ----------
    style
        How ids are made: `style_of` a taxonomy, or `parse_pattern`.
    taken
        Tells whether an id is in use.
    used
        Ids in use that may lie in the range of a pattern; numbers go on above the highest of them.
    """

    def __init__(self, style: Style, taken: Callable[[str], bool], used: Iterable[str] = ()) -> None:
        self._style = style
        self._taken = taken
        self._minted: set[str] = set()
        self._numbers_used: dict[str, int] = {}  # of ids that several concepts would have: the highest so far
        if isinstance(style, Numbers):
            numbers = [number for id in used if (number := style.number(id)) is not None]
            inside = [number for number in numbers if style.first <= number <= (style.last or number)]
            self._candidates = _numbers(style, max(inside, default=style.first - 1) + 1)

    def mint(self, name: str) -> str:
        """A new id for a concept of this name; `InputError` where the range of the pattern is used up."""
        style = self._style
        if isinstance(style, Slugs):
            id = self._suffixed(style.spell(name))
        else:
            free = next((id for id in self._candidates if self._is_free(id)), None)
            if free is None:
                assert style.last is not None
                last = style.spell(style.last)
                raise InputError(f"all ids from {style.spell(style.first)} to {last} are used; name another range")
            id = free
        self._minted.add(id)
        return id

    def _is_free(self, id: str) -> bool:
        return not self._taken(id) and id not in self._minted

    def _suffixed(self, id: str) -> str:
        """The id, or else with the next free number behind it."""
        if id not in self._numbers_used and self._is_free(id):
            return id
        first = self._numbers_used.get(id, 1) + 1  # from 2 again each time would take the square of the time
        number = next(number for number in count(first) if self._is_free(f"{id}_{number}"))
        self._numbers_used[id] = number
        return f"{id}_{number}"


def _numbers(style: Numbers, start: int) -> Iterator[str]:
    """Above the highest first; where a range ends, what is free below."""
    if style.last is None:
        return map(style.spell, count(start))
    return map(style.spell, chain(range(start, style.last + 1), range(style.first, start)))


def parse_pattern(pattern: str) -> Style:
    """What a user asks for in place of the style of the taxonomy.

    Parameters
    ----------
    pattern
        ``GO:9{6}`` is GO:9 and six digits more; ``GO:0500000..GO:0599999`` is a range; ``ex:{name}`` is made of the
        words of the name.

    Raises
    ------
    InputError
        Where it is none of these.
    """
    if ".." in pattern:
        ends = [_NUMBERED.fullmatch(part.strip()) for part in pattern.split("..", 1)]
        if ends[0] and ends[1] and ends[0][1] == ends[1][1] and int(ends[0][2]) <= int(ends[1][2]):
            low, high = ends[0][2], ends[1][2]
            width = len(low) if low.startswith("0") or len(low) == len(high) else 0
            return Numbers(ends[0][1], width, int(low), int(high))
    elif pattern.count("{name}") == 1 and pattern.endswith("{name}"):
        return Slugs(pattern.removesuffix("{name}"), "_", list)
    elif (match := _COUNTER.fullmatch(pattern)) and 0 < int(match[2]) <= _MOST_DIGITS:
        return Numbers(match[1], int(match[2]), 0, 10 ** int(match[2]) - 1, match[3])
    hint = "write GO:9{6} for six digits, GO:0500000..GO:0599999 for a range, or ex:{name}"
    raise InputError(f"no ids can be made in the pattern '{pattern}'; {hint}")


@lru_cache(maxsize=2)  # every suggestion asks
def style_of(taxonomy: Taxonomy) -> Style:
    """How most ids of a taxonomy are made."""
    return style_of_ids(taxonomy.ids, taxonomy.names, kept_ids(taxonomy))


def style_of_ids(ids: Sequence[str], names: Sequence[str], others: Iterable[str] = ()) -> Style:
    """How most ids are made.

    Parameters
    ----------
    ids, names
        Of the concepts.
    others
        Ids that are in use besides, such as former ones: numbers go on above these too.
    """
    step = 1 + len(ids) // _SAMPLE
    sample = list(zip(ids[::step], names[::step], strict=True))
    if 2 * sum(id == name for id, name in sample) >= len(sample):
        return Slugs("", " ", None)
    numbered = [match[1] for id, _ in sample if (match := _NUMBERED.fullmatch(id))]
    prefix, often = Counter(numbered).most_common(1)[0] if numbered else ("", 0)
    if 2 * len(numbered) > len(sample) and often >= _LEAST_PREFIX * len(sample):
        return _numbering(prefix, chain(ids, others))
    space = namespace([id for id, _ in sample])
    styles = [Slugs(space, between, make) for between in "_-" for make in (list, _lower)]
    styles += [Slugs(space, "", _camel), Slugs("", "-", _lower), Slugs("", "_", _lower)]
    fits = [sum(style.spell(name) == id for id, name in sample) for style in styles]
    best = max(range(len(styles)), key=lambda i: fits[i])
    if fits[best] * 2 > len(sample):
        return styles[best]
    return styles[0] if space else Slugs("", " ", None)


def _numbering(prefix: str, ids: Iterable[str]) -> Numbers:
    rests = (id[len(prefix) :] for id in ids if id.startswith(prefix))
    digits = [rest for rest in rests if rest.isascii() and rest.isdigit() and len(rest) <= _MOST_DIGITS]
    widths = Counter(map(len, digits))
    padded = len(widths) == 1 or any(text.startswith("0") and len(text) > 1 for text in digits)
    return Numbers(prefix, widths.most_common(1)[0][0] if padded else 0, max(map(int, digits)) + 1)


def namespace(ids: Sequence[str]) -> str:
    """What most ids begin with: the way to a part of an IRI, or a prefix; nothing where most are plain."""
    spaces = Counter(map(_space, ids)).most_common(1)
    return spaces[0][0] if spaces else ""


def _space(id: str) -> str:
    if "://" in id:
        return id[: max(id.rfind("/"), id.rfind("#")) + 1]
    return id[: id.index(":") + 1] if _PREFIXED.fullmatch(id) else ""


def words(name: str) -> list[str]:
    """Runs of letters, digits and the marks that belong to them."""
    runs = groupby(name, key=lambda char: unicodedata.category(char)[0] in "LNM")
    return ["".join(run) for inside, run in runs if inside]


def _lower(parts: list[str]) -> list[str]:
    return [part.lower() for part in parts]


def _camel(parts: list[str]) -> list[str]:
    return [part[:1].upper() + part[1:] for part in parts]
