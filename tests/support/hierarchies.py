"""Random hierarchies for property tests, and the same thing as a networkx graph."""

from __future__ import annotations

import networkx
import numpy as np
from hypothesis import strategies as st

from taxosphere import Taxonomy


@st.composite
def dags(draw: st.DrawFn, most: int = 12) -> Taxonomy:
    """Any acyclic graph: several roots, several parents, isolated concepts, ids in no telling order."""
    size = draw(st.integers(1, most))
    order = draw(st.permutations(range(size)))
    pairs = [(order[i], order[j]) for j in range(size) for i in range(j)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * size)) if pairs else []
    return numbered(size, chosen)


@st.composite
def digraphs(draw: st.DrawFn, most: int = 9) -> Taxonomy:
    """Any graph without self loops, cycles welcome."""
    size = draw(st.integers(1, most))
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    return numbered(size, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * size)) if pairs else [])


@st.composite
def trees(draw: st.DrawFn, most: int = 15) -> Taxonomy:
    size = draw(st.integers(1, most))
    return numbered(size, [(draw(st.integers(0, child - 1)), child) for child in range(1, size)])


def numbered(size: int, pairs: list[tuple[int, int]]) -> Taxonomy:
    """Concepts c0, c1, … and edges between their numbers."""
    ids = tuple(f"c{i}" for i in range(size))
    return Taxonomy(ids, ids, ("",) * size, np.array(pairs, np.int32).reshape(-1, 2))


def as_networkx(t: Taxonomy) -> networkx.DiGraph[int]:
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(t)))
    graph.add_edges_from(t.edge_array.tolist())
    return graph
