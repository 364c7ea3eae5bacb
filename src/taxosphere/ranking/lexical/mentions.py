"""Candidates that the query mentions: in its name, in its definition, in the definition's first phrase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from taxosphere.ranking.features.layout import SparseColumn
from taxosphere.ranking.lexical.index import LexicalIndex
from taxosphere.ranking.lexical.parse import ParsedConcept


def name_mentions(lexical_index: LexicalIndex, parsed: Sequence[ParsedConcept], size: int) -> dict[str, SparseColumn]:
    """A ``sea bird`` mentions ``bird`` at its end; ``cost of living`` mentions ``cost`` as its head."""
    inside, end, head, same = (defaultdict[int, float](float) for _ in range(4))
    for row, name in ((row, name) for row, reading in enumerate(parsed) for name in reading.names):
        words = len(name.words)
        for start, stop, places in _runs(name.words, lexical_index):
            share = (stop - start) / words
            for key in (row * size + place for place in places):
                if share == 1:
                    same[key] = 1
                    continue
                inside[key] = max(inside[key], share)
                if stop == words:
                    end[key] = max(end[key], share)
                if stop == name.head:
                    head[key] = max(head[key], (stop - start) / name.head)
    return _few({"named inside": inside, "named at the end": end, "named as the head": head, "same name": same})


def definition_mentions(
    lexical_index: LexicalIndex, parsed: Sequence[ParsedConcept], size: int
) -> dict[str, SparseColumn]:
    """The earlier a definition names a candidate the better; its first phrase ending in it is best."""
    early, length, phrase, phrase_end = (defaultdict[int, float](float) for _ in range(4))
    for row, reading in enumerate(parsed):
        for start, stop, places in _runs(reading.body, lexical_index):
            for key in (row * size + place for place in places):
                early[key] = max(early[key], 1 / (1 + 0.2 * start))
                length[key] = max(length[key], stop - start)
        for start, stop, places in _runs(reading.phrase, lexical_index):
            for key in (row * size + place for place in places):
                phrase[key] = 1
                if stop == len(reading.phrase):
                    phrase_end[key] = max(phrase_end[key], stop - start)
    return _few(
        {
            "mentioned early": early,
            "words mentioned": length,
            "in the first phrase": phrase,
            "ends the first phrase": phrase_end,
        }
    )


def _few(found: Mapping[str, Mapping[int, float]]) -> dict[str, SparseColumn]:
    return {
        name: SparseColumn(
            np.fromiter(marks, np.int64, len(marks)), np.fromiter(marks.values(), np.float32, len(marks))
        )
        for name, marks in found.items()
    }


def _runs(words: tuple[str, ...], lexical_index: LexicalIndex) -> list[tuple[int, int, list[int]]]:
    """Runs of words that are the name of a candidate: (start, stop, its positions)."""
    found = []
    for start in range(len(words)):
        for stop in range(start + 1, min(len(words), start + lexical_index.longest) + 1):
            places = lexical_index.places.get(" ".join(words[start:stop]))
            if places is not None:
                found.append((start, stop, places))
    return found
