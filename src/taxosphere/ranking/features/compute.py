"""What speaks for a candidate: signs, each a (queries, candidates) matrix in one form or another.

FeatureColumns come in families that can be switched off: ``sphere`` (learned directions and the gate), ``encoder`` (raw
vectors), ``votes`` (parents of similar concepts, similar children), ``structure`` (of the candidate alone), ``names``
and ``descriptions`` (words in common, candidate named in the query).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from taxosphere.encoders.text.vectors import TextVectors
from taxosphere.orbit import gate
from taxosphere.ranking.features.candidates import CandidateIndex, Points
from taxosphere.ranking.features.layout import (
    FeatureColumns,
    Form,
    Matrix,
    NonLeafColumn,
    SparseColumn,
    largest,
    split_stacked,
)
from taxosphere.ranking.lexical.index import BAGS, PHRASE, SEVERAL, SINGLE
from taxosphere.ranking.lexical.mentions import definition_mentions, name_mentions
from taxosphere.ranking.lexical.parse import ParsedConcept
from taxosphere.ranking.lexical.sparse_rows import SparseRows, stacked

Floats = NDArray[np.float32]
Forms = dict[str, Form]
Similar = dict[str, Floats]  # by measure
Words = Mapping[str, tuple[SparseRows, Floats]]  # of the queries, by the bag they are looked up in: `BagOfWords.encode`

FAMILIES = ("sphere", "encoder", "votes", "structure", "names", "descriptions")
ORPHAN_FEATURES = 4  # ways to look for loose ends
_COMPARED = ("sphere", "full", "name", "text", "grams")  # measures by which children are looked at
_GATE = 10.0  # γ of the gate margin: a scale for the feature, not a decision


@dataclass(frozen=True)
class Queries:
    """A block of queries in every form the features need."""

    parsed: Sequence[ParsedConcept]
    views: TextVectors
    points: Points


def signs(context: CandidateIndex, queries: Queries, families: Sequence[str]) -> FeatureColumns:
    """All signs of the wanted families but ``structure``, which does not depend on the query."""
    found: Forms = {}
    used = {
        name: bag.encode([BAGS[name](r) for r in queries.parsed]) for name, bag in context.lexical_index.bags.items()
    }
    similar = similarities(context, queries, used)
    # What children say is gathered from these: all queries of a child in a row.
    turned = {name: np.ascontiguousarray(similar[name].T) for name in _COMPARED}
    if "sphere" in families:
        found |= sphere_signs(context, queries, similar, turned)
    if "encoder" in families:
        found |= encoder_signs(context, similar, turned)
    if "names" in families:
        found |= name_signs(context, queries, similar, used)
    if "descriptions" in families:
        found |= description_signs(context, queries, similar, used)
    if "votes" in families:
        found |= vote_signs(context, similar, turned, families)
    shape = (len(queries.parsed), len(context.taxonomy))
    return FeatureColumns(shape, context.non_leaves, found, orphan_features(context, similar, used, families))


def similarities(context: CandidateIndex, queries: Queries, used: Words) -> Similar:
    """Query to concept by each measure; several families build on them."""
    asked, known = queries.views, context.views
    unit = {name: context.lexical_index.bags[name].unit(*used[name]) for name in ("grams", "text")}
    words = _dense(context.lexical_index.similar.ask(unit | {"text, children": unit["text"]}))
    both = np.concatenate([asked.full, asked.name])
    texts, name_to_text = np.split(product(both, known.full), 2)
    text_to_name, names = np.split(product(both, known.name), 2)
    return {
        "sphere": product(queries.points.z, context.points.z),
        "full": texts,
        "name": names,
        "text to name": text_to_name,
        "name to text": name_to_text,
        **dict(zip(("grams", "text", "text, children"), np.split(words, 3), strict=True)),
    }


def product(asked: Floats, known: Floats) -> Floats:
    """(q, n) of unit rows. What a single query asks goes through torch: numpy's threads would hold a core for a while
    afterwards, and the encoder of the next query would wait for it. One row is asked twice: a product with two columns
    reads memory faster than one with a vector."""
    if len(asked) > 2:
        return np.asarray(asked @ known.T, np.float32)
    two = torch.from_numpy(asked if len(asked) == 2 else np.repeat(asked, 2, 0))
    return np.ascontiguousarray((torch.from_numpy(known) @ two.T).numpy().T[: len(asked)])


def sphere_signs(context: CandidateIndex, queries: Queries, similar: Similar, turned: Similar) -> Forms:
    """Sphere cosine, gate margin, and the log density of the query's point under each candidate's vMF distribution."""
    threshold = gate.thresholds(context.delta, _GATE).astype(np.float32)
    margin = similar["sphere"] - threshold
    mean = product(queries.points.z, context.points.mu)
    density = mean * context.points.kappa
    density += context.log_normalizer
    return {
        "sphere": similar["sphere"],
        "sphere, children": of_children(context, "sphere", turned),
        "gate margin": np.clip(margin, -2, 2, out=margin),
        "sphere mean": mean,
        "sphere likelihood": density,
    }


def of_children(context: CandidateIndex, name: str, turned: Similar) -> NonLeafColumn:
    """Similarity to the centre of the candidate's children; zero where there are none.

    The product with a mean is the mean of the products, and those with all concepts are there already.
    """
    values = np.ascontiguousarray((context.centres[name] @ turned[name][: context.n_trusted]).T)
    return NonLeafColumn(values, np.zeros((len(values), 1), np.float32))


def encoder_signs(context: CandidateIndex, similar: Similar, turned: Similar) -> Forms:
    return {
        "encoder": similar["full"],
        "encoder, names": similar["name"],
        "encoder, text to name": similar["text to name"],
        "encoder, name to text": similar["name to text"],
        "encoder, children": of_children(context, "full", turned),
        "encoder, children's names": of_children(context, "name", turned),
    }


def name_signs(context: CandidateIndex, queries: Queries, similar: Similar, used: Words) -> Forms:
    found: Forms = {"letters in common": similar["grams"]}
    found |= associations(context, used, ("name head", "name start"), ("name words",))
    return found | name_mentions(context.lexical_index, queries.parsed, len(context.taxonomy))


def description_signs(context: CandidateIndex, queries: Queries, similar: Similar, used: Words) -> Forms:
    found: Forms = {"words in common": similar["text"], "words in common, children": similar["text, children"]}
    found |= associations(context, used, PHRASE, ("text", "phrase words"))
    return found | definition_mentions(context.lexical_index, queries.parsed, len(context.taxonomy))


def associations(context: CandidateIndex, used: Words, single: Sequence[str], several: Sequence[str]) -> Forms:
    """NonLeafColumn which candidates the seed uses the query's words."""
    assert set(single) <= set(SINGLE)
    assert set(several) <= set(SEVERAL)
    rows: dict[str, SparseRows] = {}
    for name in single:
        rows |= dict.fromkeys((f"{name} below, share", f"{name} below, count"), used[name][0])
    for name in several:
        rows[f"{name} below, share"] = context.lexical_index.bags[name].share(*used[name])
    found = split_stacked(context.lexical_index.below.ask(rows), list(rows))
    for name in single:
        count = found[f"{name} below, count"]
        found[f"{name} below, count"] = SparseColumn(count.keys, np.log1p(count.values))
    return dict(found)


def vote_signs(context: CandidateIndex, similar: Similar, turned: Similar, families: Sequence[str]) -> Forms:
    """Parents of the most similar concepts, their parents in turn, and the most similar child."""
    sources = {"full": 20.0, "name": 20.0}
    sources |= {"sphere": 20.0} if "sphere" in families else {}
    sources |= {"text": 10.0} if "descriptions" in families else {}
    sources |= {"grams": 10.0} if "names" in families else {}
    ballots = [votes(similar[name][:, : context.n_trusted], 10, sharpness) for name, sharpness in sources.items()]
    cast = stacked(ballots).matrix(context.n_trusted) @ context.parents
    parents = split_stacked(cast, list(sources))
    grandparents = split_stacked(cast @ context.grandparents, list(sources))
    found: Forms = {}
    for name in sources:
        found[f"votes, {name}"] = parents[name]
        found[f"votes one up, {name}"] = grandparents[name]
        found[f"most similar child, {name}"] = most_similar_child(context, turned[name])
    wide = similar["full"] + similar["name"]
    wide += similar["sphere"] if "sphere" in families else 0
    cast = votes(wide[:, : context.n_trusted], 30, 6.0).matrix(context.n_trusted) @ context.parents
    return found | split_stacked(cast, ["votes, wide"]) | split_stacked(cast @ context.above, ["votes below"])


def votes(similarity: Floats, count: int, sharpness: float) -> SparseRows:
    """Each query's most similar concepts, with weights that sum to one; who has nothing in common with it is silent."""
    nearest = largest(similarity, count)
    number, count = nearest.shape
    values = np.take_along_axis(similarity, nearest, 1)
    weights = np.where(values != 0, np.exp(sharpness * (values - values.max(1, keepdims=True))), 0)
    weights /= np.maximum(weights.sum(1, keepdims=True), 1e-12)
    ends = count * np.arange(number + 1, dtype=np.int32)
    return SparseRows(weights.ravel().astype(np.float32), nearest.ravel().astype(np.int32), ends)


def orphan_features(context: CandidateIndex, similar: Similar, used: Words, families: Sequence[str]) -> Floats:
    """(q, ORPHAN_FEATURES): share of concepts without a parent around the query: among those most like it by text, and
    by text and words together; of those whose definition says with the same word what they are.

    A parent that is missing leaves its children behind, and they resemble the query that misses it too.
    """
    described = "descriptions" in families
    found = np.zeros((len(similar["full"]), ORPHAN_FEATURES), np.float32)
    if "votes" in families:
        sources = [similar["full"], *([similar["full"] + similar["text"]] if described else [])]
        for column, source in enumerate(sources):
            near = votes(source[:, : context.n_trusted], 30, 6.0)
            found[:, column] = near.matrix(context.n_trusted) @ context.loose
    if described:
        for column, name in enumerate(PHRASE, ORPHAN_FEATURES - len(PHRASE)):
            rows, usual = used[name][0], context.loose.mean()
            found[:, column] = usual + rows.sums(context.orphan_word_scores[name][rows.columns] - usual)
    return found


def most_similar_child(context: CandidateIndex, turned: Floats) -> NonLeafColumn:
    """Similarity of the candidate's most similar child, from similarities (n, q); the query's lowest where there is
    none."""
    nothing = np.zeros((0, turned.shape[1]), np.float32)
    best = np.concatenate([nothing, *(turned.take(children, 0).max(0) for _, children in context.child_groups)])
    return NonLeafColumn(np.ascontiguousarray(best.T), turned.min(axis=0)[:, None])


def best_child(context: CandidateIndex, similarity: Floats) -> Floats:
    """The same for every candidate, as a full matrix."""
    child = most_similar_child(context, np.ascontiguousarray(similarity.T))
    found = np.repeat(child.elsewhere, similarity.shape[1], axis=1)
    found[:, context.non_leaves] = child.values
    return found


def _dense(matrix: Matrix) -> Floats:
    return np.asarray(matrix.toarray(), np.float32)
