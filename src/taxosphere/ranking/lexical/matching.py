"""What a query shares with the concepts of a taxonomy: words, the words of their children, and names it mentions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

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
            place = np.full(pool.size, -1, np.int32)
            part_of_row = np.arange(len(names))
            for query, part in enumerate(pool.slices()):
                positions = pool.positions[part]
                place[positions] = np.arange(part.start, part.stop)
                ends = matrix.indptr[query * len(names) : (query + 1) * len(names) + 1]
                inside = slice(ends[0], ends[-1])
                where = place[matrix.indices[inside]]
                present = where >= 0
                table[np.repeat(part_of_row, np.diff(ends))[present], where[present]] = matrix.data[inside][present]
                place[positions] = -1
            values |= dict(zip(names, table, strict=True))
        for bag in SINGLE_WORD:
            np.log1p(values[count_feature(bag)], out=values[count_feature(bag)])
        return values

    def largest(self, count: int, parts: Sequence[str]) -> Longs:
        """Keys (k,), query · n + position, of the concepts with the largest values for each query and part."""
        keys = []
        for names, matrix in self.parts:
            chosen = [number for number, name in enumerate(names) if name in parts]
            for query in range(self.n_queries):
                first = query * matrix.shape[1]
                keys += [first + _largest(matrix, query * len(names) + number, count) for number in chosen]
        return np.concatenate(keys)


def _largest(matrix: Matrix, row: int, count: int) -> Longs:
    """Columns (at most ``count``) of the largest entries of a row."""
    start, stop = matrix.indptr[row], matrix.indptr[row + 1]
    columns = matrix.indices[start:stop]
    if stop - start > count:
        columns = columns[np.argpartition(matrix.data[start:stop], stop - start - count)[stop - start - count :]]
    return np.asarray(columns, np.int64)


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
