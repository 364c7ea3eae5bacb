"""Concepts as the objects that JSON and YAML files hold: nested or naming each other, under the keys of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Literal

from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io.record_keys import ambiguous_keys, has_other_ids
from taxosphere.taxonomy.graph import CycleError, Taxonomy

DEEPEST = 200  # parsers give up on deep nesting
META = "json"  # of both formats: each writes what the other has read
KEYS = frozenset(("id", *jv.DETAILS, "children"))

Step = tuple[Literal["open", "close", "reference"], int]


def style_of(taxonomy: Taxonomy) -> Mapping[str, Any]:
    """Return how the source of a taxonomy held its objects; empty where it came from another format."""
    style: Mapping[str, Any] = taxonomy.meta.get(META, {})
    return style


def is_flat(taxonomy: Taxonomy) -> bool:
    """Return whether the objects of the source named each other instead of being nested."""
    return bool(style_of(taxonomy).get("flat"))


def tree_steps(taxonomy: Taxonomy) -> Iterator[Step]:
    """Yield the steps of writing a tree, depth first: each concept is opened once, elsewhere it is a reference.

    What roots do not reach, because it lies on a cycle or deeper than `DEEPEST`, is a further root.
    """
    done = [False] * len(taxonomy)
    for start in chain(taxonomy.roots.tolist(), range(len(taxonomy))):
        if done[start]:
            continue
        done[start] = True
        yield "open", start
        waiting = [(start, iter(taxonomy.child_csr.row(start).tolist()))]
        while waiting:
            position, children = waiting[-1]
            child = next(children, None)
            if child is None:
                waiting.pop()
                yield "close", position
            elif done[child] or len(waiting) >= DEEPEST:
                yield "reference", child
            else:
                done[child] = True
                yield "open", child
                waiting.append((child, iter(taxonomy.child_csr.row(child).tolist())))


def is_one_tree(taxonomy: Taxonomy) -> bool:
    """Return whether a single root holds everything, within the depth that is written nested."""
    try:
        return len(taxonomy.roots) == 1 and int(taxonomy.longest.max()) < DEEPEST
    except CycleError:
        return False


class Objects:
    """Makes the object of each concept, under the keys of the source.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is written.
    nested : bool
        Whether nesting says what is below what; otherwise each object names its parents or children.
    """

    def __init__(self, taxonomy: Taxonomy, nested: bool) -> None:
        self.taxonomy = taxonomy
        style = style_of(taxonomy)
        self.names: dict[str, str] = dict(style.get("keys", {}))
        self.children = self.names.get("children", "children")
        self.parents = self.names.get("parents", "parents")
        directions = style.get("directions") or ["parents"]
        self.directions = [] if nested else [role for role in ("parents", "children") if role in directions]
        parents = jv.PARENTS if not nested or not len(taxonomy.edge_array) else ()
        self.keys = ambiguous_keys(taxonomy, nested) | KEYS | {*parents, *self.names.values()}
        self.with_ids = bool(self.directions) or has_other_ids(taxonomy)

    def entry(self, position: int) -> dict[str, Any]:
        """Return the object of a concept, without what is nested in it."""
        concept = self.taxonomy.concept(position)
        entry: dict[str, Any] = {"id": concept.id} if self.with_ids or concept.id != concept.name else {}
        entry["name"] = concept.name
        entry = {self.names.get(key, key): value for key, value in jv.with_details(entry, concept, self.keys).items()}
        if "parents" in self.directions:
            above = self.taxonomy.parent_csr.row(position).tolist()
            entry[self.parents] = [self.taxonomy.ids[parent] for parent in above]
        if "children" in self.directions:
            below = self.taxonomy.child_csr.row(position).tolist()
            entry[self.children] = [self.taxonomy.ids[child] for child in below]
        return entry

    def reference(self, position: int) -> dict[str, Any]:
        """Return the object that stands for a concept which is written elsewhere."""
        return {self.names.get("id", "id"): self.taxonomy.ids[position]}
