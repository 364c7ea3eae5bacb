"""The words of a taxonomy as sparse matrices: who uses which word, and which words stand below which concept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from taxosphere.ranking.forms import Matrix
from taxosphere.ranking.words import STOP_WORDS, Reading

Floats = NDArray[np.float32]

_GRAMS = (3, 4, 5)


@dataclass(frozen=True)
class Bag:
    """A vocabulary with the weight of each word, and the seed's concepts as its bags.

    Words that no seed concept uses have no column, but their weight counts in the length of a query's bag: a query of
    mostly unknown words is similar to nothing.
    """

    columns: dict[str, int]
    weights: Floats
    unknown: float
    rows: Matrix
    """(n, words), 1 where the concept uses the word."""

    @classmethod
    def build(cls, bags: Sequence[Iterable[str]]) -> Bag:
        columns: dict[str, int] = {}
        rows, used = [], []
        for row, bag in enumerate(bags):
            for word in dict.fromkeys(bag):
                rows.append(row)
                used.append(columns.setdefault(word, len(columns)))
        shape = (len(bags), max(1, len(columns)))
        matrix = sparse.csr_array((np.ones(len(rows), np.float32), (rows, used)), shape=shape)
        frequency = np.bincount(used, minlength=shape[1])
        weights = np.log((1 + len(bags)) / (1 + frequency)) + 1e-3  # never quite zero
        return cls(columns, weights.astype(np.float32), float(np.log(1 + len(bags)) + 1e-3), matrix)

    def encode(self, bags: Sequence[Iterable[str]]) -> tuple[Matrix, Floats]:
        """Bags of queries as rows, and for each the number of words that are unknown here."""
        ends, used = [0], list[int]()
        strange = np.zeros(len(bags), np.float32)
        for row, bag in enumerate(bags):
            words = set(bag)
            known = sorted(self.columns[word] for word in words if word in self.columns)
            strange[row] = len(words) - len(known)
            used += known
            ends.append(len(used))
        return rows_of(np.ones(len(used), np.float32), used, ends, len(self.weights)), strange

    def weighted(self, rows: Matrix) -> Matrix:
        """Rows of `encode` with each word's weight in place of the one."""
        return rows_of(self.weights[rows.indices], rows.indices, rows.indptr, len(self.weights))

    def unit(self, rows: Matrix, strange: Floats | float = 0.0) -> Matrix:
        """TF-IDF rows of length one."""
        scaled = self.weighted(rows)
        owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        squared = np.bincount(owner, scaled.data**2, rows.shape[0]) + strange * self.unknown**2
        scaled.data /= np.sqrt(np.maximum(squared, 1e-12)).astype(np.float32)[owner]
        return scaled

    def total(self, rows: Matrix, strange: Floats) -> Floats:
        """Sum of the weights of each row's words."""
        summed: Floats = np.asarray(rows @ self.weights).ravel() + strange * self.unknown
        return np.maximum(summed, 1e-6)


def rows_of(data: Floats, columns: ArrayLike, ends: ArrayLike, width: int) -> Matrix:
    """A sparse matrix from its compressed rows; going through (row, column) pairs takes far longer for one query."""
    indices, indptr = np.asarray(columns, np.int32), np.asarray(ends, np.int32)
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))


def row_scaled(matrix: Matrix, factors: NDArray[np.floating]) -> Matrix:
    return sparse.csr_array(matrix * factors.astype(np.float32)[:, None])


@dataclass(frozen=True)
class Association:
    """How the seed's children of each concept use the words of a bag."""

    counts: Matrix
    """(words, n): children of the concept that use the word."""
    shares: Matrix
    """(words, n): of all uses of the word, the share below the concept; one is added to all uses."""

    @classmethod
    def build(cls, bag: Bag, children: Matrix) -> Association:
        counts = sparse.csr_array(children @ bag.rows)
        uses = np.asarray(counts.sum(0)).ravel()
        shares = sparse.csr_array(counts * (1 / (uses + 1)).astype(np.float32)[None, :])
        return cls(counts.T.tocsr(), shares.T.tocsr())


@dataclass(frozen=True)
class Stack:
    """Matrices (words, n) of several vocabularies one below the other, so that one product serves them all."""

    first: dict[str, int]
    matrix: Matrix

    @classmethod
    def of(cls, parts: Mapping[str, Matrix]) -> Stack:
        heights = [part.shape[0] for part in parts.values()]
        first = dict(zip(parts, np.cumsum([0, *heights]).tolist()))
        return cls(first, sparse.csr_array(sparse.vstack(list(parts.values()), format="csr")))

    def ask(self, rows: Mapping[str, Matrix]) -> Matrix:
        """Query rows (q, words) times the part of each name: (names · q, n), in the order of the names."""
        counts = np.concatenate([np.diff(part.indptr) for part in rows.values()])
        columns = np.concatenate([part.indices + self.first[name] for name, part in rows.items()])
        data = np.concatenate([part.data for part in rows.values()])
        return rows_of(data, columns, np.concatenate([[0], np.cumsum(counts)]), self.matrix.shape[0]) @ self.matrix


def grams(reading: Reading) -> list[str]:
    text = f" {reading.key} "
    return [text[i : i + size] for size in _GRAMS for i in range(len(text) - size + 1)]


def content(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in STOP_WORDS]


# What each bag holds of a concept. One-word bags ask "same head?", larger ones "words in common?".
BAGS: dict[str, Callable[[Reading], list[str]]] = {
    "grams": grams,
    "text": lambda r: content((*r.name, *r.body)),
    "name words": lambda r: content(r.name),
    "phrase words": lambda r: content(r.phrase),
    "name head": lambda r: [r.head_word] if r.head_word else [],
    "name start": lambda r: [r.first_word] if r.first_word else [],
    "phrase head": lambda r: [r.phrase_head] if r.phrase_head else [],
    "phrase start": lambda r: [r.phrase_start] if r.phrase_start else [],
}
SINGLE = ("name head", "name start", "phrase head", "phrase start")
SEVERAL = ("text", "name words", "phrase words")


class Lexicon:
    """Everything lexical about a seed that does not depend on a query."""

    def __init__(self, readings: Sequence[Reading], children: Matrix) -> None:
        self.bags = {name: Bag.build([take(r) for r in readings]) for name, take in BAGS.items()}
        known = {name: Association.build(self.bags[name], children) for name in (*SINGLE, *SEVERAL)}
        self.below = Stack.of(
            {f"{name} below, share": known[name].shares for name in known}
            | {f"{name} below, count": known[name].counts for name in SINGLE}
        )
        grams, text = (self.bags[name].unit(self.bags[name].rows) for name in ("grams", "text"))
        counts = np.maximum(np.asarray(children.sum(1)).ravel(), 1)
        centre = row_scaled(sparse.csr_array(children @ text), 1 / counts)
        length = np.sqrt(np.asarray(centre.multiply(centre).sum(1)).ravel())
        centre = row_scaled(centre, 1 / np.maximum(length, 1e-6))
        self.similar = Stack.of({"grams": grams.T, "text": text.T, "text, children": centre.T})
        self.places: dict[str, list[int]] = {}
        for position, reading in enumerate(readings):
            if reading.key:
                self.places.setdefault(reading.key, []).append(position)
        self.longest = min(6, max((key.count(" ") + 1 for key in self.places), default=1))
        self.shared = np.array([len(self.places.get(r.key, (0,))) for r in readings], np.float32)
