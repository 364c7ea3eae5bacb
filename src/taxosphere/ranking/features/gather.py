"""Which concepts are looked at for a query: the nearest by every measure, their parents, and those it mentions.

For small taxonomies that is every concept. For larger ones features of a few hundred concepts are computed for each
query, and the cost of a query no longer grows with features × concepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taxosphere.orbit.search import dot_products, is_large_part, largest_among, largest_columns, top_k
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.compression import PRODUCTS
from taxosphere.ranking.features.pool import Pool, SparseColumn, distinct_keys
from taxosphere.ranking.lexical.matching import WIDE, LexicalScores
from taxosphere.ranking.queries import Queries
from taxosphere.typing import Floats, Longs

MEASURES = ("text", "name", "sphere")


@dataclass(frozen=True)
class Retrieval:
    """How many concepts are taken of each kind.

    Attributes
    ----------
    whole
        A taxonomy of at most this many concepts is looked at as a whole.
    nearest
        By text, by name and on the sphere.
    by_words
        Whose children share words with the query, by each measure of that.
    voters
        Concepts by each measure of vectors, words and spelling, and by the sum of those of vectors, whose parents and
        grandparents are taken.
    compressed
        Concepts that a search over compressed vectors leaves, where there are more than `PRODUCTS`.
    word_uses
        Uses of a query's words or letter runs that are read to find concepts, by each measure, where there are more
        than `PRODUCTS` concepts; those of the rarest.
    """

    whole: int = 512
    nearest: int = 80
    by_words: int = 30
    voters: int = 40
    compressed: int = 300
    word_uses: int = 1 << 16


DEFAULT_RETRIEVAL = Retrieval()


def gather(
    index: CandidateIndex,
    vectors: VectorSimilarities,
    lexical: LexicalScores,
    mentions: Sequence[SparseColumn],
    *,
    n_needed: int,
    settings: Retrieval = DEFAULT_RETRIEVAL,
) -> Pool:
    """The pool of a block of queries.

    Parameters
    ----------
    index
        The n concepts.
    vectors, lexical, mentions
        Similarities by vectors, scores by words, and candidates that the queries mention.
    n_needed
        Candidates, not counting obsolete ones, that every query gets at least, where there are as many.
    settings
        How many concepts of each kind.
    """
    n_queries, size = len(vectors.queries), len(index.taxonomy)
    if size <= settings.whole:
        return Pool.whole(n_queries, size)
    near, voters = nearest_by_vectors(index, vectors, settings)
    near.append(lexical.largest(settings.by_words, WIDE))
    voters.append(lexical.largest(settings.voters, ("words", "spelling")))
    parents = _parents(index, voters, n_queries)
    pool = Pool.join([*near, *voters, *parents, *(column.keys for column in mentions)], n_queries, size)
    return _filled(index, pool, n_needed)


def nearest_by_vectors(
    index: CandidateIndex, vectors: VectorSimilarities, settings: Retrieval
) -> tuple[list[Longs], list[Longs]]:
    """Keys of the nearest candidates by each measure, and of those that vote."""
    n_queries, size = len(vectors.queries), len(index.taxonomy)
    if size <= PRODUCTS:
        tables = vectors.compared  # (measures and their sum, q, n)
        rows = tables.reshape(-1, size)
        near = largest_columns(rows, settings.nearest)
        voters = (
            largest_among(rows, near, settings.voters)
            if settings.voters <= settings.nearest
            else largest_columns(rows, settings.voters)
        )
        first = np.tile(size * np.arange(n_queries), len(tables))[:, None]
        return [first + near], [first + voters]
    pool = search_compressed(index, vectors, settings.compressed)
    values = vectors.at(MEASURES, pool)
    joint = values["text"] + values["name"] + values["sphere"]
    table = pool.padded(np.stack([*values.values(), joint]), -np.inf)  # (measures and their sum, q, widest)
    return [_keys(pool, table, settings.nearest)], [_keys(pool, table, settings.voters)]


def search_compressed(index: CandidateIndex, vectors: VectorSimilarities, count: int) -> Pool:
    """The nearest concepts by the compressed sum of text, name and sphere."""
    queries, size = vectors.queries, len(index.taxonomy)
    compressed, texts = index.compressed, queries.text_vectors
    asked = compressed.project([texts.full, texts.name, queries.points.z])
    first = size * np.arange(len(queries))[:, None]
    return Pool.join([first + top_k(asked, compressed.rows, count)], len(queries), size)


def _keys(pool: Pool, tables: Floats, count: int) -> Longs:
    """Keys of the ``count`` largest values of each row of padded tables (t, q, widest)."""
    columns = largest_columns(tables.reshape(-1, tables.shape[2]), count).reshape(len(tables), pool.n_queries, -1)
    places = np.minimum(pool.ends[:-1, None] + columns, len(pool) - 1)
    keys: Longs = pool.keys[places[columns < np.diff(pool.ends)[:, None]]]
    return keys


def _parents(index: CandidateIndex, voters: Sequence[Longs], n_queries: int) -> list[Longs]:
    """Keys of the parents and grandparents of the voters."""
    size, rows = len(index.taxonomy), index.taxonomy.parent_csr
    limit = size * n_queries
    levels = [distinct_keys(voters, limit)]
    for _ in range(2):
        query, position = np.divmod(levels[-1], size)
        owner, parent = rows.expand(position)
        levels.append(distinct_keys([np.asarray(query[owner] * size + parent, np.int64)], limit))
    return levels[1:]


def _filled(index: CandidateIndex, pool: Pool, n_needed: int) -> Pool:
    """The pool with further concepts, the first ones, for queries that have too few that are not obsolete."""
    n_needed = min(n_needed, pool.size - len(index.obsolete))
    counts = np.diff(pool.ends)
    if len(index.obsolete):
        obsolete = np.flatnonzero(np.isin(pool.positions, index.obsolete))
        counts = counts - np.bincount(pool.row[obsolete], minlength=pool.n_queries)
    few = np.flatnonzero(counts < n_needed)
    if len(few) == 0:
        return pool
    current = np.delete(np.arange(pool.size), index.obsolete)
    first = current[: 2 * n_needed]  # fewer than n_needed of them are in the pool already
    return Pool.join([pool.keys, few[:, None] * pool.size + first], pool.n_queries, pool.size)


class VectorSimilarities:
    """Dot products of a block of queries with concepts.

    Measures are "text" and "name" (encoder vectors of the same kind), "text to name" and "name to text" (the query's
    first), "sphere" (points) and "direction" (the concept's mean direction on the sphere). Each is computed when it is
    first asked for.

    Parameters
    ----------
    index
        The n concepts.
    queries
        The q queries, encoded by the same network.
    """

    def __init__(self, index: CandidateIndex, queries: Queries) -> None:
        self.index = index
        self.queries = queries
        self._whole: dict[str, Floats] = {}

    @cached_property
    def _rows(self) -> dict[str, tuple[Floats, Floats]]:
        """By measure: vectors (n, m) of the concepts, and (q, m) of the queries."""
        texts, points = self.queries.text_vectors, self.queries.points
        return {
            "text": (self.index.text_vectors.full, texts.full),
            "name to text": (self.index.text_vectors.full, texts.name),
            "name": (self.index.text_vectors.name, texts.name),
            "text to name": (self.index.text_vectors.name, texts.full),
            "sphere": (self.index.points.z, points.z),
            "direction": (self.index.points.mu, points.z),
        }

    def whole(self, measure: str) -> Floats:
        """(q, n) of all concepts."""
        if measure not in self._whole:
            concepts, asked = self._rows[measure]
            self._whole[measure] = dot_products(
                asked, concepts if self.index.rows is None else concepts[self.index.rows]
            )
        return self._whole[measure]

    @cached_property
    def compared(self) -> Floats:
        """(4, q, n) of all concepts by each of `MEASURES`, and their sum."""
        tables = np.empty((len(MEASURES) + 1, len(self.queries), len(self.index.taxonomy)), np.float32)
        for table, measure in zip(tables, MEASURES, strict=False):
            concepts, asked = self._rows[measure]
            self._whole[measure] = (
                np.matmul(asked, self.index.transposed[measure], out=table)
                if len(self.queries) > 2
                else dot_products(asked, concepts, out=table)
            )
        np.add(tables[0], tables[1], out=tables[3])
        tables[3] += tables[2]
        return tables

    def at(self, measures: tuple[str, ...], pool: Pool) -> dict[str, Floats]:
        """(p,) by measure, of the pairs of a pool."""
        if pool.is_whole:
            return {measure: self.whole(measure).ravel() for measure in measures}
        # those by which the pool was made are there already
        there = (
            measures
            if is_large_part(len(pool), pool.n_queries, pool.size)
            else tuple(m for m in measures if m in self._whole)
        )
        values = {measure: self.whole(measure).take(pool.keys) for measure in there}
        while len(values) < len(measures):
            concepts = next(self._rows[measure][0] for measure in measures if measure not in values)
            same = [m for m in measures if m not in values and self._rows[m][0] is concepts]  # gathered once for these
            asked = np.stack([self._rows[measure][1] for measure in same], axis=2)  # (q, m, measures)
            values |= dict(zip(same, pair_products(asked, concepts, pool, self.index.rows), strict=True))
        return values

    def to_children(self, measure: str, pool: Pool) -> Floats:
        """(p,): with the unit mean of the concept's children, zero where it has none, by "sphere", "text" or "name"."""
        texts, index = self.queries.text_vectors, self.index
        asked = {"sphere": self.queries.points.z, "text": texts.full, "name": texts.name}[measure]
        means, column = index.child_means[measure], index.non_leaf_columns[pool.positions]
        values = np.zeros(len(pool), np.float32)
        inner = np.flatnonzero(column >= 0)
        if is_large_part(len(inner), pool.n_queries, len(means)):
            values[inner] = dot_products(asked, means)[pool.row[inner], column[inner]]
        else:
            part = Pool(pool.row[inner] * len(means) + column[inner], pool.n_queries, len(means))
            values[inner] = pair_products(asked[:, :, None], means, part)[0]
        return values


def pair_products(queries: Floats, rows: Floats, pool: Pool, row_of: Longs | None = None) -> Floats:
    """Dot products (v, p) of pairs: of v vectors of each query (q, m, v) with the rows (n, m) of its pool.

    The keys of the pool need not ascend within a query. ``row_of`` (n,) has the row of each concept where ``rows`` hold
    others too.
    """
    values = np.empty((len(pool), queries.shape[2]), np.float32)
    positions = pool.positions if row_of is None else row_of[pool.positions]
    gathered = np.empty((int(np.diff(pool.ends).max(initial=0)), rows.shape[1]), rows.dtype)  # the same for all queries
    for query, part in zip(queries, pool.slices(), strict=True):
        asked = gathered[: part.stop - part.start]
        np.matmul(np.take(rows, positions[part], axis=0, out=asked, mode="clip"), query, out=values[part])
    return np.ascontiguousarray(values.T)
