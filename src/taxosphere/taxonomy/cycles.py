"""Where a hierarchy runs in circles, and which edge of each circle has the least to say for itself.

Depth decides. Every concept gets its distance from the roots; a knot that no root leads to is entered at its concept
with the most children. Edges that lead away from the roots cannot close a cycle among themselves, so all of them stay.
The others (level or upwards) are taken in order of their support, those that climb least first and then as the source
lists them, and each stays unless it would close a cycle. What is dropped therefore climbs at least as far as any other
edge of its cycle, and every concept keeps a parent, save the entry of a knot that hung from nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from taxosphere.taxonomy import structure
from taxosphere.taxonomy.structure import Csr, Ints, Longs

# Concepts visited in all while looking for paths. A knot that needs more is no slip of a curator but a broken file: its
# remaining upward edges are dropped without showing the circle each one closes.
_MOST_VISITS = 5_000_000


@dataclass(frozen=True, slots=True)
class Cycle:
    """``path`` runs from parent to child and ends where it began; ``edge`` (a row of the edge array) closes it.

    The path is empty where the search was given up: the edge may close a cycle, or several together may.
    """

    edge: int
    path: tuple[int, ...]
    climb: int  # levels from the edge's parent up to its child


def find(edges: Ints, parents: Csr, children: Csr) -> list[Cycle]:
    """One cycle per edge to drop; without these edges the hierarchy has no cycle."""
    knots = structure.strong_components(parents)
    inside = np.flatnonzero(knots[edges[:, 0]] == knots[edges[:, 1]])
    if len(inside) == 0:
        return []
    depth = _depths(knots, edges, inside, parents, children)
    climb = depth[edges[inside, 0]] - depth[edges[inside, 1]]
    kept: dict[int, list[int]] = {}
    for parent, child in edges[inside[climb < 0]].tolist():
        kept.setdefault(parent, []).append(child)
    order = np.argsort(climb, kind="stable")
    order = order[climb[order] >= 0]
    circles, visits = [], 0
    for edge, up in zip(inside[order].tolist(), climb[order].tolist(), strict=True):
        parent, child = edges[edge].tolist()
        if visits >= _MOST_VISITS:
            circles.append(Cycle(edge, (), up))
            continue
        way, visited = _path(kept, child, parent)
        visits += visited
        if way:
            circles.append(Cycle(edge, (parent, *way), up))
        else:
            kept.setdefault(parent, []).append(child)
    return sorted(circles, key=lambda cycle: cycle.edge)


def _depths(knots: Ints, edges: Ints, inside: Longs, parents: Csr, children: Csr) -> Ints:
    """Distance from the roots, where a knot nothing leads to counts its concept with the most children as a root."""
    tied = np.unique(edges[inside])
    entered = np.zeros(int(knots.max()) + 1, bool)
    outside = knots[edges[:, 0]] != knots[edges[:, 1]]
    entered[knots[edges[outside, 1]]] = True
    unreached = tied[~entered[knots[tied]]]
    unreached = unreached[np.lexsort((unreached, -children.counts[unreached], knots[unreached]))]
    _, first = np.unique(knots[unreached], return_index=True)
    roots = np.concatenate([np.flatnonzero(parents.counts == 0), unreached[first]])
    return structure.depths_from(roots, children)


def _path(children: Mapping[int, list[int]], start: int, goal: int) -> tuple[list[int], int]:
    """A shortest way down from ``start`` to ``goal`` (empty when there is none) and how many concepts were visited."""
    above = {start: -1}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if here == goal:
            way = [here]
            while (here := above[here]) >= 0:
                way.append(here)
            return way[::-1], len(above)
        for below in children.get(here, ()):
            if below not in above:
                above[below] = here
                waiting.append(below)
    return [], len(above)
