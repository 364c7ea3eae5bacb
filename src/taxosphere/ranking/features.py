"""What speaks for a candidate, as one (queries, candidates) matrix per sign.

Signs come in families that can be switched off: ``sphere`` (learned directions and the gate), ``encoder`` (raw
vectors), ``votes`` (parents of similar concepts, similar children), ``structure`` (of the candidate alone), ``names``
and ``descriptions`` (words in common, candidate named in the query).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taxosphere.orbit import gate
from taxosphere.ranking.context import Context, Points
from taxosphere.ranking.lexicon import BAGS, SEVERAL, SINGLE, Matrix
from taxosphere.ranking.mentions import definition_mentions, name_mentions
from taxosphere.ranking.views import Views
from taxosphere.ranking.words import Reading

Floats = NDArray[np.float32]
Signs = dict[str, Floats]

FAMILIES = ("sphere", "encoder", "votes", "structure", "names", "descriptions")
_GATE = 10.0  # γ of the gate margin: a scale for the feature, not a decision


@dataclass(frozen=True)
class Queries:
    """A block of queries in every form the features need."""

    readings: Sequence[Reading]
    views: Views
    points: Points


def signs(context: Context, queries: Queries, families: Sequence[str]) -> Signs:
    """All signs of the wanted families but ``structure``, which does not depend on the query."""
    found: Signs = {}
    similar = similarities(context, queries)
    if "sphere" in families:
        found |= {"sphere": similar["sphere"], "sphere, children": queries.points.z @ context.centres["z"].T}
        threshold = gate.thresholds(context.delta, _GATE).astype(np.float32)
        found["gate margin"] = np.clip(similar["sphere"] - threshold, -2, 2)
        found["sphere mean"] = queries.points.z @ context.points.mu.T
        found["sphere likelihood"] = likelihood(context, queries)
    if "encoder" in families:
        found |= encoder_signs(context, queries, similar)
    if "names" in families:
        found |= name_signs(context, queries, similar)
    if "descriptions" in families:
        found |= description_signs(context, queries, similar)
    if "votes" in families:
        found |= vote_signs(context, similar, families)
    return found


def similarities(context: Context, queries: Queries) -> Signs:
    """Query to concept by each measure; several families build on them."""
    lexicon = context.lexicon
    unit = {}
    for name in ("grams", "text"):
        rows, strange = lexicon.bags[name].encode([BAGS[name](r) for r in queries.readings])
        unit[name] = lexicon.bags[name].unit(rows, strange)
    return {
        "sphere": queries.points.z @ context.points.z.T,
        "full": queries.views.full @ context.views.full.T,
        "name": queries.views.name @ context.views.name.T,
        "grams": _dense(unit["grams"] @ lexicon.grams),
        "text": _dense(unit["text"] @ lexicon.text),
        "text, children": _dense(unit["text"] @ lexicon.text_centre),
    }


def likelihood(context: Context, queries: Queries) -> Floats:
    """log density of each query's point under each candidate's von Mises–Fisher distribution."""
    return queries.points.z @ context.pull.T + context.log_normalizer


def encoder_signs(context: Context, queries: Queries, similar: Signs) -> Signs:
    asked, known = queries.views, context.views
    # Two kinds of queries at once: reading all candidates from memory is what takes the time.
    both = np.concatenate([asked.name, asked.description])
    name_described, described = np.split(both @ known.description.T, 2)
    return {
        "encoder": similar["full"],
        "encoder, names": similar["name"],
        "encoder, descriptions": described,
        "encoder, description to name": asked.description @ known.name.T,
        "encoder, name to description": name_described,
        "encoder, children": asked.full @ context.centres["full"].T,
        "encoder, children's names": asked.name @ context.centres["name"].T,
    }


def name_signs(context: Context, queries: Queries, similar: Signs) -> Signs:
    found = {"letters in common": similar["grams"]}
    found |= associations(context, queries, ("name head", "name start"), ("name words",))
    return found | name_mentions(context.lexicon, queries.readings, len(context.taxonomy))


def description_signs(context: Context, queries: Queries, similar: Signs) -> Signs:
    found = {"words in common": similar["text"], "words in common, children": similar["text, children"]}
    found |= associations(context, queries, ("phrase head", "phrase start"), ("text", "phrase words"))
    return found | definition_mentions(context.lexicon, queries.readings, len(context.taxonomy))


def associations(context: Context, queries: Queries, single: Sequence[str], several: Sequence[str]) -> Signs:
    """Below which candidates the seed uses the query's words."""
    assert set(single) <= set(SINGLE)
    assert set(several) <= set(SEVERAL)
    found: Signs = {}
    for name in (*single, *several):
        bag, known = context.lexicon.bags[name], context.lexicon.associations[name]
        rows, strange = bag.encode([BAGS[name](r) for r in queries.readings])
        if name in single:
            found[f"{name} below, share"] = _dense(rows @ known.shares)
            found[f"{name} below, count"] = np.log1p(_dense(rows @ known.counts))
        else:
            weighted = _dense(bag.weighted(rows) @ known.shares)
            found[f"{name} below, share"] = weighted / bag.total(rows, strange)[:, None]
    return found


def vote_signs(context: Context, similar: Signs, families: Sequence[str]) -> Signs:
    """Parents of the most similar concepts, their parents in turn, and the most similar child."""
    sources = {"full": 20.0, "name": 20.0}
    sources |= {"sphere": 20.0} if "sphere" in families else {}
    sources |= {"text": 10.0} if "descriptions" in families else {}
    sources |= {"grams": 10.0} if "names" in families else {}
    found: Signs = {}
    for name, sharpness in sources.items():
        cast = votes(similar[name][:, : context.evidence], 10, sharpness) @ context.parents
        found[f"votes, {name}"] = _dense(cast)
        found[f"votes one up, {name}"] = _dense(cast @ context.grandparents)
        found[f"most similar child, {name}"] = best_child(context, similar[name])
    wide = similar["full"] + similar["name"] + (similar["sphere"] if "sphere" in families else 0)
    cast = votes(wide[:, : context.evidence], 30, 6.0) @ context.parents
    found["votes, wide"] = _dense(cast)
    found["votes below"] = _dense(cast @ context.above)
    return found


def votes(similarity: Floats, count: int, sharpness: float) -> Matrix:
    """Each query's most similar concepts with weights that sum to one: (queries, evidence), sparse."""
    number, size = similarity.shape
    count = min(count, size)
    nearest = np.argpartition(-similarity, count - 1, axis=1)[:, :count] if count < size else _all(number, size)
    values = np.take_along_axis(similarity, nearest, 1)
    weights = np.exp(sharpness * (values - values.max(1, keepdims=True)))
    weights /= weights.sum(1, keepdims=True)
    rows = np.repeat(np.arange(number), count)
    return sparse.csr_array((weights.ravel().astype(np.float32), (rows, nearest.ravel())), shape=(number, size))


def best_child(context: Context, similarity: Floats) -> Floats:
    """Similarity of the candidate's most similar child; the query's lowest similarity where there is none."""
    children, owners, starts = context.child_order
    lowest = similarity.min(axis=1, keepdims=True)
    found = np.repeat(lowest, similarity.shape[1], axis=1)
    if len(children):
        found[:, owners] = np.maximum.reduceat(similarity[:, children], starts, axis=1)
    return found


def _all(number: int, size: int) -> NDArray[np.int64]:
    return np.tile(np.arange(size), (number, 1))


def _dense(matrix: Matrix) -> Floats:
    return np.asarray(matrix.toarray(), np.float32)
