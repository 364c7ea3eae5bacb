"""What a query shares with the concepts of a taxonomy: words, the words of their children, and names it mentions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taxosphere.orbit.search import largest_columns
from taxosphere.ranking.features.pool import Pool, SparseColumn, SparseRows
from taxosphere.ranking.lexical.index import (
    SEVERAL_WORDS,
    SINGLE_WORD,
    EncodedBags,
    LexicalIndex,
    StackedMatrix,
    count_feature,
    share_feature,
)
from taxosphere.ranking.lexical.parse import ParsedConcept
from taxosphere.typing import Floats, Longs, Matrix

WIDE = ("words, children", *map(share_feature, ("name head", "phrase head", "phrase words", "name words")))
"""Parts whose largest values belong to concepts with children like the query."""
_RETRIEVED = (*WIDE, "words", "spelling")
_FEW = 1 << 11  # uses of a query's words that are multiplied where only the pool is asked for
_LONG = 1 << 11  # values from which on comparing them with a bound takes less time than partitioning them


class _Product(NamedTuple):
    """Rows of the queries times a stack of matrices.

    Attributes
    ----------
    names
        Parts of the stack; all rows of a query stand below each other in this order.
    values
        (q · names, n).
    skipped
        (q · names, words) what was not multiplied: words that very many concepts use; None where all was.
    stack
        (words, n) the matrix.
    """

    names: tuple[str, ...]
    values: Matrix
    skipped: SparseRows | None
    stack: Matrix

    @classmethod
    def of(cls, stack: StackedMatrix, rows: Mapping[str, SparseRows], most: int | None) -> _Product:
        arranged, height = stack.arrange(rows), stack.matrix.shape[0]
        if most is None:
            return cls(tuple(rows), arranged.matrix(height) @ stack.matrix, None, stack.matrix)
        limits = [most if name in _RETRIEVED else _FEW for name in rows]
        read = stack.rarest(arranged, np.tile(limits, len(arranged.counts) // len(rows)))
        return cls(tuple(rows), arranged.where(read).matrix(height) @ stack.matrix, arranged.where(~read), stack.matrix)


class LexicalScores:
    """Products of the bags of a block of queries with the matrices of a lexical index.

    Parameters
    ----------
    index
        Words of the n concepts.
    bags
        Of the q queries, by name of the bag.
    most
        Uses of a query's words or letter runs that are read to find concepts, by each measure: those of the rarest.
        What is computed for the pairs of a pool counts all of them. None reads all.
    """

    def __init__(self, index: LexicalIndex, bags: Mapping[str, EncodedBags], most: int | None = None) -> None:
        words = index.bags["words"].unit_rows(*bags["words"])
        rows = {
            "spelling": index.bags["spelling"].unit_rows(*bags["spelling"]),
            "words": words,
            "words, children": words,
        }
        rows |= {share_feature(bag): bags[bag].rows for bag in SINGLE_WORD}
        rows |= {share_feature(bag): index.bags[bag].weight_shares(*bags[bag]) for bag in SEVERAL_WORDS}
        self.n_queries = len(next(iter(bags.values())).n_unknown)
        self.product = _Product.of(index.matrices, rows, most)
        self._child_uses = {
            bag: bags[bag].rows.sums(index.child_uses[bag][bags[bag].rows.columns]) for bag in SINGLE_WORD
        }

    def at(self, pool: Pool) -> dict[str, Floats]:
        """(p,) by name, of the pairs of a pool; counts as their logarithm log(1 + count)."""
        names = self.product.names
        table = np.zeros((len(names), len(pool)), np.float32)
        for part, places, entries in self._in_pool(pool):
            table.reshape(-1)[part * len(pool) + places] = entries
        _add_skipped(table, self.product, pool)
        values = dict(zip(names, table, strict=True))
        for bag, uses in self._child_uses.items():  # the share is the count divided by all uses
            counts = values[share_feature(bag)] * uses.astype(np.float32)[pool.row]
            values[count_feature(bag)] = np.log1p(np.rint(counts, out=counts), out=counts)
        return values

    def _in_pool(self, pool: Pool) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32], Floats]]:
        """Entries of the product that belong to pairs of a pool: number of the name, place in the pool, value."""
        n_names, matrix = len(self.product.names), self.product.values
        for queries, places in pool.lookups():
            ends = matrix.indptr[queries.start * n_names : queries.stop * n_names + 1]
            inside, counts = slice(ends[0], ends[-1]), np.diff(ends)
            first = pool.size * np.repeat(np.arange(queries.stop - queries.start, dtype=np.int32), n_names)  # of places
            place = places.take(np.repeat(first, counts) + matrix.indices[inside])
            present = np.flatnonzero(place >= 0)
            part = np.repeat(np.tile(np.arange(n_names, dtype=np.int32), len(counts) // n_names), counts)
            yield part[present], place[present], matrix.data[inside][present]

    def largest(self, count: int, parts: Sequence[str]) -> Longs:
        """Keys (k,), query · n + position, of the concepts with the largest values for each query and part."""
        names, matrix = self.product.names, self.product.values
        chosen = np.array([number for number, name in enumerate(names) if name in parts], np.int64)
        rows = (np.arange(self.n_queries)[:, None] * len(names) + chosen).ravel()
        starts, stops = matrix.indptr[rows].astype(np.int64), matrix.indptr[rows + 1].astype(np.int64)
        first = rows // len(names) * matrix.shape[1]
        is_long = stops - starts > count
        long, short = np.flatnonzero(is_long), np.flatnonzero(~is_long)
        bounds = zip(starts[long].tolist(), stops[long].tolist(), strict=True)
        entries = [start + _largest(matrix.data[start:stop], count) for start, stop in bounds]
        lengths = stops[short] - starts[short]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entries.append(np.repeat(starts[short], lengths) + within)
        keys: Longs = matrix.indices[np.concatenate(entries)].astype(np.int64)
        keys += np.concatenate([np.repeat(first[long], count), np.repeat(first[short], lengths)])
        return keys


def _largest(values: Floats, count: int) -> Longs:
    """Places of the ``count`` largest of more values than that."""
    if len(values) > _LONG:
        return largest_columns(values[None], count).reshape(-1)
    return np.asarray(values.argpartition(len(values) - count)[len(values) - count :], np.int64)


def _add_skipped(table: Floats, product: _Product, pool: Pool) -> None:
    """Add what skipped words contribute to the pairs of a pool to ``table`` (names, p)."""
    skipped, stack = product.skipped, product.stack
    if skipped is None:
        return
    row = np.repeat(np.arange(len(skipped.counts)), skipped.counts)
    query, part = np.divmod(row, len(product.names))
    pairs = pool.slices()
    entries = zip(query.tolist(), part.tolist(), skipped.columns.tolist(), skipped.data.tolist(), strict=True)
    for number, name, word, weight in entries:
        start, stop = stack.indptr[word : word + 2].tolist()
        users, asked = stack.indices[start:stop], pool.positions[pairs[number]].astype(stack.indices.dtype)
        place = np.minimum(np.searchsorted(users, asked), stop - start - 1)
        table[name, pairs[number]] += np.float32(weight) * stack.data[start + place] * (users[place] == asked)


def name_mentions(index: LexicalIndex, queries: Sequence[ParsedConcept], size: int) -> dict[str, SparseColumn]:
    """Features of candidates named in the query's name.

    ``sea bird`` mentions ``bird`` at its end; ``cost of living`` mentions ``cost`` as its head.

    Parameters
    ----------
    index
        Names of the candidates.
    queries
        The parsed queries, one per row of the columns.
    size
        Number of candidates.
    """
    inside, end, head, same = (defaultdict[int, float](float) for _ in range(4))
    for row, name in ((row, name) for row, query in enumerate(queries) for name in query.names):
        words = len(name.words)
        for start, stop, positions in _mentions(name.words, index):
            share = (stop - start) / words
            for key in (row * size + position for position in positions):
                if share == 1:
                    same[key] = 1
                    continue
                inside[key] = max(inside[key], share)
                if stop == words:
                    end[key] = max(end[key], share)
                if stop == name.head:
                    head[key] = max(head[key], (stop - start) / name.head)
    return _columns(
        {
            "contained in the query's name": inside,
            "at the end of the query's name": end,
            "head of the query's name": head,
            "same name": same,
        }
    )


def definition_mentions(index: LexicalIndex, queries: Sequence[ParsedConcept], size: int) -> dict[str, SparseColumn]:
    """Features of candidates named in the query's definition; parameters as for `name_mentions`.

    The earlier a definition names a candidate the better; a first phrase that ends with it is best.
    """
    early, length, phrase, phrase_end = (defaultdict[int, float](float) for _ in range(4))
    for row, query in enumerate(queries):
        for start, stop, positions in _mentions(query.definition, index):
            for key in (row * size + position for position in positions):
                early[key] = max(early[key], 1 / (1 + 0.2 * start))  # one half for the sixth word
                length[key] = max(length[key], stop - start)
        for start, stop, positions in _mentions(query.first_phrase, index):
            for key in (row * size + position for position in positions):
                phrase[key] = 1
                if stop == len(query.first_phrase):
                    phrase_end[key] = max(phrase_end[key], stop - start)
    return _columns(
        {
            "early in the query's definition": early,
            "words of it in the query's definition": length,
            "in the definition's first phrase": phrase,
            "end of the definition's first phrase": phrase_end,
        }
    )


def _columns(values: Mapping[str, Mapping[int, float]]) -> dict[str, SparseColumn]:
    return {
        name: SparseColumn(
            np.fromiter(by_key, np.int64, len(by_key)), np.fromiter(by_key.values(), np.float32, len(by_key))
        )
        for name, by_key in values.items()
    }


def _mentions(words: tuple[str, ...], index: LexicalIndex) -> list[tuple[int, int, list[int]]]:
    """Runs of words that are the name of a candidate: (start, stop, positions of the candidates)."""
    mentions = []
    for start, first in enumerate(words):
        for stop in range(start + 1, min(len(words), start + index.longest_names.get(first, 0)) + 1):
            positions = index.positions_by_name.get(" ".join(words[start:stop]))
            if positions is not None:
                mentions.append((start, stop, positions))
    return mentions
