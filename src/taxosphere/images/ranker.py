"""Where a concept belongs that is only seen: the ranker for queries that are pictures.

Concepts with pictures are mean directions on the sphere where the scatter within a concept is even. A query is the mean
direction of its own pictures. Its most similar concepts vote for their parents, for everything above them, and for the
candidates beside those; the gate and the structure of the candidate are read as for texts. The scorer is the same
listwise one, learned from leaves that are hidden together with their pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.text.vectors import TextVectors
from taxosphere.images.whitening import WithinClassWhitening, label_means, texts_match_images, unit
from taxosphere.model.config import RankingConfig
from taxosphere.orbit import gate
from taxosphere.ranking.crossfit import Examples
from taxosphere.ranking.features.candidates import CandidateIndex, Points
from taxosphere.ranking.features.compute import ORPHAN_FEATURES, best_child, votes
from taxosphere.ranking.features.shortlist import Shortlist, blocks
from taxosphere.ranking.ranker import Ranker, Ranking
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import hide

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

_ASKED = (1, 1, 3, None)  # pictures in the queries made of each hidden leaf; None takes all it has
_LENGTH = 300  # the first guess knows less than it does for texts
_SHARPNESS = 20.0
_GAMMA = 10.0  # of the gate
_LOWEST = -1.0  # similarity where there is no picture to compare with
_GUESS = {"votes, sphere": 1.0, "votes beside": 0.5, "votes below": 0.3, "encoder, children": 0.5, "sphere": 0.5}
_SPOKEN = {"votes, text": 1.0, "encoder": 0.5}  # what texts add to the guess where they share the sphere


@dataclass(frozen=True)
class ImageIndex:
    """A taxonomy some of whose concepts have pictures, ready to be asked."""

    taxonomy: Taxonomy
    directions: WithinClassWhitening
    means: Floats  # (n, m), zero for a concept without pictures
    texts: Floats  # (n, t) text vectors, in the pictures' own space where they have a head there
    head: WithinClassWhitening | None = None  # the pictures' own, for texts

    @classmethod
    def of(cls, taxonomy: Taxonomy, vectors: Floats, owner: Longs, texts: Floats, *, shared: bool = False) -> Self:
        """``owner`` is the position of the concept that each row of ``vectors`` shows."""
        directions = WithinClassWhitening.fit(vectors, owner, len(taxonomy), shared=shared)
        means = unit(label_means(directions(vectors), owner, len(taxonomy)))
        return cls(taxonomy, directions, means, texts, directions.of_texts(texts, owner) if shared else None)

    @cached_property
    def spoken(self) -> Floats | None:
        """WithinClassWhitening of the concepts' texts, pictured or not, where the space is shared."""
        return None if self.head is None else self.head(self.texts)

    @cached_property
    def heard(self) -> bool:
        """Whether the texts of pictured concepts say how they look."""
        return self.spoken is not None and texts_match_images(self.spoken, self.means)

    @cached_property
    def looks(self) -> Floats:
        """`means`, with the text's direction for leaves without pictures where texts are `heard`."""
        if self.spoken is None or not self.heard:
            return self.means
        bare = ~self.shown & (self.taxonomy.child_csr.counts == 0)
        return np.where(bare[:, None], self.spoken, self.means).astype(np.float32)

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        return np.asarray(self.means.any(1))

    @cached_property
    def context(self) -> CandidateIndex:
        """The structural side, shared with texts."""
        points = Points(self.means, self.means, np.ones(len(self.means), np.float32))
        return CandidateIndex(self.taxonomy, TextVectors(self.means, self.means), points, len(self.taxonomy))

    @cached_property
    def below(self) -> Floats:
        """Unit mean direction of everything pictured at or below each concept."""
        total = self.means + self.context.above.T @ self.means
        return unit(np.asarray(total, np.float32))


def signs(pictured: ImageIndex, asked: Floats) -> dict[str, Floats]:
    """What speaks for every candidate (queries, candidates); ``asked`` are directions."""
    context = pictured.context
    seen = pictured.looks.any(1)
    similar = np.where(seen, asked @ pictured.looks.T, -np.inf).astype(np.float32)
    cast = votes(similar, min(10, int(seen.sum())), _SHARPNESS).matrix(similar.shape[1])
    to_parents = _dense(cast @ context.parents)
    below = _dense(cast @ context.above) + _dense(cast)
    centre = asked @ pictured.below.T
    empty = ~pictured.below.any(1)
    centre[:, empty] = _up(pictured, centre)[:, empty]
    child = best_child(context, np.maximum(similar, _LOWEST))
    found = {
        "sphere": np.where(seen, similar, centre),
        "encoder, children": centre,
        "votes, sphere": to_parents,
        "votes one up, sphere": _dense(cast @ context.parents @ context.grandparents),
        "votes below": below,
        "votes beside": _up(pictured, below),
        "votes two up": _up(pictured, _up(pictured, below)),
        "most similar child, sphere": child,
        "centre above": _up(pictured, centre),
        "gate margin": centre - gate.thresholds(context.delta, _GAMMA).astype(np.float32),
        "text of the similar": unit(_dense(cast) @ pictured.texts) @ unit(pictured.texts).T,
    }
    if pictured.spoken is not None:
        said = np.asarray(asked @ pictured.spoken.T, np.float32)
        found["encoder"] = said
        found["votes, text"] = _dense(votes(said, 10, _SHARPNESS).matrix(said.shape[1]) @ context.parents)
        found["most similar child, text"] = best_child(context, said)
    return {name: np.asarray(values, np.float32) for name, values in found.items()}


def _up(pictured: ImageIndex, values: Floats) -> Floats:
    """Each candidate's parents' value (the mean of several); its own at a root."""
    rows = pictured.context.grandparents
    counts = np.asarray(rows.sum(axis=1)).ravel()
    above = np.asarray((rows @ values.T).T, np.float32) / np.maximum(counts, 1).astype(np.float32)
    return np.where(counts > 0, above, values).astype(np.float32)


def shortlist(pictured: ImageIndex, asked: Floats, *, length: int = _LENGTH) -> Shortlist:
    found = signs(pictured, asked)
    weights = {**_GUESS, **_SPOKEN} if pictured.heard else _GUESS
    guess = sum((weight * found[name] for name, weight in weights.items()), np.zeros(1, np.float32))
    k = min(length, guess.shape[1])
    positions = np.argsort(-guess, axis=1, kind="stable")[:, :k]
    columns = {name: np.take_along_axis(values, positions, 1) for name, values in found.items()}
    static = {"has pictures": pictured.shown.astype(np.float32), **pictured.context.candidate_features}
    columns |= {name: values[positions] for name, values in static.items()}
    table = np.stack(list(columns.values()), axis=-1).astype(np.float32)
    nothing_loose = np.zeros((len(guess), ORPHAN_FEATURES), np.float32)  # the ranker of the texts tells that
    return Shortlist(tuple(columns), table, positions.astype(np.int64), guess, nothing_loose)


def examples(
    seed: Taxonomy,
    vectors: Floats,
    owner: Longs,
    texts: Floats,
    settings: RankingConfig,
    *,
    shared: bool,
    random_state: int,
) -> Examples | None:
    """Every fold of pictured leaves is asked of the taxonomy without them and their pictures."""
    rng = np.random.default_rng([random_state, 3])
    pictured = np.bincount(owner, minlength=len(seed)) > 0
    leaves = rng.permutation(np.flatnonzero(pictured & seed.hideable))[: settings.examples]
    folds = min(settings.folds, len(leaves))
    names: tuple[str, ...] = ()
    tables: list[Floats] = []
    labels, golds = [], []
    for number in range(folds if folds > 1 else 0):
        fold = np.sort(leaves[number::folds])
        kept = np.setdiff1d(np.arange(len(seed)), fold)
        place = np.full(len(seed), -1)
        place[kept] = np.arange(len(kept))
        rows = np.flatnonzero(place[owner] >= 0)
        part = hide(seed, fold)
        if not part.queries or len(np.unique(owner[rows])) < 2:
            continue
        rest = ImageIndex.of(part.seed, vectors[rows], place[owner[rows]], texts[kept], shared=shared)
        asked, gold = _ask([seed.position(q.id) for q in part.queries], part.gold, owner, rng)
        directions = query(rest.directions, vectors, asked)
        for block in blocks(len(asked), len(part.seed)):
            found = shortlist(rest, directions[block])
            names = found.names
            tables.append(found.features)
            labels.append(np.stack([np.isin(p, g) for p, g in zip(found.positions, gold[block], strict=True)]))
            golds.append(np.array([len(g) for g in gold[block]]))
    if not tables:
        return None
    width = min(table.shape[1] for table in tables)
    return Examples(
        names,
        np.concatenate([table[:, :width] for table in tables]),
        np.concatenate([label[:, :width] for label in labels]),
        np.concatenate(golds),
        np.zeros((sum(map(len, tables)), ORPHAN_FEATURES), np.float32),
    )


def _ask(
    leaves: Sequence[int], gold: Sequence[Longs], owner: Longs, rng: np.random.Generator
) -> tuple[list[Longs], list[Longs]]:
    """Sets of pictures to ask with, and the true parents of each; a leaf with one picture is asked once."""
    asked: list[Longs] = []
    answers: list[Longs] = []
    for leaf, parents in zip(leaves, gold, strict=True):
        rows = np.flatnonzero(owner == leaf)
        sizes = dict.fromkeys(min(size or len(rows), len(rows)) for size in _ASKED) if len(rows) < 3 else _ASKED
        for size in sizes:
            asked.append(np.sort(rng.permutation(rows)[: size or len(rows)]))
            answers.append(parents)
    return asked, answers


def query(directions: WithinClassWhitening, vectors: Floats, asked: Sequence[Longs]) -> Floats:
    """Mean direction of each set of pictures."""
    rows = np.concatenate(asked)
    which = np.repeat(np.arange(len(asked)), [len(part) for part in asked])
    return unit(label_means(directions(vectors)[rows], which, len(asked)))


@dataclass(frozen=True)
class ImageRanker:
    """What was learned about pictures; without enough pictured leaves the first guess ranks alone."""

    learned: Ranker

    @classmethod
    def fit(
        cls,
        seed: Taxonomy,
        vectors: Floats,
        owner: Longs,
        texts: Floats,
        settings: RankingConfig,
        *,
        shared: bool = False,
        random_state: int = 0,
    ) -> Self:
        found = examples(seed, vectors, owner, texts, settings, shared=shared, random_state=random_state)
        note = "picture ranker learned from {:,} questions about hidden leaves"
        return cls(Ranker.fit_examples(found, settings, None, gamma=_GAMMA, note=note, random_state=random_state))

    def rank(self, pictured: ImageIndex, vectors: Floats, asked: Sequence[Longs]) -> Ranking:
        """Rank all candidates for one block of queries, each a set of pictures given as rows of ``vectors``."""
        directions = query(pictured.directions, vectors, asked)
        found = shortlist(pictured, directions)
        return self.learned.score_shortlist(found, directions, pictured.below, pictured.context.delta)


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray(), np.float32)
