"""Finding concepts by the beginnings of words in their names and synonyms."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]

_WORD = re.compile(r"\w+")
_MOST_WORDS = 12  # of a query
_MOST_RANKED = 2000  # the shortest names of so many are put in order


def words(text: str) -> list[str]:
    """Words of a text in lower case and without accents."""
    return _WORD.findall(plain(text))


def plain(text: str) -> str:
    """A text as it is compared: in lower case, without accents."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))


class NameSearch:
    """An index over names and synonyms.

    Parameters
    ----------
    names
        One per concept.
    synonyms
        Further texts of each concept.
    """

    def __init__(self, names: Sequence[str], synonyms: Sequence[Sequence[str]]) -> None:
        self._names = [plain(name) for name in names]
        positions: dict[str, list[int]] = {}
        for position, (name, more) in enumerate(zip(self._names, synonyms, strict=True)):
            texts = {word for text in (name, *map(plain, more)) for word in _WORD.findall(text)}
            for word in texts:
                positions.setdefault(word, []).append(position)
        self._words = sorted(positions)
        counts = [len(positions[word]) for word in self._words]
        self._starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
        self._positions: Longs = np.array([p for word in self._words for p in positions[word]], np.int64)
        self._lengths = np.array([len(name) for name in self._names], np.int64)

    def find(self, query: str) -> list[int]:
        """Positions of concepts with a word beginning with each word of the query.

        Names that are the query come first, then those beginning with it, those holding all its words, and those
        found by a synonym; within each, short names first.
        """
        asked = words(query)[:_MOST_WORDS]
        if not asked:
            return []
        hits = self._beginning_with(asked[0])
        for word in asked[1:]:
            hits = np.intersect1d(hits, self._beginning_with(word), assume_unique=True)
        if len(hits) > _MOST_RANKED:
            shortest = np.argpartition(self._lengths[hits], _MOST_RANKED)[:_MOST_RANKED]
            hits = hits[shortest]
        text = plain(query).strip()
        return sorted(hits.tolist(), key=lambda position: self._order(position, text, asked))

    def _beginning_with(self, prefix: str) -> Longs:
        start = bisect_left(self._words, prefix)
        end = bisect_left(self._words, prefix + "\U0010ffff")
        return np.unique(self._positions[self._starts[start] : self._starts[end]])

    def _order(self, position: int, text: str, asked: list[str]) -> tuple[int, int, int]:
        name = self._names[position]
        if name == text:
            kind = 0
        elif name.startswith(text):
            kind = 1
        else:
            parts = _WORD.findall(name)
            kind = 2 if all(any(part.startswith(word) for part in parts) for word in asked) else 3
        return kind, len(name), position
