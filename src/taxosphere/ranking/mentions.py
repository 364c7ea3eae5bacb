"""Candidates that the query mentions: in its name, in its definition, in the definition's first phrase."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranking.lexicon import Lexicon
from taxosphere.ranking.words import Reading

Floats = NDArray[np.float32]


def name_mentions(lexicon: Lexicon, readings: Sequence[Reading], size: int) -> dict[str, Floats]:
    """A ``sea bird`` mentions ``bird`` at its end; ``cost of living`` mentions ``cost`` as its head."""
    inside, end, head, same = (np.zeros((len(readings), size), np.float32) for _ in range(4))
    for row, reading in enumerate(readings):
        words = len(reading.name)
        for start, stop, places in _runs(reading.name, lexicon):
            share = (stop - start) / words
            if share == 1:
                same[row, places] = 1
                continue
            inside[row, places] = np.maximum(inside[row, places], share)
            if stop == words:
                end[row, places] = np.maximum(end[row, places], share)
            if stop == reading.head:
                head[row, places] = np.maximum(head[row, places], (stop - start) / reading.head)
    return {"named inside": inside, "named at the end": end, "named as the head": head, "same name": same}


def definition_mentions(lexicon: Lexicon, readings: Sequence[Reading], size: int) -> dict[str, Floats]:
    """The earlier a definition names a candidate the better; its first phrase ending in it is best."""
    early, length, phrase, phrase_end = (np.zeros((len(readings), size), np.float32) for _ in range(4))
    for row, reading in enumerate(readings):
        for start, stop, places in _runs(reading.body, lexicon):
            early[row, places] = np.maximum(early[row, places], 1 / (1 + 0.2 * start))
            length[row, places] = np.maximum(length[row, places], stop - start)
        for start, stop, places in _runs(reading.phrase, lexicon):
            phrase[row, places] = 1
            if stop == len(reading.phrase):
                phrase_end[row, places] = np.maximum(phrase_end[row, places], stop - start)
    return {
        "mentioned early": early,
        "words mentioned": length,
        "in the first phrase": phrase,
        "ends the first phrase": phrase_end,
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
