"""References without training, printed beside every model.

`tfidf` and `tfidf-internal` read characters, `encoder-cosine` and `sibling-vote` the raw encoder. They have no settings
and ignore the random state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder

Scores = NDArray[np.float32]

NEIGHBOURS = 10  # who votes
SHARPNESS = 20.0  # a neighbour 0.05 less similar than the nearest has 1/e of its weight
_BELOW = 2.0  # lifts what is ranked first above any cosine


class _Grams:
    """TF-IDF rows over character 3- to 5-grams; vocabulary and frequencies come from the texts it is made from."""

    lengths = (3, 4, 5)

    def __init__(self, texts: Sequence[str]) -> None:
        owner, key = self._grams(texts)
        self.vocabulary, column, _ = np.unique(key, return_inverse=True, return_counts=True)
        counts = self._counts(owner, column, len(texts))
        frequency = np.bincount(counts.indices, minlength=len(self.vocabulary))
        self.idf = np.log((1 + len(texts)) / (1 + frequency)) + 1
        self.rows = self._weigh(counts)

    def transform(self, texts: Sequence[str]) -> csr_array:
        owner, key = self._grams(texts)
        column = np.searchsorted(self.vocabulary, key)
        column[column == len(self.vocabulary)] = 0
        present = self.vocabulary[column] == key if len(self.vocabulary) else np.zeros(len(key), bool)
        return self._weigh(self._counts(owner[present], column[present], len(texts)))

    def _grams(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """(text, 64-bit key) of every n-gram; the key is a polynomial of the characters, modulo 2⁶⁴."""
        padded = [f" {text.lower()} " for text in texts]
        letters = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.uint64)
        text = np.repeat(np.arange(len(padded)), [len(t) for t in padded])
        owners, keys = [], []
        for length in self.lengths:
            stop = len(letters) - length + 1
            if stop <= 0:
                continue
            key = np.full(stop, length, np.uint64)
            for i in range(length):
                key = key * np.uint64(0x9E3779B97F4A7C15) + letters[i : stop + i]
            inside = text[:stop] == text[length - 1 :]
            owners.append(text[:stop][inside])
            keys.append(key[inside])
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *owners]), np.concatenate([none.astype(np.uint64), *keys])

    def _counts(self, owner: NDArray[np.int64], column: NDArray[np.int64], size: int) -> csr_array:
        counts = csr_array((np.ones(len(owner), np.float32), (owner, column)), shape=(size, len(self.vocabulary)))
        counts.sum_duplicates()
        return counts

    def _weigh(self, counts: csr_array) -> csr_array:
        rows = counts.copy()
        rows.data = rows.data * self.idf[rows.indices].astype(np.float32)
        norm = np.sqrt(np.asarray(rows.multiply(rows).sum(1)).ravel())
        rows.data /= np.repeat(np.maximum(norm, 1e-12), np.diff(rows.indptr)).astype(np.float32)
        return rows


class Tfidf:
    """Cosine of character n-gram TF-IDF vectors of ``name: description``."""

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:  # noqa: ARG002
        self._grams = _Grams([concept.text for concept in seed.concepts()])
        self._columns = csr_array(self._grams.rows.T)
        return self

    def score(self, queries: Sequence[Concept]) -> Scores:
        product = self._grams.transform([query.text for query in queries]) @ self._columns
        return np.asarray(product.toarray(), np.float32)


class TfidfInternal(Tfidf):
    """The same with every concept that has children before every concept that has none."""

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:
        self._lift = np.where(seed.child_csr.counts > 0, _BELOW, 0.0).astype(np.float32)
        return super().fit(seed, encoder=encoder, random_state=random_state)

    def score(self, queries: Sequence[Concept]) -> Scores:
        return super().score(queries) + self._lift


class EncoderCosine:
    """Cosine of the encoder's vectors as they come."""

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:  # noqa: ARG002
        self._encoder = encoder
        self._vectors = encoder.encode([concept.text for concept in seed.concepts()])
        return self

    def score(self, queries: Sequence[Concept]) -> Scores:
        vectors = self._encoder.encode([query.text for query in queries])
        return np.asarray(vectors @ self._vectors.T, np.float32)


class SiblingVote(EncoderCosine):
    """Parents of the query's nearest seed concepts, each neighbour voting with a weight that grows with its cosine.

    Candidates without a vote follow by their cosine, so the order is total.
    """

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:
        self._parents = seed.parent_csr
        return super().fit(seed, encoder=encoder, random_state=random_state)

    def score(self, queries: Sequence[Concept]) -> Scores:
        cosine = super().score(queries)
        count = min(NEIGHBOURS, cosine.shape[1])
        near = np.argpartition(-cosine, count - 1, axis=1)[:, :count]
        similar = np.take_along_axis(cosine, near, 1)
        weight = np.exp(SHARPNESS * (similar - similar.max(1, keepdims=True)))
        weight /= weight.sum(1, keepdims=True)
        voter, parent = self._parents.expand(near.ravel())
        votes = np.zeros_like(cosine)
        np.add.at(votes, (voter // count, parent), weight.ravel()[voter])
        return np.where(votes > 0, _BELOW + votes, cosine).astype(np.float32)
