"""Which new concepts of a long list meet which: groups of near ones, in time m log m for m concepts.

A list of up to `GROUP` concepts is one group. A longer one is halved again and again along the direction in which its
vectors differ most. What a concept may need beyond its group comes along as a guest: the nearest concepts in other
partitions of the same kind, made along random directions, and the concepts whose names are part of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from taxosphere.placing.name_keys import fold
from taxosphere.taxonomy import Concept
from taxosphere.typing import Floats, Longs

GROUP = 2048  # concepts that are ranked among each other at most, guests apart
_CELL = 128  # concepts in a cell of the random partitions
_PARTITIONS = 4
_NEAREST = 4  # guests for each concept by its vector
_WORDS = 5  # longest part of a name that is looked up


def make_groups(concepts: Sequence[Concept], encode: Callable[[], Floats]) -> list[tuple[list[int], list[int]]]:
    """Numbers of the members of each group, and of its guests.

    Parameters
    ----------
    concepts : sequence of Concept
        The m new concepts.
    encode : callable
        Returns the unit vectors (m, dim) of their texts; called for more than `GROUP` concepts.
    """
    if len(concepts) <= GROUP:
        return [(list(range(len(concepts))), [])]
    vectors = encode()
    groups = _halved(vectors, np.arange(len(concepts)), GROUP, None)
    near = _nearest(vectors)
    by_name: dict[str, int] = {}
    for number, concept in enumerate(concepts):
        by_name.setdefault(fold(concept.name), number)
    result = []
    for members in groups:
        inside = set(members.tolist())
        guests = dict.fromkeys(near[members].ravel().tolist())
        guests |= dict.fromkeys(number for i in members for number in _parts_of_name(concepts[i].name, by_name))
        result.append((members.tolist(), [number for number in guests if number >= 0 and number not in inside]))
    return result


def _halved(vectors: Floats, rows: Longs, size: int, random: np.random.Generator | None) -> list[Longs]:
    """The rows in cells of at most ``size``, each half the larger one by the order along a direction."""
    cells, waiting = [], [rows]
    while waiting:
        cell = waiting.pop()
        if len(cell) <= size:
            cells.append(np.sort(cell))
            continue
        order = np.argsort(vectors[cell] @ _direction(vectors[cell], random), kind="stable")
        middle = len(cell) // 2
        waiting += [cell[order[middle:]], cell[order[:middle]]]
    return cells


def _direction(vectors: Floats, random: np.random.Generator | None) -> Floats:
    """Where vectors differ most, by a few steps of power iteration; with ``random`` the line through two of them."""
    if random is not None:
        one, other = random.choice(len(vectors), 2, replace=False)
        line: Floats = vectors[one] - vectors[other]
        return line
    sample = vectors[:: max(1, len(vectors) // 2048)]
    centred = sample - sample.mean(0)
    direction: Floats = centred[int(np.argmax(np.square(centred).sum(1)))]
    for _ in range(8):
        direction = centred.T @ (centred @ direction)
        direction /= max(float(np.linalg.norm(direction)), 1e-12)
    return direction


def _nearest(vectors: Floats) -> Longs:
    """(m, `_NEAREST`) the most similar of the concepts that share a cell with each in a partition; −1: none."""
    random = np.random.default_rng(0)
    nearest = np.full((len(vectors), _NEAREST), -1, np.int64)
    similarity = np.full(nearest.shape, -np.inf, np.float32)
    for _ in range(_PARTITIONS):
        for cell in _halved(vectors, np.arange(len(vectors)), _CELL, random):
            cosine = vectors[cell] @ vectors[cell].T
            np.fill_diagonal(cosine, -np.inf)
            columns = np.argpartition(-cosine, min(_NEAREST, len(cell) - 1), axis=1)[:, :_NEAREST]
            values = np.concatenate([similarity[cell], np.take_along_axis(cosine, columns, 1)], axis=1)
            numbers = np.concatenate([nearest[cell], cell[columns]], axis=1)
            values[_repeated(numbers)] = -np.inf
            best = np.argsort(-values, axis=1, kind="stable")[:, :_NEAREST]
            nearest[cell] = np.take_along_axis(numbers, best, 1)
            similarity[cell] = np.take_along_axis(values, best, 1)
    nearest[np.isneginf(similarity)] = -1
    return nearest


def _repeated(numbers: Longs) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Where a number stands for the second time in its row."""
    order = np.argsort(numbers, axis=1, kind="stable")
    sorted_numbers = np.take_along_axis(numbers, order, 1)
    again = np.zeros(numbers.shape, bool)
    np.put_along_axis(again, order[:, 1:], sorted_numbers[:, 1:] == sorted_numbers[:, :-1], 1)
    return again


def _parts_of_name(name: str, by_name: dict[str, int]) -> list[int]:
    """Concepts whose whole name is a run of words of this name."""
    words = name.split()
    spans = (
        (start, stop)
        for start in range(len(words))
        for stop in range(start + 1, min(start + _WORDS, len(words)) + 1)
        if stop - start < len(words)
    )
    runs = (fold(" ".join(words[start:stop])) for start, stop in spans)
    return [by_name[run] for run in runs if run in by_name]
