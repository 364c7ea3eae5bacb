"""The words of concepts, parsed once, apart from any hierarchy: bags of words, and the keys of names."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranking.features.pool import SparseRows
from taxosphere.ranking.lexical.index import BAGS, BagOfWords, NamePositions, unknown_weight
from taxosphere.ranking.lexical.parse import parse_concept
from taxosphere.taxonomy import Concept
from taxosphere.taxonomy.mapped import MAPPED
from taxosphere.taxonomy.string_column import Lookup, StringColumn
from taxosphere.typing import Floats, Longs

_NAME_KEYS = "name keys"
_LONGEST_NAME = 6  # words of a name that is recognised in a text
_PARSED = 4096  # concepts whose parsed texts are held at once


@dataclass(frozen=True)
class ConceptTokens:
    """The words of concepts apart from the hierarchy; parsed once, and valid for any part of the concepts.

    Attributes
    ----------
    bags
        By name, as in `BAGS`.
    name_keys
        A bag of the keys of all names: the other bags do not keep the order of words.
    name_lengths
        (n,) words in the name proper.
    """

    bags: dict[str, BagOfWords]
    name_keys: BagOfWords
    name_lengths: Longs

    @classmethod
    def parse(cls, concepts: Iterable[Concept]) -> ConceptTokens:
        """Parse names, synonyms and descriptions of all concepts, some at a time: parsed ones take much memory."""
        bags = {name: BagBuilder() for name in BAGS}
        keys, lengths = BagBuilder(), array("q")
        remaining = iter(concepts)
        while parsed := list(map(parse_concept, islice(remaining, _PARSED))):
            for name, words_of in BAGS.items():
                bags[name].extend(map(words_of, parsed))
            keys.extend([name.key for name in concept.names if name.words] for concept in parsed)
            lengths.extend(len(concept.name) for concept in parsed)
        built = {name: builder.build() for name, builder in bags.items()}
        return cls(built, keys.build(), np.array(lengths, np.int64))

    @cached_property
    def longest_names(self) -> dict[str, int]:
        """By first word: words in the longest name that begins with it, at most 6; for a part at least as many."""
        return _longest_names(self.name_keys.columns)

    def take(self, kept: Longs) -> ConceptTokens:
        """What `parse` makes of these concepts alone."""
        bags = {name: bag.take(kept) for name, bag in self.bags.items()}
        part = ConceptTokens(bags, self.name_keys.take(kept), self.name_lengths[kept])
        vars(part)["longest_names"] = self.longest_names  # as if it had been asked for before
        return part

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for a model folder; a vocabulary is UTF-8 text with one word a line, in the order of its columns."""
        arrays: dict[str, NDArray[Any]] = {"name_lengths": self.name_lengths}
        for name, bag in (*self.bags.items(), (_NAME_KEYS, self.name_keys)):
            vocabulary = np.frombuffer("\n".join(bag.columns).encode(), np.uint8)  # words hold no line breaks
            arrays |= {
                f"{name}.vocabulary": vocabulary,
                f"{name}.columns": bag.rows.columns,
                f"{name}.ends": bag.rows.ends,
            }
            if len(self.name_lengths) > MAPPED:
                arrays |= {f"{name}.{key}": values for key, values in Lookup.arrays(bag.columns).items()}
                arrays[f"{name}.weights"] = bag.weights
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> ConceptTokens:
        """The tokens that `to_arrays` wrote; `ValueError` where the arrays do not fit together."""

        def bag(name: str) -> BagOfWords:
            vocabulary, columns = arrays[f"{name}.vocabulary"], arrays[f"{name}.columns"]
            rows = SparseRows(_ones(len(columns)), columns, arrays[f"{name}.ends"])
            if f"{name}.places" in arrays:
                checksums = arrays[f"{name}.checksums"].view(np.uint32)
                lookup = Lookup(StringColumn.from_lines(vocabulary), checksums, arrays[f"{name}.places"])
                return BagOfWords(lookup, arrays[f"{name}.weights"], unknown_weight(len(rows.counts)), rows)
            text = vocabulary.tobytes().decode()
            words = text.split("\n") if text else []
            if len(columns) and not 0 <= columns.min() <= columns.max() < len(words):
                raise ValueError("a word that is not in the vocabulary")
            return BagOfWords.from_rows({word: column for column, word in enumerate(words)}, rows)

        return cls({name: bag(name) for name in BAGS}, bag(_NAME_KEYS), arrays["name_lengths"])

    def positions_by_name(self) -> NamePositions:
        """Positions of the concepts that have each name or synonym, by its key."""
        rows = self.name_keys.rows
        concept = np.repeat(np.arange(len(rows.counts)), rows.counts)
        order = np.argsort(rows.columns, kind="stable")
        ends = np.cumsum(np.bincount(rows.columns, minlength=self.name_keys.width))
        return NamePositions(self.name_keys.columns, concept[order], np.concatenate([[0], ends]))

    def name_counts(self) -> Floats:
        """(n,) how many concepts have the name of each, itself included."""
        rows = self.name_keys.rows
        uses = np.bincount(rows.columns, minlength=self.name_keys.width)
        counts = np.ones(len(self.name_lengths), np.float32)
        named = np.flatnonzero(self.name_lengths)
        counts[named] = uses[rows.columns[rows.ends[named]]]  # the name proper comes before the synonyms
        return counts


class BagBuilder:
    """Makes a `BagOfWords` of concepts that come one by one: all letter runs at once would fill the memory."""

    def __init__(self) -> None:
        self._columns: dict[str, int] = {}
        self._entries, self._ends = array("i"), array("i", [0])

    def extend(self, bags: Iterable[Iterable[str]]) -> None:
        """Add the words of further concepts."""
        columns, entries, ends = self._columns, self._entries, self._ends
        for bag in bags:
            entries.extend([columns.setdefault(word, len(columns)) for word in dict.fromkeys(bag)])
            ends.append(len(entries))

    def build(self) -> BagOfWords:
        """Of all concepts so far."""
        columns, ends = np.array(self._entries, np.int32), np.array(self._ends, np.int32)
        return BagOfWords.from_rows(self._columns, SparseRows(_ones(len(columns)), columns, ends))


def _ones(count: int) -> Floats:
    """(count,) ones that take no memory."""
    return np.broadcast_to(np.float32(1), count)


def _longest_names(names: Iterable[str]) -> dict[str, int]:
    longest: dict[str, int] = {}
    for name in names:
        first, space, rest = name.partition(" ")
        length = rest.count(" ") + 2 if space else 1
        if length > longest.get(first, 0):
            longest[first] = min(length, _LONGEST_NAME)
    return longest
