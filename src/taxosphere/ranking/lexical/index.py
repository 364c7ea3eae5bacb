"""The words of a taxonomy as sparse matrices: who uses which word, and which words stand below which concept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taxosphere.ranking.features.layout import Matrix
from taxosphere.ranking.lexical.parse import STOP_WORDS, ParsedConcept, parse_concept
from taxosphere.ranking.lexical.sparse_rows import SparseRows, stacked
from taxosphere.taxonomy import Concept

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

# Of the rules by which a text becomes words, and words become bags. Models keep the words of their seed; one that was
# written under other rules reads it anew.
VERSION = 1
_GRAMS = (3, 4, 5)
_KEYS = "keys"


@dataclass(frozen=True)
class BagOfWords:
    """A vocabulary with the weight of each word, and the seed's concepts as its bags.

    Words that no seed concept uses have no column, but their weight counts in the length of a query's bag: a query of
    mostly unknown words is similar to nothing.
    """

    columns: dict[str, int]
    weights: Floats
    unknown: float
    rows: SparseRows
    """A one where the concept uses the word."""

    @classmethod
    def build(cls, bags: Iterable[Iterable[str]]) -> BagOfWords:
        """Bags are taken one by one: those of all letter grams together would be the largest thing in memory."""
        columns: dict[str, int] = {}
        rows = SparseRows.of_ones(
            [columns.setdefault(word, len(columns)) for word in dict.fromkeys(bag)] for bag in bags
        )
        return cls.of(columns, rows)

    @classmethod
    def of(cls, columns: dict[str, int], rows: SparseRows) -> BagOfWords:
        """Weights follow from who uses which word."""
        frequency = np.bincount(rows.columns, minlength=max(1, len(columns)))
        count = len(rows.counts)
        weights = np.log((1 + count) / (1 + frequency)) + 1e-3  # never quite zero
        return cls(columns, weights.astype(np.float32), float(np.log(1 + count) + 1e-3), rows)

    def take(self, kept: Longs) -> BagOfWords:
        """What `build` makes of these concepts alone: words are numbered anew as they first appear."""
        rows = self.rows.take(kept)
        first = np.full(self.width, len(rows.columns))
        first[rows.columns[::-1]] = np.arange(len(rows.columns))[::-1]  # of several, the last one assigned stays
        used = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(rows.columns))]
        place = np.zeros(self.width, np.int32)
        place[used] = np.arange(len(used))
        words = list(self.columns)
        columns = {words[old]: new for new, old in enumerate(used.tolist())}
        return BagOfWords.of(columns, rows._replace(columns=place[rows.columns]))

    @property
    def width(self) -> int:
        return len(self.weights)

    def encode(self, bags: Sequence[Iterable[str]]) -> tuple[SparseRows, Floats]:
        """Bags of queries as rows, and for each the number of words that are unknown here."""
        words = [set(bag) for bag in bags]
        known = [sorted(self.columns[word] for word in own if word in self.columns) for own in words]
        strange = np.array([len(own) - len(used) for own, used in zip(words, known, strict=True)], np.float32)
        return SparseRows.of_ones(known), strange

    def unit(self, rows: SparseRows, strange: Floats | float = 0.0) -> SparseRows:
        """TF-IDF rows of length one."""
        weights = self.weights[rows.columns]
        squared = rows.sums(weights**2) + strange * self.unknown**2
        return rows._replace(data=weights / rows.spread(np.sqrt(np.maximum(squared, 1e-12))))

    def mean(self, values: Floats, usual: float) -> Floats:
        """Of each word, the mean of ``values`` (n,) over the concepts that use it and one more, which has the usual."""
        uses = np.bincount(self.rows.columns, minlength=self.width)
        total = np.bincount(self.rows.columns, self.rows.spread(values), minlength=self.width)
        return np.asarray((total + usual) / (uses + 1), np.float32)

    def share(self, rows: SparseRows, strange: Floats) -> SparseRows:
        """The share of each word in the weight of its row."""
        weights = self.weights[rows.columns]
        total = rows.sums(weights) + strange * self.unknown
        return rows._replace(data=weights / rows.spread(np.maximum(total, 1e-6)))


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
    def build(cls, bag: BagOfWords, children: Matrix) -> Association:
        counts = sparse.csr_array(children @ bag.rows.matrix(bag.width))
        uses = np.asarray(counts.sum(0)).ravel()
        shares = sparse.csr_array(counts * (1 / (uses + 1)).astype(np.float32)[None, :])
        return cls(counts.T.tocsr(), shares.T.tocsr())


@dataclass(frozen=True)
class StackedMatrix:
    """Matrices (words, n) of several vocabularies one below the other, so that one product serves them all."""

    first: dict[str, int]
    matrix: Matrix

    @classmethod
    def of(cls, parts: Mapping[str, Matrix]) -> StackedMatrix:
        heights = [part.shape[0] for part in parts.values()]
        first = dict(zip(parts, np.cumsum([0, *heights]).tolist()))
        return cls(first, sparse.csr_array(sparse.vstack(list(parts.values()), format="csr")))

    def ask(self, rows: Mapping[str, SparseRows]) -> Matrix:
        """Query rows (q, words) times the part of each name: (names · q, n), in the order of the names."""
        asked = stacked(list(rows.values()), [self.first[name] for name in rows])
        return asked.matrix(self.matrix.shape[0]) @ self.matrix


def grams(reading: ParsedConcept) -> list[str]:
    texts = [f" {name.key} " for name in reading.names]
    return [text[i : i + size] for text in texts for size in _GRAMS for i in range(len(text) - size + 1)]


def content(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in STOP_WORDS]


# What each bag holds of a concept. One-word bags ask "same head?", larger ones "words in common?".
BAGS: dict[str, Callable[[ParsedConcept], list[str]]] = {
    "grams": grams,
    "text": lambda r: content((*r.called, *r.body)),
    "name words": lambda r: content(r.called),
    "phrase words": lambda r: content(r.phrase),
    "name head": lambda r: [r.head_word] if r.head_word else [],
    "name start": lambda r: [r.first_word] if r.first_word else [],
    "phrase head": lambda r: [r.phrase_head] if r.phrase_head else [],
    "phrase start": lambda r: [r.phrase_start] if r.phrase_start else [],
}
PHRASE = ("phrase head", "phrase start")  # one of them says what a thing is, the other what a verb is
SINGLE = ("name head", "name start", *PHRASE)
SEVERAL = ("text", "name words", "phrase words")


@dataclass(frozen=True)
class ConceptTokens:
    """The words of concepts without what they hang below: read once, and valid for any part of them.

    A bag holds no order of words, so the keys of all names are a bag of their own; ``lengths`` (n,) counts the words of
    the name proper.
    """

    bags: dict[str, BagOfWords]
    keys: BagOfWords
    lengths: Longs

    @classmethod
    def of(cls, concepts: Iterable[Concept]) -> ConceptTokens:
        parsed = list(map(parse_concept, concepts))
        bags = {name: BagOfWords.build(map(take, parsed)) for name, take in BAGS.items()}
        keys = BagOfWords.build([name.key for name in reading.names if name.words] for reading in parsed)
        return cls(bags, keys, np.array([len(reading.name) for reading in parsed], np.int64))

    def take(self, kept: Longs) -> ConceptTokens:
        bags = {name: bag.take(kept) for name, bag in self.bags.items()}
        return ConceptTokens(bags, self.keys.take(kept), self.lengths[kept])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """For an artifact: words, which hold no line breaks, one to a line in the order of their columns."""
        arrays: dict[str, NDArray[Any]] = {"lengths": self.lengths}
        for name, bag in (*self.bags.items(), (_KEYS, self.keys)):
            words = np.frombuffer("\n".join(bag.columns).encode(), np.uint8)
            arrays |= {f"{name}.words": words, f"{name}.columns": bag.rows.columns, f"{name}.ends": bag.rows.ends}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> ConceptTokens:
        def bag(name: str) -> BagOfWords:
            words = arrays[f"{name}.words"].tobytes().decode()
            used = arrays[f"{name}.columns"]
            rows = SparseRows(np.ones(len(used), np.float32), used, arrays[f"{name}.ends"])
            return BagOfWords.of({word: column for column, word in enumerate(words.split("\n") if words else ())}, rows)

        return cls({name: bag(name) for name in BAGS}, bag(_KEYS), arrays["lengths"])

    def places(self) -> dict[str, list[int]]:
        """The concepts that bear each name."""
        rows = self.keys.rows
        owner = np.repeat(np.arange(len(rows.counts)), rows.counts)
        order = np.argsort(rows.columns, kind="stable")
        bearers, ends = owner[order].tolist(), np.cumsum(np.bincount(rows.columns, minlength=self.keys.width)).tolist()
        return {key: bearers[start:end] for key, start, end in zip(self.keys.columns, [0, *ends], ends)}

    def shared(self) -> Floats:
        """How many concepts bear the name of each, itself among them."""
        rows = self.keys.rows
        bearers = np.bincount(rows.columns, minlength=self.keys.width)
        found = np.ones(len(self.lengths), np.float32)
        named = np.flatnonzero(self.lengths)
        found[named] = bearers[rows.columns[rows.ends[named]]]  # its own name comes before its synonyms
        return found


class LexicalIndex:
    """Everything lexical about a seed that does not depend on a query."""

    def __init__(self, tokens: ConceptTokens, children: Matrix) -> None:
        self.bags = tokens.bags
        known = {name: Association.build(self.bags[name], children) for name in (*SINGLE, *SEVERAL)}
        self.below = StackedMatrix.of(
            {f"{name} below, share": known[name].shares for name in known}
            | {f"{name} below, count": known[name].counts for name in SINGLE}
        )
        grams, text = (bag.unit(bag.rows).matrix(bag.width) for bag in (self.bags["grams"], self.bags["text"]))
        counts = np.maximum(np.asarray(children.sum(1)).ravel(), 1)
        centre = row_scaled(sparse.csr_array(children @ text), 1 / counts)
        length = np.sqrt(np.asarray(centre.multiply(centre).sum(1)).ravel())
        centre = row_scaled(centre, 1 / np.maximum(length, 1e-6))
        self.similar = StackedMatrix.of({"grams": grams.T, "text": text.T, "text, children": centre.T})
        self.places = tokens.places()
        self.longest = min(6, max((key.count(" ") + 1 for key in self.places), default=1))
        self.shared = tokens.shared()
