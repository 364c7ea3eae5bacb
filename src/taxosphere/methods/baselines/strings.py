"""Similarity of names and of definitions, for arrays of pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from taxosphere.taxonomy import Concept
from taxosphere.typing import Floats

NAME_FEATURES = ("ends with", "contains", "common suffix", "longest common substring", "length difference")
TEXT_FEATURES = ("parent's name in the definition", "name in the parent's definition", "definitions alike")
_LONGEST = 48  # characters kept of a name, counted from its end
_SUFFIX = 7  # a common suffix counts up to here
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Names:
    """Names as code points, last character first, so that suffixes line up; 0 fills the rest."""

    codes: NDArray[np.int32]  # (n, longest)
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str]) -> Names:
        cut = [name.lower()[::-1][:_LONGEST] for name in names]
        codes = np.zeros((len(cut), _LONGEST), np.int32)
        for row, name in enumerate(cut):
            codes[row, : len(name)] = [ord(character) for character in name]
        return cls(codes, np.array([len(name) for name in cut], np.int64))

    def __getitem__(self, rows: NDArray[np.integer]) -> Names:
        return Names(self.codes[rows], self.lengths[rows])


def name_features(query: Names, parent: Names) -> Floats:
    """(pairs, 5) for aligned pairs, or for one query with many parents."""
    same = (query.codes == parent.codes) & (parent.codes > 0)
    suffix = np.cumprod(same, axis=1).sum(1)
    common = longest_common_substring(query, parent)
    total = np.maximum(1, query.lengths + parent.lengths)
    columns = (
        suffix == parent.lengths,
        common == parent.lengths,
        np.minimum(suffix, _SUFFIX) / _SUFFIX,
        2 * common / total,
        2 * (query.lengths - parent.lengths) / total,
    )
    return np.stack(np.broadcast_arrays(*columns), axis=1).astype(np.float32)


def longest_common_substring(left: Names, right: Names) -> NDArray[np.int64]:
    """Length per pair: run[j] is the length of the match that ends at left[i], right[j]."""
    width = max(1, int(right.lengths.max(initial=1)))
    target = np.ascontiguousarray(right.codes[:, :width].T)  # (characters, pairs)
    run = np.zeros((width + 1, target.shape[1]), np.uint8)
    best = np.zeros((width, target.shape[1]), np.uint8)
    for i in range(int(left.lengths.max(initial=0))):
        character = left.codes[:, i]
        run[1:] = (run[:-1] + np.uint8(1)) * ((target == character) & (character > 0))
        np.maximum(best, run[1:], out=best)
    longest: NDArray[np.int64] = best.max(0).astype(np.int64)
    return longest


class Definitions:
    """Words of names and descriptions of a seed, weighted by how rare they are there."""

    def __init__(self, concepts: Sequence[Concept]) -> None:
        texts = [_words(concept.description) for concept in concepts]
        counts = Counter(word for words in texts for word in words)
        for concept in concepts:
            counts.update(_words(concept.name) - counts.keys())
        # Sets of strings come in another order in every process, and sums over columns would differ in their last bits.
        self._column = {word: i for i, word in enumerate(sorted(counts))}
        self._rarity = np.log((1 + len(texts)) / np.array([counts[word] for word in self._column], np.float32))

    def matrices(self, concepts: Sequence[Concept]) -> tuple[csr_array, csr_array, csr_array]:
        """Per concept: share of each word in its name, its description's words, those as a weighted unit vector."""
        names = self._matrix([_words(concept.name) for concept in concepts], shares=True)
        words = self._matrix([_words(concept.description) for concept in concepts])
        weighted = words * self._rarity[None]
        length = np.sqrt((weighted * weighted).sum(1))
        return names, words, csr_array(weighted / np.maximum(length, 1e-9)[:, None])

    def _matrix(self, rows: Sequence[set[str]], shares: bool = False) -> csr_array:
        columns = [sorted(self._column[word] for word in words if word in self._column) for words in rows]
        indptr = np.cumsum([0, *map(len, columns)])
        indices = np.array([column for row in columns for column in row], np.int64)
        weight = [1 / max(1, len(words)) if shares else 1.0 for words in rows]
        data = np.repeat(np.array(weight, np.float32), [len(row) for row in columns])
        return csr_array((data, indices, indptr), shape=(len(rows), len(self._column)))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


Texts = tuple[csr_array, csr_array, csr_array]


def text_features(query: Texts, parent: Texts) -> Floats:
    """(pairs, 3) for aligned rows of `Definitions.matrices`."""
    pairs = ((query[1], parent[0]), (query[0], parent[1]), (query[2], parent[2]))
    return np.stack([np.asarray((a * b).sum(1), np.float32).ravel() for a, b in pairs], axis=1)


def all_text_features(query: Texts, parent: Texts) -> Floats:
    """(queries, parents, 3)"""
    pairs = ((query[1], parent[0]), (query[0], parent[1]), (query[2], parent[2]))
    return np.stack([(a @ b.T).toarray() for a, b in pairs], axis=2)
