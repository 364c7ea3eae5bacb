"""What the other concepts of a list change about the answer for one of them.

`suggest` ranks a new concept in the taxonomy alone. `expand` also asks whether its parent is another concept of the
list (`new_parents`). Where that is not likely the answer of `suggest` stays; otherwise existing parents have what
probability the new ones leave them, and it is said what the list changed. A new parent takes the place of the existing
concepts above it. Of the others one may be a further parent, as often as concepts have several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from taxosphere.percent import percent
from taxosphere.placing.suggestions import Suggestion, Suggestions
from taxosphere.ranking.calibration import N_PLACES
from taxosphere.ranking.parent_set import ParentSet
from taxosphere.taxonomy import Taxonomy

LIKELY = 0.2  # probability of all new concepts together from which on the list changes an answer


def several_parents(taxonomy: Taxonomy) -> float:
    """Share of the concepts below others that are below several."""
    counts = taxonomy.parent_csr.counts
    return float((counts > 1).sum() / max(1, (counts > 0).sum()))


def choose(
    alone: Suggestions,
    new: Suggestions,
    existing: Taxonomy,
    parent_set: ParentSet,
    best: Mapping[str, str],
    *,
    several: float,
) -> Suggestions:
    """The answer for one concept of a list, with `Suggestions.list_effect` where the list changed it.

    Parameters
    ----------
    alone : Suggestions
        Ranked in the taxonomy alone, as `suggest` answers.
    new : Suggestions
        Other concepts of the list that may be its parent; ``none_probability`` is that none of them is.
    existing : Taxonomy
    parent_set : ParentSet
        Which of the first places are parents together.
    best : mapping of str to str
        By id of a new concept, the id of its best existing parent.
    several : float
        `several_parents` of the taxonomy.

    Returns
    -------
    Suggestions
        ``alone`` itself where new concepts have together less than `LIKELY`, otherwise both in one list.
    """
    rest = new.none_probability
    if not new or 1 - rest < LIKELY:
        return alone
    less = [replace(one, probability=one.probability * rest) for one in alone]
    ranked = sorted([*less, *new], key=lambda one: -one.probability)[: max(len(alone), N_PLACES)]
    together = ranked[:N_PLACES]
    probabilities = [one.probability for one in together]
    if together[0].id not in existing:
        beside = [one for one in together[1:] if not _on_one_path(one, together[0], existing, best)]
        share = 1 + several * (1 - rest) / max(rest, 1e-9)  # of what a further parent has without the new one
        probabilities = [probabilities[0], *(min(probabilities[0], share * one.probability) for one in beside)]
        together = [together[0], *beside]
    taken = parent_set.choose(np.array([probabilities]))[0]
    parents: list[Suggestion] = []
    for one, chosen in zip(together, taken, strict=True):
        if chosen and not any(_on_one_path(one, other, existing, best) for other in parents):
            parents.append(one)
    return replace(
        alone,
        none_probability=alone.none_probability * rest,
        ranked=tuple(ranked),
        parents=tuple(parents),
        list_effect=_effect(alone, new[0], ranked[0]),
    )


def _on_one_path(one: Suggestion, other: Suggestion, existing: Taxonomy, best: Mapping[str, str]) -> bool:
    """Whether one of two parents is above the other, new ones being where they would go alone."""
    if one.id not in existing and other.id not in existing:
        return True  # nothing tells whether they are; one of them is enough
    above = [existing.ancestor_csr.row(existing.position(id)) for id in (one.id, other.id) if id in existing]
    places = [existing.position(best.get(id, id)) if best.get(id, id) in existing else -1 for id in (one.id, other.id)]
    if len(above) == 2:
        return places[1] in above[0] or places[0] in above[1]
    old, new = (places[0], places[1]) if one.id in existing else (places[1], places[0])
    return old == new or (new >= 0 and old in existing.ancestor_csr.row(new))


def _effect(alone: Suggestions, likeliest: Suggestion, best: Suggestion) -> str:
    without = (
        f"without the list: '{alone[0].name}' ({percent(alone[0].probability)})" if alone else "without the list: none"
    )
    if likeliest is best:
        return f"its best parent '{likeliest.name}' ({percent(likeliest.probability)}) is new too; {without}"
    return (
        f"'{likeliest.name}' of the list may be its parent ({percent(likeliest.probability)}), "
        f"'{best.name}' has {percent(best.probability)}; {without}"
    )
