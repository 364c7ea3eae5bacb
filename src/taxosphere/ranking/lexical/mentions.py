"""Candidates that the query mentions: in its name, in its definition, in the definition's first phrase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from taxosphere.ranking.features.layout import Few
from taxosphere.ranking.lexical.index import Lexicon
from taxosphere.ranking.lexical.parse import Reading


def name_mentions(lexicon: Lexicon, readings: Sequence[Reading], size: int) -> dict[str, Few]:
    """A ``sea bird`` mentions ``bird`` at its end; ``cost of living`` mentions ``cost`` as its head."""
    inside, end, head, same = (defaultdict[int, float](float) for _ in range(4))
    for row, name in ((row, name) for row, reading in enumerate(readings) for name in reading.names):
        words = len(name.words)
        for start, stop, places in _runs(name.words, lexicon):
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


def definition_mentions(lexicon: Lexicon, readings: Sequence[Reading], size: int) -> dict[str, Few]:
    """The earlier a definition names a candidate the better; its first phrase ending in it is best."""
    early, length, phrase, phrase_end = (defaultdict[int, float](float) for _ in range(4))
    for row, reading in enumerate(readings):
        for start, stop, places in _runs(reading.body, lexicon):
            for key in (row * size + place for place in places):
                early[key] = max(early[key], 1 / (1 + 0.2 * start))
                length[key] = max(length[key], stop - start)
        for start, stop, places in _runs(reading.phrase, lexicon):
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


def _few(found: Mapping[str, Mapping[int, float]]) -> dict[str, Few]:
    return {
        name: Few(np.fromiter(marks, np.int64, len(marks)), np.fromiter(marks.values(), np.float32, len(marks)))
        for name, marks in found.items()
    }


def _runs(words: tuple[str, ...], lexicon: Lexicon) -> list[tuple[int, int, list[int]]]:
    """Runs of words that are the name of a candidate: (start, stop, its positions)."""
    found = []
    for start in range(len(words)):
        for stop in range(start + 1, min(len(words), start + lexicon.longest) + 1):
            places = lexicon.places.get(" ".join(words[start:stop]))
            if places is not None:
                found.append((start, stop, places))
    return found
