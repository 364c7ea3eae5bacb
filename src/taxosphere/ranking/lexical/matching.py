"""What a query shares with the concepts of a taxonomy: words, the words of their children, and names it mentions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from taxosphere.ranking.features.pool import Pool, SparseColumn, SparseRows
from taxosphere.ranking.lexical.index import (
    SEVERAL_WORDS,
    SINGLE_WORD,
    EncodedBags,
    LexicalIndex,
    count_feature,
    share_feature,
)
from taxosphere.ranking.lexical.parse import ParsedConcept
from taxosphere.typing import Floats, Longs, Matrix

_PLACES = 1 << 20  # pairs of a query and a concept whose places in the pool are looked up in one table
SIMILARITIES = ("spelling", "words", "words, children")
WIDE = ("words, children", *map(share_feature, ("name head", "phrase head", "phrase words", "name words")))
"""Parts whose largest values belong to concepts with children like the query."""


class LexicalScores:
    """Products of the bags of a block of queries with the matrices of a lexical index.

    Parameters
    ----------
    index
        Words of the n concepts.
    bags
        Of the q queries, by name of the bag.
    """

    def __init__(self, index: LexicalIndex, bags: Mapping[str, EncodedBags]) -> None:
        unit = {name: index.bags[name].unit_rows(*bags[name]) for name in ("spelling", "words")}
        rows: dict[str, SparseRows] = {}
        for bag in SINGLE_WORD:
            rows |= dict.fromkeys((share_feature(bag), count_feature(bag)), bags[bag].rows)
        for bag in SEVERAL_WORDS:
            rows[share_feature(bag)] = index.bags[bag].weight_shares(*bags[bag])
        self.n_queries = len(next(iter(bags.values())).n_unknown)
        self.parts = (
            (SIMILARITIES, index.similarity.multiply(unit | {"words, children": unit["words"]})),
            (tuple(rows), index.children_words.multiply(rows)),
        )

    def at(self, pool: Pool) -> dict[str, Floats]:
        """(p,) by name, of the pairs of a pool; counts as their logarithm log(1 + count)."""
        values: dict[str, Floats] = {}
        for names, matrix in self.parts:
            table = np.zeros((len(names), len(pool)), np.float32)
            for part, places, entries in self._in_pool(names, matrix, pool):
                table.reshape(-1)[part * len(pool) + places] = entries
            values |= dict(zip(names, table, strict=True))
        for bag in SINGLE_WORD:
            np.log1p(values[count_feature(bag)], out=values[count_feature(bag)])
        return values

    def _in_pool(self, names: Sequence[str], matrix: Matrix, pool: Pool) -> Iterator[tuple[Longs, Longs, Floats]]:
        """Entries of a product that belong to pairs of a pool: number of the name, place in the pool, value."""
        step = max(1, _PLACES // pool.size)
        places = np.full(min(step, self.n_queries) * pool.size, -1, np.int32)
        for start in range(0, self.n_queries, step):
            stop = min(start + step, self.n_queries)
            first, last = pool.ends[start], pool.ends[stop]
            keys = pool.keys[first:last] - start * pool.size
            places[keys] = np.arange(first, last)
            ends = matrix.indptr[start * len(names) : stop * len(names) + 1]
            inside = slice(ends[0], ends[-1])
            row = np.repeat(np.arange((stop - start) * len(names), dtype=np.int32), np.diff(ends))
            query, part = np.divmod(row, np.int32(len(names)))
            place = places[query * np.int32(pool.size) + matrix.indices[inside]]
            present = np.flatnonzero(place >= 0)
            yield part[present], place[present], matrix.data[inside][present]
            places[keys] = -1

    def largest(self, count: int, parts: Sequence[str]) -> Longs:
        """Keys (k,), query · n + position, of the concepts with the largest values for each query and part."""
        keys = []
        for names, matrix in self.parts:
            chosen = np.array([number for number, name in enumerate(names) if name in parts], np.int64)
            rows = (np.arange(self.n_queries)[:, None] * len(names) + chosen).ravel()
            starts, stops = matrix.indptr[rows].astype(np.int64), matrix.indptr[rows + 1].astype(np.int64)
            first = rows // len(names) * matrix.shape[1]
            long = np.flatnonzero(stops - starts > count)
            bounds = zip(starts[long].tolist(), stops[long].tolist(), first[long].tolist(), strict=True)
            for start, stop, shift in bounds:
                cut = stop - start - count
                places = start + matrix.data[start:stop].argpartition(cut)[cut:]
                keys.append(matrix.indices[places].astype(np.int64) + shift)
            short = np.flatnonzero(stops - starts <= count)
            lengths = stops[short] - starts[short]
            within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            keys.append(matrix.indices[np.repeat(starts[short], lengths) + within] + np.repeat(first[short], lengths))
        return np.concatenate(keys)


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
                early[key] = max(early[key], 1 / (1 + 0.2 * start))
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
