"""Computing all features of a block of queries; the names and what they mean are in `catalogue`.

Features come in families that can be switched off: ``sphere`` (learned directions and the gate), ``encoder`` (vectors
as the encoder gives them), ``votes`` (parents of similar concepts, similar children), ``structure`` (the candidate
alone), ``names`` and ``descriptions`` (shared words, candidates mentioned in the query).

Several features compare the query with concepts by one of five measures: "sphere", "text" and "name" (encoder vectors),
"words" and "spelling" (TF-IDF of words and of letter runs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from taxosphere.orbit import gate
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import check_families
from taxosphere.ranking.features.layout import (
    Column,
    FeatureColumns,
    NonLeafColumn,
    SparseColumn,
    largest_columns,
    split_stacked,
)
from taxosphere.ranking.lexical.index import BAGS, PHRASE, EncodedBags, count_feature, share_feature
from taxosphere.ranking.lexical.mentions import definition_mentions, name_mentions
from taxosphere.ranking.lexical.sparse_rows import SparseRows, stack_rows
from taxosphere.ranking.queries import Queries
from taxosphere.typing import Floats

Columns = dict[str, Column]
Similarities = dict[str, Floats]  # (q, n) by measure
QueryBags = Mapping[str, EncodedBags]  # by name of the bag

N_ORPHAN_FEATURES = 4
_CHILD_MEASURES = ("sphere", "text", "name", "words", "spelling")
_GATE_GAMMA = 10.0  # γ of the gate margin: it sets the scale of the feature and decides nothing
_VOTERS, _MANY_VOTERS = 10, 30  # concepts most similar to the query that vote for their parents
_VECTOR_SHARPNESS, _WORD_SHARPNESS, _WIDE_SHARPNESS = 20.0, 10.0, 6.0


def compute_features(index: CandidateIndex, queries: Queries, families: Sequence[str]) -> FeatureColumns:
    """All features of the families that are switched on, except ``structure``, which does not depend on the query.

    Parameters
    ----------
    index
        The n candidates.
    queries
        A block of q queries, encoded by the same network as the candidates.
    families
        Feature families to compute; see `catalogue.FAMILIES`.

    Raises
    ------
    TaxosphereError
        There is no such family.
    """
    check_families(families)
    bags = {
        name: bag.encode([BAGS[name](query) for query in queries.parsed])
        for name, bag in index.lexical_index.bags.items()
    }
    similarity = similarities(index, queries, bags)
    # Children's values are gathered from the transposed matrices (n, q): one contiguous row per child.
    transposed = {measure: np.ascontiguousarray(similarity[measure].T) for measure in _CHILD_MEASURES}
    columns: Columns = {}
    if "sphere" in families:
        columns |= sphere_features(index, queries, similarity, transposed)
    if "encoder" in families:
        columns |= encoder_features(index, similarity, transposed)
    if "names" in families:
        columns |= name_features(index, queries, similarity, bags)
    if "descriptions" in families:
        columns |= description_features(index, queries, similarity, bags)
    if "votes" in families:
        columns |= vote_features(index, similarity, transposed, families)
    return FeatureColumns(
        shape=(len(queries), len(index.taxonomy)),
        families=tuple(families),
        non_leaves=index.non_leaves,
        columns=columns,
        orphan_features=orphan_features(index, similarity, bags, families),
    )


def similarities(index: CandidateIndex, queries: Queries, bags: QueryBags) -> Similarities:
    """Cosines (q, n) of queries and candidates by each measure, which several families build on."""
    query_vectors, candidate_vectors = queries.text_vectors, index.text_vectors
    unit = {name: index.lexical_index.bags[name].unit_rows(*bags[name]) for name in ("spelling", "words")}
    lexical = index.lexical_index.similarity.multiply(unit | {"words, children": unit["words"]})  # (3q, n)
    spelling, words, words_children = np.split(np.asarray(lexical.toarray(), np.float32), 3)
    both = np.concatenate([query_vectors.full, query_vectors.name])  # (2q, m)
    text, name_to_text = np.split(dot_products(both, candidate_vectors.full), 2)
    text_to_name, name = np.split(dot_products(both, candidate_vectors.name), 2)
    return {
        "sphere": dot_products(queries.points.z, index.points.z),
        "text": text,
        "name": name,
        "text to name": text_to_name,
        "name to text": name_to_text,
        "spelling": spelling,
        "words": words,
        "words, children": words_children,
    }


def dot_products(queries: Floats, candidates: Floats) -> Floats:
    """Dot products (q, n) of rows (q, m) and (n, m).

    One or two queries are multiplied by torch: after a numpy product BLAS threads spin for a while, and the encoder of
    the next query would wait for their core. A single row is doubled, because a product with two columns reads memory
    faster than one with a vector.
    """
    if len(queries) > 2:
        return np.asarray(queries @ candidates.T, np.float32)
    two = torch.from_numpy(queries if len(queries) == 2 else np.repeat(queries, 2, 0))
    return np.ascontiguousarray((torch.from_numpy(candidates) @ two.T).numpy().T[: len(queries)])


def sphere_features(
    index: CandidateIndex, queries: Queries, similarity: Similarities, transposed: Similarities
) -> Columns:
    """Cosines on the sphere, the gate's margin, and log densities of the query's point under the candidates' vMF."""
    threshold = gate.thresholds(index.radius_gaps, _GATE_GAMMA).astype(np.float32)  # (n,)
    margin = similarity["sphere"] - threshold
    direction = dot_products(queries.points.z, index.points.mu)
    log_density = direction * index.points.kappa
    log_density += index.log_normalizer
    return {
        "sphere similarity": similarity["sphere"],
        "sphere similarity to children": similarity_to_children(index, "sphere", transposed),
        "gate margin": np.clip(margin, -2, 2, out=margin),
        "sphere direction similarity": direction,
        "sphere likelihood": log_density,
    }


def similarity_to_children(index: CandidateIndex, measure: str, transposed: Similarities) -> NonLeafColumn:
    """Dot product of the query with the unit mean of the candidate's children; zero where there are none.

    The product with a mean is the mean of products, so it is read off the similarities (n, q) to all concepts.
    """
    values = np.ascontiguousarray((index.child_weights[measure] @ transposed[measure][: index.n_trusted]).T)
    return NonLeafColumn(values, np.zeros((len(values), 1), np.float32))


def encoder_features(index: CandidateIndex, similarity: Similarities, transposed: Similarities) -> Columns:
    """Cosines of encoder vectors: of whole texts, of names, of one with the other, and with the children's mean."""
    return {
        "text similarity": similarity["text"],
        "name similarity": similarity["name"],
        "text to name similarity": similarity["text to name"],
        "name to text similarity": similarity["name to text"],
        "text similarity to children": similarity_to_children(index, "text", transposed),
        "name similarity to children": similarity_to_children(index, "name", transposed),
    }


def name_features(index: CandidateIndex, queries: Queries, similarity: Similarities, bags: QueryBags) -> Columns:
    """Spelling, words of names used by the candidate's children, and candidates mentioned in the query's name."""
    columns: Columns = {"spelling similarity": similarity["spelling"]}
    columns |= children_word_features(index, bags, ("name head", "name start"), ("name words",))
    return columns | name_mentions(index.lexical_index, queries.parsed, len(index.taxonomy))


def description_features(index: CandidateIndex, queries: Queries, similarity: Similarities, bags: QueryBags) -> Columns:
    """Shared words, words of definitions used by the candidate's children, and candidates the definition mentions."""
    columns: Columns = {
        "word similarity": similarity["words"],
        "word similarity to children": similarity["words, children"],
    }
    columns |= children_word_features(index, bags, PHRASE, ("words", "phrase words"))
    return columns | definition_mentions(index.lexical_index, queries.parsed, len(index.taxonomy))


def children_word_features(
    index: CandidateIndex, bags: QueryBags, single_word: Sequence[str], several_words: Sequence[str]
) -> Columns:
    """How much the children of each candidate use the query's words: shares of all uses, and log counts."""
    rows: dict[str, SparseRows] = {}
    for bag in single_word:
        rows |= dict.fromkeys((share_feature(bag), count_feature(bag)), bags[bag].rows)
    for bag in several_words:
        rows[share_feature(bag)] = index.lexical_index.bags[bag].weight_shares(*bags[bag])
    columns = split_stacked(index.lexical_index.children_words.multiply(rows), list(rows))
    for bag in single_word:
        count = columns[count_feature(bag)]
        columns[count_feature(bag)] = SparseColumn(count.keys, np.log1p(count.values))
    return dict(columns)


def vote_features(
    index: CandidateIndex, similarity: Similarities, transposed: Similarities, families: Sequence[str]
) -> Columns:
    """Votes of the concepts most similar to the query for parents and grandparents, and the most similar child."""
    sharpness = {"text": _VECTOR_SHARPNESS, "name": _VECTOR_SHARPNESS}
    sharpness |= {"sphere": _VECTOR_SHARPNESS} if "sphere" in families else {}
    sharpness |= {"words": _WORD_SHARPNESS} if "descriptions" in families else {}
    sharpness |= {"spelling": _WORD_SHARPNESS} if "names" in families else {}
    trusted, measures = index.n_trusted, list(sharpness)
    votes = [vote_weights(similarity[measure][:, :trusted], _VOTERS, sharpness[measure]) for measure in measures]
    for_parents = stack_rows(votes).matrix(trusted) @ index.trusted_parents  # (measures · q, n)
    parents = split_stacked(for_parents, measures)
    grandparents = split_stacked(for_parents @ index.parents, measures)
    columns: Columns = {}
    for measure in measures:
        columns[f"parent of similar concepts, by {measure}"] = parents[measure]
        columns[f"grandparent of similar concepts, by {measure}"] = grandparents[measure]
        columns[f"most similar child, by {measure}"] = most_similar_child(index, transposed[measure])
    joint = similarity["text"] + similarity["name"]
    joint += similarity["sphere"] if "sphere" in families else 0
    many = vote_weights(joint[:, :trusted], _MANY_VOTERS, _WIDE_SHARPNESS)
    for_parents = many.matrix(trusted) @ index.trusted_parents  # (q, n)
    columns |= split_stacked(for_parents, ["parent of the 30 most similar"])
    return columns | split_stacked(for_parents @ index.ancestors, ["ancestor of the 30 most similar"])


def vote_weights(similarity: Floats, n_voters: int, sharpness: float) -> SparseRows:
    """Softmax weights of each query's most similar concepts; concepts with similarity 0 do not vote.

    Parameters
    ----------
    similarity
        (q, n) of queries and concepts.
    n_voters
        How many concepts vote.
    sharpness
        Factor of the similarities in the softmax.

    Returns
    -------
    Rows (q, n), each adding up to one, or to zero where nothing is similar.
    """
    nearest = largest_columns(similarity, n_voters)  # (q, k)
    count, k = nearest.shape
    values = np.take_along_axis(similarity, nearest, 1)
    weights = np.where(values != 0, np.exp(sharpness * (values - values.max(1, keepdims=True))), 0)
    weights /= np.maximum(weights.sum(1, keepdims=True), 1e-12)
    ends = k * np.arange(count + 1, dtype=np.int32)
    return SparseRows(weights.ravel().astype(np.float32), nearest.ravel().astype(np.int32), ends)


def orphan_features(
    index: CandidateIndex, similarity: Similarities, bags: QueryBags, families: Sequence[str]
) -> Floats:
    """Mean orphan scores (q, N_ORPHAN_FEATURES) of concepts around each query; they say whether its parent is missing.

    A missing parent leaves its children without one, and they resemble the query that misses it too. The columns are
    means over the concepts most similar by text; by text and words; over those whose definition has the same head of
    the first phrase; the same first word. A family that is switched off leaves zeros.
    """
    described, trusted = "descriptions" in families, index.n_trusted
    features = np.zeros((len(similarity["text"]), N_ORPHAN_FEATURES), np.float32)
    if "votes" in families:
        sources = [similarity["text"], *([similarity["text"] + similarity["words"]] if described else [])]
        for column, source in enumerate(sources):
            near = vote_weights(source[:, :trusted], _MANY_VOTERS, _WIDE_SHARPNESS)
            features[:, column] = near.matrix(trusted) @ index.orphan_scores
    if described:
        mean = index.orphan_scores.mean()
        for column, bag in enumerate(PHRASE, N_ORPHAN_FEATURES - len(PHRASE)):
            rows = bags[bag].rows
            features[:, column] = mean + rows.sums(index.orphan_scores_by_word[bag][rows.columns] - mean)
    return features


def most_similar_child(index: CandidateIndex, transposed: Floats) -> NonLeafColumn:
    """Similarity of the candidate's most similar child, from similarities (n, q); the query's lowest where none."""
    nothing = np.zeros((0, transposed.shape[1]), np.float32)
    best = np.concatenate([nothing, *(transposed.take(children, 0).max(0) for _, children in index.child_groups)])
    return NonLeafColumn(np.ascontiguousarray(best.T), transposed.min(axis=0)[:, None])


def most_similar_child_dense(index: CandidateIndex, similarity: Floats) -> Floats:
    """The same as a dense matrix (q, n), from similarities (q, n)."""
    column = most_similar_child(index, np.ascontiguousarray(similarity.T))
    dense = np.repeat(column.elsewhere, similarity.shape[1], axis=1)
    dense[:, index.non_leaves] = column.values
    return dense
