"""Paths in texts: what parts their steps, and where an id stands beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SEPARATORS = (
    ">",
    "/",
    "|",
    "::",
    "»",
    "→",
    "->",
    "=>",
    "›",
    "\\",
    ";",
    ":",
)  # where several are equally good, the first
CLEAR = frozenset((">", "::", "»", "→", "->", "=>", "›"))  # no name holds one of these
EMPTY_RANKS = frozenset(f"{rank}__" for rank in "d k sk p c o f g s t".split())  # of lineages, as QIIME writes them
SAMPLE = 2000  # texts that are tried
FEWEST = 0.3  # share of texts with more than one step
CLOSED = 0.5  # share of paths whose beginning is a path too, so that a list is believed at once
_CODE = r"[^\s>]*\d[^\s>]*|\S+://\S+"
# Ways to write an id before or behind a path. The first group of each is the id or the path, as the name says.
BEFORE = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        rf"\s*({_CODE})\s+[-–—]\s+(.+)",
        rf"\s*({_CODE})\s*:\s+(.+)",
        rf"\s*\[({_CODE})\]\s*(.+)",
        rf"\s*\(({_CODE})\)\s*(.+)",
        rf"\s*({_CODE})\s{{2,}}(.+)",
        r"\s*(\d[\w.-]*)\s*[,;]\s*(.+)",
        r"\s*(\d+)\s+(.+)",
    )
)
BEHIND = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        rf"(.+?)\s*\[({_CODE})\]\s*",
        rf"(.+?)\s*\(({_CODE})\)\s*",
        rf"(.+\S)\s+[-–—:]\s+({_CODE})\s*",
        rf"(.+\S)\s{{2,}}({_CODE})\s*",
        r"(.+\S)\s*[,;]\s*(\d[\w.-]*)\s*",
    )
)
ALMOST_ALL = 0.98
_NUMBER = re.compile(r"[-+]?[\d., ]*\d(?:[eE][-+]?\d+)?")
# What holds "/" or ":" and is no path: addresses, ids such as GO:0008150, dates, times and ratios.
_NO_PATH = re.compile(r"[A-Za-z][\w+.-]*:(?!:)\S*|[\d\s/:;|.,+-]+")
LONGEST = 400  # characters in which an id is sought beside a path; the time grows with their square


@dataclass(frozen=True, slots=True)
class PathStyle:
    """How the paths of a list are written.

    Parameters
    ----------
    separator : str
        Between the steps, without the blanks around it.
    pattern : int
        Which of `BEFORE` or `BEHIND` the ids follow; -1 where there are none.
    behind : bool
        Whether the ids stand behind the paths.
    score : float
        How well the sample fits.
    """

    separator: str
    pattern: int = -1
    behind: bool = False
    score: float = 0.0

    def split(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The id (empty where there is none) and the steps of one path."""
        id = ""
        if self.pattern >= 0 and (match := self.regex.fullmatch(text)):
            id, text = (match[2], match[1]) if self.behind else (match[1], match[2])
        return id.strip(), steps(text, self.separator)

    def split_path(self, path: str) -> tuple[str, ...]:
        """The steps of a path without an id."""
        return steps(path, self.separator)

    @property
    def regex(self) -> re.Pattern[str]:
        return (BEHIND if self.behind else BEFORE)[self.pattern]


def steps(text: str, separator: str) -> tuple[str, ...]:
    """The steps of a path without blanks around them; a separator at either end parts nothing, and a rank without a
    name (`g__`) is no step."""
    return tuple(part for part in map(str.strip, text.split(separator)) if part and part not in EMPTY_RANKS)


def recognise_style(texts: Sequence[str], separator: str | None = None, with_ids: bool = True) -> PathStyle | None:
    """How paths are written in these texts, None where they are no paths.

    Parameters
    ----------
    texts : sequence of str
        Lines of a list, or cells of a column.
    separator : str, optional
        What parts the steps, where it is stated.
    with_ids : bool
        Whether ids may stand beside the paths.
    """
    sample = [text.strip() for text in texts[:SAMPLE] if text.strip()]
    if len(sample) < 2:
        return PathStyle(separator) if separator and sample else None
    if separator is None and 2 * sum(_NO_PATH.fullmatch(text) is not None for text in sample) > len(sample):
        return None
    styles = [_scored(sample, PathStyle(char)) for char in ([separator] if separator else _present(sample))]
    for patterns, behind in ((BEFORE, False), (BEHIND, True)) if with_ids else ():
        for index, pattern in enumerate(patterns):
            matches = [match for text in sample if len(text) <= LONGEST and (match := pattern.fullmatch(text))]
            ids = {match[2 if behind else 1] for match in matches}
            if len(matches) < ALMOST_ALL * len(sample) or len(ids) < ALMOST_ALL * len(matches):
                continue
            bare = [match[1 if behind else 2] for match in matches]
            styles += [
                _scored(bare, PathStyle(char, index, behind)) for char in ([separator] if separator else _present(bare))
            ]
    best = max(styles, key=lambda style: style.score, default=None)
    if separator and best is None:
        return PathStyle(separator)
    return best if best is not None and (best.score > 0 or separator) else None


def is_believable(texts: Sequence[str], style: PathStyle) -> bool:
    """Whether a column is one of paths although nothing but its content says so.

    Addresses, units and ids hold slashes, bars and colons too. Paths differ from row to row, and their separator parts
    nothing else, has blanks around it, or parts paths that begin with each other.

    Parameters
    ----------
    texts : sequence of str
        The cells.
    style : PathStyle
        What `recognise_style` returned for them.
    """
    sample = [text for text in texts[:SAMPLE] if text]
    if 2 * len(set(sample)) < len(sample):
        return False
    several = [text for text in sample if style.separator in text]
    ends = style.separator, style.separator
    if len(ends[0]) > 1 and sum((text[:2], text[-2:]) == ends for text in several) > 0.5 * len(several):
        return False  # `::PHASE:Design::PHASE:Operation::` lists fields and values
    spaced = sum(f" {style.separator} " in text for text in several)
    if style.separator in CLEAR or spaced >= 0.8 * len(several) or style.score >= 2 * ALMOST_ALL:
        return True
    return style.separator == ";" and _are_lineages([style.split_path(text) for text in sample])


def _are_lineages(paths: Sequence[tuple[str, ...]]) -> bool:
    """Whether paths of three steps or more share few first steps, and nearly every step has the same one above it in
    all of them; words in any order have not."""
    above: dict[str, set[str]] = {}
    for path in paths:
        for upper, lower in pairwise(path):
            above.setdefault(lower, set()).add(upper)
    long = sum(len(path) > 2 for path in paths)
    begun = {path[:2] for path in paths if path}
    settled = sum(len(uppers) == 1 for uppers in above.values())
    return long >= 0.8 * len(paths) and 2 * len(begun) <= len(paths) and settled >= 0.9 * len(above)


def is_number(text: str) -> bool:
    """Whether a text is a whole or decimal number."""
    return _NUMBER.fullmatch(text) is not None


def _present(texts: Sequence[str]) -> list[str]:
    return [char for char in SEPARATORS if sum(char in text for text in texts) >= FEWEST * len(texts)]


def _scored(texts: Sequence[str], style: PathStyle) -> PathStyle:
    """Paths begin with each other, or at least share their few first steps."""
    paths = [path for text in texts if (path := steps(text, style.separator))]
    several = [path for path in paths if len(path) > 1]
    if not paths or len(several) < FEWEST * len(paths):
        return style
    whole = set(paths)
    closed = sum(path[:-1] in whole for path in several) / len(several)
    roots = len({path[0] for path in paths}) / len(paths)
    doubtful = roots > 0.4 and style.separator not in CLEAR
    if closed < CLOSED and (doubtful or len(several) < 0.8 * len(paths)):
        return style
    score = 2 * closed + len(several) / len(paths) - roots
    return PathStyle(style.separator, style.pattern, style.behind, round(max(score, 0.001), 9))
