"""Near-duplicates: existing concepts under a misspelt name or a synonym that nobody has written down.

A synonym and a sibling look much alike to an encoder, so that a similarity says little by itself. What it is worth is
measured on the taxonomy at hand: its own concepts against their siblings, which are different, and misspelt names and
hidden synonyms against their concepts, which are the same. Where siblings are as alike as synonyms, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.text.registry import TextEncoder, TextVectors
from taxosphere.orbit.search import products_of_pairs
from taxosphere.placing.duplicates import THERE, Match
from taxosphere.placing.name_keys import fold, words
from taxosphere.ranking.calibration import Logistic
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs

VERSION = 1
"""Of the rules by which similarities are measured; a model written by others measures them anew."""
HOW = "nearly the same name and meaning"
LEAST = 0.5  # probability from which on a near-duplicate is worth a word
_SHORT = 4  # letters below which a word tells members of a series apart
_COMPARED = 5  # candidates of a query whose spelling is compared
_DIFFERENT, _SAME = 150, 60  # concepts, and misspelt names and synonyms, that are measured
_FEWEST = 30  # of each, below which the usual model is taken
FEATURES = ("names alike", "texts alike", "letters shared")
USUAL = Logistic(  # from three other taxonomies, by benchmarks/bench_near_duplicates.py
    mean=np.array([0.591, 0.575, 0.413]),
    scale=np.array([0.216, 0.209, 0.313]),
    weights=np.array([-0.376, -1.007, 2.947, -5.099]),
)


class NearDuplicates:
    """Finds concepts that a query may be under another name; similarities are measured at the first question.

    Parameters
    ----------
    taxonomy
        The n concepts.
    vectors
        Of their texts and names.
    encoder
        What made them; encodes misspelt names and synonyms.
    """

    def __init__(self, taxonomy: Taxonomy, vectors: TextVectors, encoder: TextEncoder) -> None:
        self._taxonomy, self._vectors, self._encoder = taxonomy, vectors, encoder

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """What is measured, for a model folder."""
        return self._model.to_arrays()

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], taxonomy: Taxonomy, vectors: TextVectors, encoder: TextEncoder
    ) -> NearDuplicates:
        """With what `to_arrays` wrote, of the same taxonomy and encoder."""
        near = cls(taxonomy, vectors, encoder)
        vars(near)["_model"] = Logistic(**arrays)  # as if it had been asked for before
        return near

    def find(self, queries: Sequence[Concept], vectors: TextVectors, parents: Longs) -> list[tuple[Match, ...]]:
        """For each query the concepts at a parent that it may be, with at least `LEAST`; the surest first.

        Parameters
        ----------
        queries
            The q new concepts.
        vectors
            (q, m) of their names and of their texts.
        parents
            (q,) position of the likeliest parent of each, whose children are compared with the query.
        """
        taxonomy = self._taxonomy
        placed = np.flatnonzero(parents < len(taxonomy))
        pair, child = taxonomy.child_csr.expand(parents[placed])
        rows = placed[pair]
        names, texts = (
            products_of_pairs(asked, ours, rows, child)
            for asked, ours in ((vectors.name, self._vectors.name), (vectors.full, self._vectors.full))
        )
        ends = np.searchsorted(rows, np.arange(len(queries) + 1)).tolist()
        compared = [
            self._compare(query.name, names[start:end], texts[start:end], child[start:end])
            for query, start, end in zip(queries, ends, ends[1:], strict=False)
        ]
        features = [row for rows_of_query in compared for _, row in rows_of_query]
        shares = iter(self._model.probability(np.array(features)).tolist() if features else ())
        matches = [
            [
                Match(taxonomy.ids[i], taxonomy.names[i], HOW, share)
                for (i, _), share in zip(rows_of_query, shares, strict=False)
                if share >= LEAST
            ]
            for rows_of_query in compared
        ]
        return [tuple(sorted(row, key=lambda match: -match.probability)) for row in matches]

    @cached_property
    def _model(self) -> Logistic:
        """Probability of being the same by `FEATURES`, where one in ten concepts is there already."""
        different, same = self.different(), self.same()
        if min(len(different), len(same)) < _FEWEST:
            return USUAL
        labels = np.arange(len(different) + len(same)) >= len(different)
        share = THERE / _COMPARED  # each query is compared with several
        return Logistic.fit(np.array([*different, *same]), labels, ridge=1e-3, positive_share=share)

    def different(self) -> list[tuple[float, ...]]:
        """`FEATURES` of leaves and their siblings; every second leaf is asked with its description."""
        taxonomy, vectors = self._taxonomy, self._vectors
        rows = []
        for number, i in enumerate(_drawn(np.flatnonzero(taxonomy.hideable), _DIFFERENT)):
            text = vectors.full[i] if number % 2 else vectors.name[i]
            near = np.setdiff1d(self._near(i), [i])
            similar = self._similarities(vectors.name[i], text, near)
            rows += [row for _, row in self._compare(taxonomy.names[i], *similar, near)]
        return rows

    def same(self) -> list[tuple[float, ...]]:
        """`FEATURES` of misspelt names and of hidden synonyms, each with its own concept."""
        taxonomy = self._taxonomy
        with_synonym = np.flatnonzero(taxonomy.hideable & np.array([bool(row) for row in taxonomy.synonyms], bool))
        asked = []
        for i in _drawn(with_synonym, _SAME // 2):
            name = fold(taxonomy.names[i])
            asked += [(i, synonym) for synonym in taxonomy.synonyms[i] if fold(synonym) not in (name, "")][:1]
        leaves = _drawn(np.flatnonzero(taxonomy.hideable), _SAME - len(asked))
        asked += [(i, misspelt(taxonomy.names[i])) for i in leaves if len(taxonomy.names[i]) > 4]
        if len(asked) < _FEWEST:
            return []
        rows = []
        for (i, name), vector in zip(asked, self._encoder.encode([name for _, name in asked]), strict=True):
            near = self._near(i)
            compared = self._compare(name, *self._similarities(vector, vector, near), near, hidden=name)
            rows += [row for position, row in compared if position == i]
        return rows

    def _similarities(self, name: Floats, text: Floats, candidates: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """(c,) of names and of texts with those of the candidates."""
        # einsum uses no BLAS threads, which would cost more than these products
        names = np.einsum("cd,d->c", self._vectors.name[candidates], name)
        return names, np.einsum("cd,d->c", self._vectors.full[candidates], text)

    def _compare(
        self, called: str, names: Floats, texts: Floats, candidates: NDArray[np.integer], hidden: str = ""
    ) -> list[tuple[int, tuple[float, ...]]]:
        """(position, `FEATURES`) of the candidates most like a query; none of them knows the synonym ``hidden``.

        ``names`` and ``texts`` (c,) are similarities of the query with the candidates.

        A candidate whose words are some of the query's, or the other way round, is rather broader or narrower. One that
        differs in a figure or a short word, such as a Roman number, is another of a series.
        """
        asked = set(words(called))
        compared: list[tuple[int, tuple[float, ...]]] = []
        for row in np.argsort(-(names + texts), kind="stable")[:_COMPARED].tolist():
            position = int(candidates[row])
            theirs = set(words(self._taxonomy.names[position]))
            series = any(len(word) < _SHORT or not word.isalpha() for word in asked ^ theirs)
            if series or theirs < asked or asked < theirs:
                continue
            synonyms = (synonym for synonym in self._taxonomy.synonyms[position] if synonym != hidden)
            letters = letters_shared(called, [self._taxonomy.names[position], *synonyms])
            compared.append((position, (float(names[row]), float(texts[row]), letters)))
        return compared

    def _near(self, position: int) -> NDArray[np.integer]:
        """A concept's siblings and itself."""
        return np.unique(self._taxonomy.child_csr.expand(self._taxonomy.parent_csr.row(position))[1])


def letters_shared(name: str, others: Iterable[str]) -> float:
    """Share of the runs of three letters that a name has in common with the one of ``others`` most like it."""
    runs = _letter_runs(name)
    return max(2 * len(runs & theirs) / (len(runs) + len(theirs)) for theirs in map(_letter_runs, others))


def misspelt(name: str) -> str:
    """The name with two letters of its longest word exchanged."""
    word = max(name.split(), key=len)
    middle = len(word) // 2
    return name.replace(word, word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :], 1)


def _letter_runs(name: str) -> set[str]:
    padded = f"  {name.casefold()} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _drawn(positions: NDArray[np.integer], most: int) -> list[int]:
    chosen: list[int] = np.random.default_rng(0).permutation(positions)[:most].tolist()
    return chosen
