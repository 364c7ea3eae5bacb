"""Candidates that the query mentions: in its name, in its definition, in the definition's first phrase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from taxosphere.ranking.features.layout import SparseColumn
from taxosphere.ranking.lexical.index import LexicalIndex
from taxosphere.ranking.lexical.parse import ParsedConcept


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
    for start in range(len(words)):
        for stop in range(start + 1, min(len(words), start + index.longest_name) + 1):
            positions = index.positions_by_name.get(" ".join(words[start:stop]))
            if positions is not None:
                mentions.append((start, stop, positions))
    return mentions
