"""Size and shape of a hierarchy in a dozen numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taxosphere.taxonomy import structure
from taxosphere.taxonomy.graph import Taxonomy


@dataclass(frozen=True)
class Summary:
    concepts: int
    edges: int
    roots: int
    leaves: int
    isolated: int
    multi_parent: int
    depth: int
    longest_depth: int
    on_or_below_cycles: int
    components: int
    most_children: int
    most_descendants: int | None
    most_ancestors: int | None
    with_description: int
    with_synonyms: int
    shared_names: int


def summarise(t: Taxonomy) -> Summary:
    """Depths count steps from a root; with a cycle the longest way and the counts of what lies below have no meaning.

    `longest_depth` then covers what lies above the cycles, and the two counts are None.
    """
    slices = structure.levels(t.parent_csr, t.child_csr)
    outside = sum(map(len, slices))
    acyclic = outside == len(t)
    names = {" ".join(name.casefold().split()) for name in t.names}
    return Summary(
        concepts=len(t),
        edges=len(t.edge_array),
        roots=len(t.roots),
        leaves=len(t.leaves),
        isolated=len(t.isolated),
        multi_parent=int(np.count_nonzero(t.parent_csr.counts > 1)),
        depth=int(t.levels.max(initial=0)),
        longest_depth=max(0, len(slices) - 1),
        on_or_below_cycles=len(t) - outside,
        components=structure.component_count(t.parent_csr),
        most_children=int(t.child_csr.counts.max(initial=0)),
        most_descendants=int(t.descendants.max(initial=0)) if acyclic else None,
        most_ancestors=int(t.ancestors.max(initial=0)) if acyclic else None,
        with_description=sum(map(bool, t.descriptions)),
        with_synonyms=sum(map(bool, t.synonyms)),
        shared_names=len(t) - len(names),
    )
