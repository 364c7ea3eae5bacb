"""Obsolete concepts outside the hierarchy: no candidates for anything, so a taxonomy keeps them aside, in `meta`.

Every format writes them as concepts without an edge and knows them again by their mark. Only the native folder keeps
them as they are, because a model relies on its folder holding exactly the concepts it was fitted on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from taxosphere.taxonomy.checks import is_obsolete
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.graph import Taxonomy

META = "obsolete"


def set_aside(draft: Draft) -> None:
    """An id that is used twice stays where the fault is found; where all are obsolete, they are what there is."""
    marked = [row for row, extras in enumerate(draft.extras) if extras and is_obsolete(extras)]
    if not marked:
        return
    linked, uses = {*draft.parents, *draft.children}, Counter(draft.ids)
    rows = [row for row in marked if draft.ids[row] not in linked and uses[draft.ids[row]] == 1]
    if 0 < len(rows) < len(draft.ids):
        draft.meta[META] = [asdict(concept) for concept in draft.take_out(rows)]
        draft.left_out(f"{counted(len(rows), 'obsolete concept')} outside the hierarchy set aside (kept for writing)")


def concepts(taxonomy: Taxonomy) -> Iterator[Concept]:
    for record in taxonomy.meta.get(META, ()):
        yield Concept(**{key: _frozen(value) for key, value in record.items()})


def brought_back(taxonomy: Taxonomy) -> Taxonomy:
    """With the obsolete concepts as members, except where a new one has taken the id."""
    back = [concept for concept in concepts(taxonomy) if concept.id not in taxonomy]
    return taxonomy.add(back, ()) if back else taxonomy


def _frozen(value: Any) -> Any:
    """JSON knows lists only."""
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value
