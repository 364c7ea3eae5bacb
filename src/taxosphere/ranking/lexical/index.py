"""The words of a taxonomy as sparse matrices: who uses which word, and which words the children of each use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taxosphere.ranking.features.pool import SparseRows, stack_rows
from taxosphere.ranking.lexical.parse import STOP_WORDS, ParsedConcept
from taxosphere.taxonomy.string_column import RenumberedWords
from taxosphere.typing import Booleans, Floats, Longs, Matrix

if TYPE_CHECKING:
    from taxosphere.ranking.lexical.tokens import ConceptTokens

# Version of the rules by which texts become words and words become bags. Models store the words of their taxonomy; a
# model written under other rules parses its taxonomy again.
VERSION = 2
_GRAMS = (3, 4, 5)  # lengths of the runs of letters by which spellings are compared


class EncodedBags(NamedTuple):
    """Bags of queries: ``rows`` (q, words) of ones, and how many words of each are not in the vocabulary (q,)."""

    rows: SparseRows
    n_unknown: Floats


@dataclass(frozen=True)
class BagOfWords:
    """A vocabulary with inverse document frequencies, and the concepts of a taxonomy as bags over it.

    Words that no concept uses have no column, but they count in the length of a query's bag: a query of mostly unknown
    words is similar to nothing.

    Attributes
    ----------
    columns
        Column of each word.
    weights
        (words,) inverse document frequencies.
    unknown_weight
        That of a word that no concept uses.
    rows
        (n, words): 1 where the concept uses the word.
    """

    columns: Mapping[str, int]
    weights: Floats
    unknown_weight: float
    rows: SparseRows

    @classmethod
    def from_rows(cls, columns: Mapping[str, int], rows: SparseRows) -> BagOfWords:
        """From a vocabulary and the bags over it; the weights follow from them."""
        frequency = np.bincount(rows.columns, minlength=max(1, len(columns)))
        count = len(rows.counts)
        weights = np.log((1 + count) / (1 + frequency)) + 1e-3  # never quite zero
        return cls(columns, weights.astype(np.float32), unknown_weight(count), rows)

    def take(self, kept: Longs) -> BagOfWords:
        """The bags of these concepts alone; words are numbered in the order of their first use."""
        rows = self.rows.take(kept)
        first_use = np.full(self.width, len(rows.columns))
        first_use[rows.columns[::-1]] = np.arange(len(rows.columns))[::-1]  # of several uses, the last one assigned
        used = np.argsort(first_use, kind="stable")[: np.count_nonzero(first_use < len(rows.columns))]
        place = np.full(self.width, -1, np.int32)
        place[used] = np.arange(len(used))
        words = self.columns
        part = words.take(place) if isinstance(words, RenumberedWords) else RenumberedWords(words, place)
        return BagOfWords.from_rows(part, rows._replace(columns=place[rows.columns]))

    @property
    def width(self) -> int:
        """Size of the vocabulary, at least 1."""
        return len(self.weights)

    def encode(self, bags: Sequence[Iterable[str]]) -> EncodedBags:
        """Bags of queries over this vocabulary."""
        words = [set(bag) for bag in bags]
        find = self.columns.get
        columns = [sorted([column for column in map(find, bag) if column is not None]) for bag in words]
        n_unknown = [len(bag) - len(row) for bag, row in zip(words, columns, strict=True)]
        return EncodedBags(SparseRows.of_ones(columns), np.array(n_unknown, np.float32))

    def unit_rows(self, rows: SparseRows, n_unknown: Floats | float = 0.0) -> SparseRows:
        """TF-IDF rows of length one; unknown words count in the length."""
        weights = self.weights[rows.columns]
        squared = rows.sums(weights**2) + n_unknown * self.unknown_weight**2
        return rows._replace(data=weights / rows.repeat(np.sqrt(np.maximum(squared, 1e-12))))

    def weight_shares(self, rows: SparseRows, n_unknown: Floats) -> SparseRows:
        """The share of each word in the total weight of its row; unknown words count in the total."""
        weights = self.weights[rows.columns]
        total = rows.sums(weights) + n_unknown * self.unknown_weight
        return rows._replace(data=weights / rows.repeat(np.maximum(total, 1e-6)))

    def mean_by_word(self, values: Floats, default: float) -> Floats:
        """(words,) mean of ``values`` (n,) over the concepts that use each word and one more with the default value."""
        uses = np.bincount(self.rows.columns, minlength=self.width)
        total = np.bincount(self.rows.columns, self.rows.repeat(values), minlength=self.width)
        return np.asarray((total + default) / (uses + 1), np.float32)


def unknown_weight(n_concepts: int) -> float:
    """Inverse document frequency of a word that none of the concepts uses."""
    return float(np.log(1 + n_concepts) + 1e-3)


@dataclass(frozen=True)
class StackedMatrix:
    """Matrices (words, n) of several vocabularies, one below the other, so that one product serves them all."""

    first_rows: dict[str, int]
    matrix: Matrix

    @classmethod
    def stack(cls, parts: Mapping[str, Matrix]) -> StackedMatrix:
        """Stack the parts in their order."""
        heights = [part.shape[0] for part in parts.values()]
        first_rows = dict(zip(parts, np.cumsum([0, *heights]).tolist()))
        return cls(first_rows, sparse.csr_array(sparse.vstack(list(parts.values()), format="csr")))

    def arrange(self, rows: Mapping[str, SparseRows]) -> SparseRows:
        """Rows (q, words) by name as rows (q · names, all words) over the whole stack, those of a query together.

        Times the matrix, each row is multiplied by the part of its name.
        """
        by_name = stack_rows(list(rows.values()), [self.first_rows[name] for name in rows])
        if len(by_name.counts) == len(rows):  # of a single query
            return by_name
        by_query = np.arange(len(by_name.counts)).reshape(len(rows), -1).T.ravel()
        return by_name.take(by_query)

    def rarest(self, rows: SparseRows, most: Longs) -> Booleans:
        """(e,) which entries of ``rows`` (r, words) are multiplied if ``most`` (r,) values of the matrix are read.

        The words that fewest concepts use come first.
        """
        uses = self.matrix.indptr[rows.columns + 1] - self.matrix.indptr[rows.columns]
        row = np.repeat(np.arange(len(rows.counts)), rows.counts)
        order = np.lexsort((uses, row))
        total = np.cumsum(uses[order], dtype=np.int64)
        before = np.concatenate([np.zeros(1, np.int64), total])[rows.ends[:-1]]  # (r,)
        read = np.zeros(len(row), bool)
        read[order] = total - np.repeat(before, rows.counts) <= np.repeat(most, rows.counts)
        return read


def letter_runs(concept: ParsedConcept) -> list[str]:
    """Runs of three to five letters of the name and all synonyms."""
    texts = [f" {name.key} " for name in concept.names]
    return [text[i : i + size] for text in texts for size in _GRAMS for i in range(len(text) - size + 1)]


def _content(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in STOP_WORDS]


def _single(word: str) -> list[str]:
    return [word] if word else []


# What each bag holds of a concept. Bags of one word tell whether two concepts have the same one, larger ones how many
# words they share.
BAGS: dict[str, Callable[[ParsedConcept], list[str]]] = {
    "spelling": letter_runs,
    "words": lambda concept: _content((*concept.name_words, *concept.definition)),
    "name words": lambda concept: _content(concept.name_words),
    "phrase words": lambda concept: _content(concept.first_phrase),
    "name head": lambda concept: _single(concept.name_head),
    "name start": lambda concept: _single(concept.name_start),
    "phrase head": lambda concept: _single(concept.phrase_head),
    "phrase start": lambda concept: _single(concept.phrase_start),
}
PHRASE = ("phrase head", "phrase start")
SINGLE_WORD = ("name head", "name start", *PHRASE)
SEVERAL_WORDS = ("words", "name words", "phrase words")


def share_feature(bag: str) -> str:
    """Name of the feature that tells a candidate's part of all uses of the query's words in this bag."""
    return f"children with the same {bag}, share"


def count_feature(bag: str) -> str:
    """Name of the feature that counts a candidate's children with the query's word in this one-word bag."""
    return f"children with the same {bag}, count"


class NamePositions(Mapping[str, list[int]]):
    """Positions of the concepts that have each name.

    Parameters
    ----------
    columns
        The number of each of k names.
    concepts, ends
        Positions, name after name: those of name i are ``concepts[ends[i]:ends[i + 1]]``.
    """

    def __init__(self, columns: Mapping[str, int], concepts: Longs, ends: Longs) -> None:
        self._columns, self._concepts, self._ends = columns, concepts, ends

    def __getitem__(self, name: str) -> list[int]:
        return self._at(self._columns[name])

    def get(self, name: str, default: Any = None) -> Any:
        """Positions of the concepts with this name; most words of a text are no name, so nothing is raised for them."""
        column = self._columns.get(name)
        return default if column is None else self._at(column)

    def _at(self, column: int) -> list[int]:
        positions: list[int] = self._concepts[self._ends[column] : self._ends[column + 1]].tolist()
        return positions

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


class LexicalIndex:
    """Everything about the words of a taxonomy that does not depend on a query.

    Parameters
    ----------
    tokens
        The words of its concepts.
    children
        (n, n): 1 from a concept to its children.

    Attributes
    ----------
    bags
        Those of the tokens.
    matrices
        Parts (words, n). "spelling" and "words": TF-IDF rows of the concepts; "words, children": of their children's
        mean; multiplied by the unit rows of queries these are cosines. And per bag of `SINGLE_WORD` and
        `SEVERAL_WORDS`, named by its feature: of all uses of a word plus one, the share by each concept's children.
    child_uses
        (words,) per bag of `SINGLE_WORD`: all those uses plus one, so that shares can be turned into counts.
    positions_by_name
        See `ConceptTokens.positions_by_name`.
    longest_names
        By first word: words in the longest name that begins with it, at most 6.
    name_counts
        See `ConceptTokens.name_counts`.
    """

    def __init__(self, tokens: ConceptTokens, children: Matrix) -> None:
        self._read_names(tokens)
        self.longest_names = tokens.longest_names
        parts = _similarity(self.bags["spelling"], self.bags["words"], children)
        self.child_uses: dict[str, Floats] = {}
        for name in (*SINGLE_WORD, *SEVERAL_WORDS):
            bag = self.bags[name]
            by_child = sparse.csr_array(children @ bag.rows.matrix(bag.width))  # (n, words)
            uses = np.bincount(by_child.indices, by_child.data, bag.width) + 1
            by_child.data *= (1 / uses).astype(np.float32)[by_child.indices]
            parts[share_feature(name)] = by_child.T.tocsr()
            if name in SINGLE_WORD:
                self.child_uses[name] = uses.astype(np.float32)
        self.matrices = StackedMatrix.stack(parts)

    def _read_names(self, tokens: ConceptTokens) -> None:
        self.bags = tokens.bags
        self.positions_by_name = tokens.positions_by_name()
        self.name_counts = tokens.name_counts()

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The matrices as arrays; names of the parts as UTF-8 text, one a line."""
        matrix, first_rows = self.matrices.matrix, self.matrices.first_rows
        return {
            "longest_names.words": np.frombuffer("\n".join(self.longest_names).encode(), np.uint8),
            "longest_names.lengths": np.array([*self.longest_names.values()], np.int8),
            **{f"matrices.{key}": getattr(matrix, key) for key in ("data", "indices", "indptr")},
            "matrices.parts": np.frombuffer("\n".join(first_rows).encode(), np.uint8),
            "matrices.first_rows": np.array([*first_rows.values()], np.int64),
            "matrices.shape": np.array(matrix.shape, np.int64),
            **{f"child_uses.{name}": uses for name, uses in self.child_uses.items()},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], tokens: ConceptTokens) -> LexicalIndex:
        """The index that `to_arrays` wrote, of the same tokens."""
        index = cls.__new__(cls)
        index._read_names(tokens)
        lengths = arrays["longest_names.lengths"].tolist()
        first_words = arrays["longest_names.words"].tobytes().decode().split("\n") if lengths else []
        index.longest_names = dict(zip(first_words, lengths, strict=True))
        parts = arrays["matrices.parts"].tobytes().decode().split("\n")
        rows = dict(zip(parts, arrays["matrices.first_rows"].tolist(), strict=True))
        entries = tuple(arrays[f"matrices.{key}"] for key in ("data", "indices", "indptr"))
        matrix = sparse.csr_array(entries, shape=tuple(arrays["matrices.shape"].tolist()))
        index.matrices = StackedMatrix(rows, matrix)
        index.child_uses = {name: arrays[f"child_uses.{name}"] for name in SINGLE_WORD}
        return index


def _similarity(spelling: BagOfWords, words: BagOfWords, children: Matrix) -> dict[str, Matrix]:
    """Parts of `LexicalIndex.matrices` by which texts are compared."""
    by_spelling, by_words = (bag.unit_rows(bag.rows).matrix(bag.width) for bag in (spelling, words))
    counts = np.maximum(np.asarray(children.sum(1)).ravel(), 1)
    mean = sparse.csr_array(children @ by_words)
    _scale_rows(mean, 1 / counts)
    length = np.sqrt(np.asarray(mean.multiply(mean).sum(1)).ravel())
    _scale_rows(mean, 1 / np.maximum(length, 1e-6))
    parts = {"spelling": by_spelling, "words": by_words, "words, children": mean}
    return {name: part.T.tocsr() for name, part in parts.items()}


def _scale_rows(matrix: Matrix, factors: NDArray[np.floating]) -> None:
    """Multiply the rows of a matrix in place."""
    matrix.data *= np.repeat(factors.astype(np.float32), np.diff(matrix.indptr))
