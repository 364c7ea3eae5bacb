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
from numpy.typing import NDArray

from taxosphere.orbit import gate
from taxosphere.orbit.search import largest_columns
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import check_families, of_encoder
from taxosphere.ranking.features.compression import PRODUCTS
from taxosphere.ranking.features.gather import DEFAULT_RETRIEVAL, Retrieval, VectorSimilarities, gather
from taxosphere.ranking.features.novelty import pool_nearness
from taxosphere.ranking.features.pool import FeatureColumns, Pool, SparseRows
from taxosphere.ranking.lexical.index import BAGS, PHRASE, EncodedBags, count_feature, share_feature
from taxosphere.ranking.lexical.matching import LexicalScores, definition_mentions, name_mentions
from taxosphere.ranking.queries import Queries
from taxosphere.typing import Floats, Longs

Columns = dict[str, Floats]  # (p,) by name of the feature, or by measure
QueryBags = Mapping[str, EncodedBags]  # by name of the bag

N_ORPHAN_FEATURES = 4
_GATE_GAMMA = 10.0  # γ of the gate margin: it sets the scale of the feature and decides nothing
_VOTERS, _MANY_VOTERS = 10, 30  # concepts most similar to the query that vote for their parents
_VECTOR_SHARPNESS, _WORD_SHARPNESS, _WIDE_SHARPNESS = 20.0, 10.0, 6.0
_LOWEST = -1e30  # below every similarity
_NAME_WORDS = ("name head", "name start", "name words")
_DESCRIPTION_WORDS = ("phrase head", "phrase start", "words", "phrase words")


def compute_features(
    index: CandidateIndex,
    queries: Queries,
    families: Sequence[str],
    *,
    n_needed: int = 0,
    retrieval: Retrieval = DEFAULT_RETRIEVAL,
) -> FeatureColumns:
    """All features of the families that are switched on, except ``structure``, which does not depend on the query.

    Parameters
    ----------
    index
        The n candidates.
    queries
        A block of q queries, encoded by the same network as the candidates.
    families
        Feature families to compute; see `catalogue.FAMILIES`.
    n_needed
        Candidates that the pool of every query holds at least, where there are as many.
    retrieval
        How the pool is made.

    Raises
    ------
    TaxosphereError
        There is no such family.
    """
    check_families(families)
    words, size = index.lexical_index, len(index.taxonomy)
    bags = {name: bag.encode([BAGS[name](query) for query in queries.parsed]) for name, bag in words.bags.items()}
    vectors = VectorSimilarities(index, queries)
    lexical = LexicalScores(words, bags, retrieval.word_uses if size > PRODUCTS else None)
    mentions = name_mentions(words, queries.parsed, size) if "names" in families else {}
    mentions |= definition_mentions(words, queries.parsed, size) if "descriptions" in families else {}
    pool = gather(index, vectors, lexical, list(mentions.values()), n_needed=n_needed, settings=retrieval)
    similarity = vectors.at(("text", "name", "text to name", "name to text", "sphere"), pool) | lexical.at(pool)
    columns = vector_features(index, vectors, pool, families, similarity)
    if "names" in families:
        columns |= {"spelling similarity": similarity["spelling"]}
        columns |= children_word_features(similarity, _NAME_WORDS)
    if "descriptions" in families:
        compared = {"word similarity": "words", "word similarity to children": "words, children"}
        columns |= {name: similarity[measure] for name, measure in compared.items()}
        columns |= children_word_features(similarity, _DESCRIPTION_WORDS)
    columns |= {name: column.at(pool) for name, column in mentions.items()}
    wide_votes = wide_votes_of(pool, similarity, families)
    if "votes" in families:
        columns |= vote_features(index, pool, similarity, wide_votes["joint"], families)
    for number, (seen, asked) in enumerate(zip(index.by_encoder, queries.by_encoder, strict=True), 1):
        for name, values in features_by_vectors(seen, asked, pool, families).items():
            columns[of_encoder(name, number)] = values
    return FeatureColumns(
        pool=pool,
        families=tuple(families),
        columns=columns,
        orphan_features=orphan_features(index, pool, wide_votes, bags, families),
        nearness=pool_nearness(pool, similarity["text"]),
    )


def vector_features(
    index: CandidateIndex, vectors: VectorSimilarities, pool: Pool, families: Sequence[str], similarity: Columns
) -> Columns:
    """Features of the families ``sphere`` and ``encoder``.

    Parameters
    ----------
    index, vectors, pool
        The n candidates, products with the queries, and the pairs to compute.
    families
        Those that are switched on.
    similarity
        (p,) by measure, at least those of encoder vectors and the sphere.
    """
    columns: Columns = {}
    if "sphere" in families:
        columns |= sphere_features(index, vectors, pool, similarity["sphere"])
    if "encoder" in families:
        columns |= {
            "text similarity": similarity["text"],
            "name similarity": similarity["name"],
            "text to name similarity": similarity["text to name"],
            "name to text similarity": similarity["name to text"],
            "text similarity to children": vectors.to_children("text", pool),
            "name similarity to children": vectors.to_children("name", pool),
        }
    return columns


def features_by_vectors(index: CandidateIndex, queries: Queries, pool: Pool, families: Sequence[str]) -> Columns:
    """Features that depend on the vectors of one of several encoders, for the pairs of a pool."""
    vectors = VectorSimilarities(index, queries)
    similarity = vectors.at(("text", "name", "text to name", "name to text", "sphere"), pool)
    columns = vector_features(index, vectors, pool, families, similarity)
    if "votes" in families:
        compared = [family for family in families if family not in ("names", "descriptions")]
        joint_votes = wide_votes_of(pool, similarity, compared)["joint"]
        columns |= vote_features(index, pool, similarity, joint_votes, compared)
    return columns


def sphere_features(index: CandidateIndex, vectors: VectorSimilarities, pool: Pool, similarity: Floats) -> Columns:
    """Cosines on the sphere, the gate's margin, and log densities of the query's point under the candidates' vMF."""
    threshold = gate.thresholds(index.radius_gaps[pool.positions], _GATE_GAMMA).astype(np.float32)  # (p,)
    direction = vectors.at(("direction",), pool)["direction"]
    return {
        "sphere similarity": similarity,
        "sphere similarity to children": vectors.to_children("sphere", pool),
        "gate margin": np.clip(similarity - threshold, -2, 2),
        "sphere direction similarity": direction,
        "sphere likelihood": direction * index.kappa[pool.positions] + index.log_normalizer[pool.positions],
    }


def children_word_features(values: Columns, bags: Sequence[str]) -> Columns:
    """How much the children of each candidate use the query's words: shares of all uses, and log counts."""
    names = [name for bag in bags for name in (share_feature(bag), count_feature(bag)) if name in values]
    return {name: values[name] for name in names}


def wide_votes_of(pool: Pool, similarity: Columns, families: Sequence[str]) -> Columns:
    """(p,) weights of the 30 concepts most similar to the query: "joint" (all vectors), "text", "text and words".

    Empty where votes are switched off; those of words need descriptions.
    """
    if "votes" not in families:
        return {}
    text = similarity["text"]
    joint = text + similarity["name"]
    sums = {"joint": joint + similarity["sphere"] if "sphere" in families else joint, "text": text}
    sums |= {"text and words": text + similarity["words"]} if "descriptions" in families else {}
    return dict(zip(sums, votes_of(pool, np.stack(list(sums.values())), _MANY_VOTERS, _WIDE_SHARPNESS), strict=True))


def vote_features(
    index: CandidateIndex, pool: Pool, similarity: Columns, joint_votes: Floats, families: Sequence[str]
) -> Columns:
    """Votes of the concepts most similar to the query for parents and grandparents, and the most similar child.

    ``joint_votes`` (p,) are those of `wide_votes_of` by all vectors.
    """
    sharpness = {"text": _VECTOR_SHARPNESS, "name": _VECTOR_SHARPNESS}
    sharpness |= {"sphere": _VECTOR_SHARPNESS} if "sphere" in families else {}
    sharpness |= {"words": _WORD_SHARPNESS} if "descriptions" in families else {}
    sharpness |= {"spelling": _WORD_SHARPNESS} if "names" in families else {}
    child, parent = pool.links(index.taxonomy.parent_csr, np.arange(len(pool)))
    by_parent = np.argsort(parent, kind="stable")
    sorted_child, sorted_parent = child[by_parent], parent[by_parent]
    compared = np.stack([similarity[measure] for measure in sharpness])  # (m, p)
    votes = votes_of(pool, compared, _VOTERS, np.array(list(sharpness.values()), np.float32))
    for_parents = pass_on(votes, sorted_child, sorted_parent)
    for_grandparents = pass_on(for_parents, child, parent)
    of_child = most_similar_child(pool, compared, sorted_child, sorted_parent)
    columns: Columns = {}
    for row, measure in enumerate(sharpness):
        columns[f"parent of similar concepts, by {measure}"] = for_parents[row]
        columns[f"grandparent of similar concepts, by {measure}"] = for_grandparents[row]
        columns[f"most similar child, by {measure}"] = of_child[row]
    for_parents = pass_on(joint_votes[None], sorted_child, sorted_parent)
    below, above = pool.links(index.taxonomy.ancestor_csr, np.flatnonzero(for_parents[0]))
    columns["parent of the 30 most similar"] = for_parents[0]
    columns["ancestor of the 30 most similar"] = pass_on(for_parents, below, above)[0]
    return columns


def pass_on(votes: Floats, givers: Longs, takers: NDArray[np.integer]) -> Floats:
    """(m, p) sums of the ``votes`` (m, p) that each taker gets, from pairs (e,), (e,) of places in the pool."""
    count, size = votes.shape
    places = (size * np.arange(count)[:, None] + takers).ravel()
    sums = np.bincount(places, votes.take(givers, axis=1).ravel(), count * size)
    return np.asarray(sums, np.float32).reshape(count, size)


def votes_of(pool: Pool, similarity: Floats, n_voters: int, sharpness: float | Floats) -> Floats:
    """(m, p) `vote_weights` of the concepts of a pool by m measures; ``sharpness`` is that of all or (m,) of each."""
    measures, width = len(similarity), pool.n_queries
    factors = np.broadcast_to(np.asarray(sharpness, np.float32), measures)
    tables = pool.padded(similarity, _LOWEST)
    rows = vote_weights(tables.reshape(measures * width, -1), n_voters, np.repeat(factors, width)[:, None])
    starts, stops = np.tile(pool.ends[:-1], measures), np.tile(pool.ends[1:], measures)
    places = rows.columns + np.repeat(starts, rows.counts)
    voting = np.flatnonzero(places < np.repeat(stops, rows.counts))
    measure = np.repeat(np.arange(measures), width).repeat(rows.counts)
    votes = np.zeros((measures, len(pool)), np.float32)
    votes[measure[voting], places[voting]] = rows.data[voting]
    return votes


def vote_weights(similarity: Floats, n_voters: int, sharpness: float | Floats) -> SparseRows:
    """Softmax weights of each query's most similar concepts; concepts with similarity 0 do not vote.

    Parameters
    ----------
    similarity
        (q, n) of queries and concepts.
    n_voters
        How many concepts vote.
    sharpness
        Factor of the similarities in the softmax; one for all queries, or (q, 1).

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
    index: CandidateIndex, pool: Pool, wide_votes: Columns, bags: QueryBags, families: Sequence[str]
) -> Floats:
    """Mean orphan scores (q, N_ORPHAN_FEATURES) of concepts around each query; they say whether its parent is missing.

    A missing parent leaves its children without one, and they resemble the query that misses it too. The columns are
    means over the concepts most similar by text; by text and words; over those whose definition has the same head of
    the first phrase; the same first word. A family that is switched off leaves zeros.
    """
    features = np.zeros((pool.n_queries, N_ORPHAN_FEATURES), np.float32)
    for column, source in enumerate(("text", "text and words")):
        if source in wide_votes:
            some = np.flatnonzero(wide_votes[source])
            scores = wide_votes[source][some] * index.orphan_scores[pool.positions[some]]
            features[:, column] = np.bincount(pool.row[some], scores, pool.n_queries)
    if "descriptions" in families:
        mean = index.orphan_scores.mean()
        for column, bag in enumerate(PHRASE, N_ORPHAN_FEATURES - len(PHRASE)):
            rows = bags[bag].rows
            features[:, column] = mean + rows.sums(index.orphan_scores_by_word[bag][rows.columns] - mean)
    return features


def most_similar_child(pool: Pool, similarity: Floats, children: Longs, parents: NDArray[np.integer]) -> Floats:
    """(m, p) largest similarity of the candidate's children that are in the pool; the query's lowest where none is.

    Parameters
    ----------
    pool
        The pairs.
    similarity
        (m, p) of query and concept by m measures.
    children, parents
        (e,) places in the pool of a child and of its parent, for the same query; parents ascend.
    """
    if len(pool) == 0:
        return similarity.copy()
    # the lowest of each query; a query without pairs gets another's value, which nothing reads
    starts = np.minimum(pool.ends[:-1], len(pool) - 1)
    best: Floats = np.repeat(np.minimum.reduceat(similarity, starts, axis=1), np.diff(pool.ends), axis=1)
    starts = np.flatnonzero(np.diff(parents, prepend=-1))
    if len(starts):
        best[:, parents[starts]] = np.maximum.reduceat(similarity.take(children, axis=1), starts, axis=1)
    return best


def most_similar_child_dense(index: CandidateIndex, similarity: Floats) -> Floats:
    """Similarity (q, n) of each candidate's most similar child, from similarities (q, n) of all concepts."""
    pool = Pool.whole(*similarity.shape)
    child, parent = pool.links(index.taxonomy.parent_csr, np.arange(len(pool)))
    order = np.argsort(parent, kind="stable")
    return most_similar_child(pool, similarity.reshape(1, -1), child[order], parent[order]).reshape(similarity.shape)
