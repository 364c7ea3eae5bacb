"""The learned, calibrated ranker: from queries to probabilities over candidates and "none of these"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from taxosphere.encoders.text.vectors import TextVectors
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.model.config import PolarisConfig, RankingConfig
from taxosphere.model.embedding import RefitWithout
from taxosphere.model.network import SphereNetwork
from taxosphere.orbit import gate
from taxosphere.ranking import calibration, net, prior
from taxosphere.ranking.crossfit import Examples, Progress, encode_queries, examples
from taxosphere.ranking.features.candidates import CandidateIndex, orphan_scores
from taxosphere.ranking.features.shortlist import Shortlist, derived, origin, shortlist
from taxosphere.ranking.logistic import Logistic
from taxosphere.ranking.net import NetEnsemble
from taxosphere.ranking.out_of_fold import OutOfFold, calibrate
from taxosphere.ranking.retrieval import COSINE, DEFAULT_FIRST_STAGE, FirstStage
from taxosphere.taxonomy import Concept, Taxonomy

Floats = NDArray[np.float32]

FEWEST = 20  # examples below which the ranker is not trained on the seed at all
_COOL = 0.1  # temperature where nothing was learned


@dataclass(frozen=True)
class Ranking:
    """Lists (q, k), best first. ``probabilities`` and ``none`` add up to one, ``scores`` (q, n) orders everything.
    ``contributions`` (q, e, signs) are there for the first e that were to be explained."""

    shortlist: NDArray[np.int64]
    probabilities: Floats
    none: Floats
    scores: Floats
    cosine: Floats
    gate: NDArray[np.bool_]
    contributions: Floats
    names: tuple[str, ...]


@dataclass(frozen=True)
class Ranker:
    """What was learned; a `CandidateIndex` says of which taxonomy it is asked."""

    families: tuple[str, ...]
    columns: tuple[str, ...]
    """Features the scorer reads, in its order."""
    scorer: NetEnsemble
    temperature: float
    none: Logistic | None
    none_share: float
    gamma: float
    out_of_fold: OutOfFold
    note: str
    guess: FirstStage = DEFAULT_FIRST_STAGE
    usual: float = 0.0
    """How loose the seed's concepts are, where "none" has learned from other taxonomies and not from this one: a young
    one is full of loose ends without anything missing."""

    @classmethod
    def fit(
        cls,
        seed: Taxonomy,
        refit: RefitWithout,
        config: PolarisConfig,
        known: prior.Prior | None,
        *,
        gamma: float,
        random_state: int,
        progress: Progress | None = None,
    ) -> Ranker:
        """Learn from leaves hidden in turn, beginning from what is ``known`` of other taxonomies; ``gamma`` is that of
        the head the ranker will stand on."""
        settings = config.ranking
        if len(seed.edge_array) == 0:  # the prior trusts directions, and here they have learned from nothing
            known = None
        found = examples(seed, refit, config, random_state=random_state, progress=progress)
        if progress is not None and found is not None:
            progress(0, 1, f"training the ranker on {len(found):,} lists")
        note = "ranker learned from {:,} hidden leaves" + (", starting from the prior" if known else "")
        fallback = COSINE if "encoder" in settings.families else DEFAULT_FIRST_STAGE
        return cls.fit_examples(
            found,
            settings,
            known,
            gamma=gamma,
            note=note,
            random_state=random_state,
            fallback=fallback,
            usual=float(orphan_scores(seed).mean()),
        )

    @classmethod
    def fit_examples(
        cls,
        found: Examples | None,
        settings: RankingConfig,
        known: prior.Prior | None,
        *,
        gamma: float,
        note: str,
        random_state: int,
        fallback: FirstStage = DEFAULT_FIRST_STAGE,
        usual: float = 0.0,
    ) -> Ranker:
        """From examples, of whatever kind; ``note`` has a place for their number. Too few are not learned from: the
        prior ranks as it is (``usual`` says how loose the seed's concepts are), or what is to do so ``fallback``."""
        usable = 0 if found is None else int(found.labels.any(1).sum())
        if found is None or usable < FEWEST:
            return cls._fallback(settings, known, gamma, usable, fallback, usual)
        names, table = derived(found.names, found.table)
        listed = found.labels.any(1)
        fitted = net.train(
            table[listed],
            found.labels[listed],
            settings,
            nets=settings.nets,
            random_state=random_state,
            prior=prior.aligned(known, names),
        )
        held, heat, none = calibrate(found, table, names, settings, known, random_state)
        note = note.format(usable)
        return cls(
            settings.families, tuple(names), fitted, heat, none, settings.none_share, gamma, held, note, found.guess
        )

    @classmethod
    def _fallback(
        cls,
        settings: RankingConfig,
        known: prior.Prior | None,
        gamma: float,
        usable: int,
        fallback: FirstStage,
        usual: float,
    ) -> Ranker:
        note = f"only {usable} leaves to learn from (at least {FEWEST} are needed): ranking by "
        families, share, nothing = settings.families, settings.none_share, OutOfFold.nothing()
        if known is not None:
            note += "the prior learned on other taxonomies"
            heat, none = known.temperature, known.none
            return cls(
                families, known.names, known.scorer, heat, none, share, gamma, nothing, note, DEFAULT_FIRST_STAGE, usual
            )
        note += f"the {'plain cosine' if fallback is COSINE else 'first guess'}, uncalibrated"
        empty = NetEnsemble(np.zeros(0, np.float32), np.ones(0, np.float32), ())
        return cls(families, (), empty, _COOL, None, share, gamma, nothing, note, fallback)

    def rank(
        self,
        context: CandidateIndex,
        network: SphereNetwork,
        queries: Sequence[Concept],
        views: TextVectors,
        *,
        exclude: NDArray[np.int64] | None = None,
        explained: int | None = None,
    ) -> Ranking:
        """Rank all candidates of the context for one block of queries; the first ``explained`` of each list (None: all)
        are given reasons."""
        encoded = encode_queries(network, queries, views)
        found = shortlist(context, encoded, self.families, self.guess, exclude=exclude)
        return self.score_shortlist(found, encoded.points.z, context.points.z, context.delta, explained=explained)

    def score_shortlist(
        self,
        found: Shortlist,
        asked: Floats,
        candidates: Floats,
        delta: NDArray[np.floating],
        *,
        explained: int | None = None,
    ) -> Ranking:
        """Lists in the order of what was learned. ``asked`` (q, d) and ``candidates`` (n, d) are points on one sphere,
        ``delta`` the depths the gate reads."""
        x = self._read(*derived(found.names, found.features))
        own = self._own(x, found)
        order = np.argsort(-own, axis=1, kind="stable")
        positions = np.take_along_axis(found.positions, order, 1)
        none = self._none(own, x, found.loose - self.usual)
        probability = np.take_along_axis(calibration.softmax(own, self.temperature), order, 1) * (1 - none[:, None])
        cosine = np.einsum("qd,qkd->qk", asked, candidates[positions])
        threshold = gate.thresholds(delta, self.gamma)
        signs, reasons = self._reasons(x, order[:, :explained]) if explained != 0 else ((), _no_reasons(order, 0))
        return Ranking(
            positions,
            probability.astype(np.float32),
            none.astype(np.float32),
            _everything(found.guess, positions, np.take_along_axis(own, order, 1)),
            cosine.astype(np.float32),
            cosine > threshold[positions],
            reasons,
            signs,
        )

    def _read(self, names: Sequence[str], table: Floats) -> Tensor:
        """The columns the scorer knows, standardised; one that is not there has its usual value."""
        if tuple(names) == self.columns:
            return self.scorer.standardise(table)
        read = np.broadcast_to(self.scorer.mean, (*table.shape[:2], len(self.columns))).copy()
        place = {name: column for column, name in enumerate(names)}
        for column, name in enumerate(self.columns):
            if name in place:
                read[..., column] = table[..., place[name]]
        return self.scorer.standardise(read)

    def _own(self, x: Tensor, found: Shortlist) -> Floats:
        if self.scorer.nets:
            return self.scorer.scores_of(x)
        return np.asarray(np.take_along_axis(found.guess, found.positions, 1), np.float32)

    def _none(self, own: Floats, x: Tensor, loose: Floats) -> NDArray[np.float64]:
        if self.none is None:
            return np.full(len(own), self.none_share)
        return self.none.probability(calibration.none_signals(own, x.numpy(), loose))

    @cached_property
    def _origins(self) -> tuple[tuple[str, ...], Floats]:
        """The signs, and which of them each column comes from, as a matrix of zeros and ones."""
        signs = tuple(dict.fromkeys(origin(name) for name in self.columns))
        owner = [signs.index(origin(name)) for name in self.columns]
        return signs, np.eye(len(signs), dtype=np.float32)[owner] if signs else np.zeros((0, 0), np.float32)

    def _reasons(self, x: Tensor, places: NDArray[np.int64]) -> tuple[tuple[str, ...], Floats]:
        """Contributions of the derived columns are added to those of the sign they come from."""
        signs, columns = self._origins
        if not self.scorer.nets:
            return signs, _no_reasons(places, len(signs))
        return signs, self.scorer.contributions(x, places) @ columns

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What an artifact keeps: arrays, and settings as JSON."""
        arrays: dict[str, NDArray[Any]] = {f"scorer.{key}": value for key, value in self.scorer.to_arrays().items()}
        arrays |= {f"out_of_fold.{key}": value for key, value in vars(self.out_of_fold).items()}
        if self.none is not None:
            arrays |= {f"none.{key}": value for key, value in self.none.to_arrays().items()}
        keys = ("families", "columns", "temperature", "none_share", "gamma", "note", "usual")
        return arrays, {key: getattr(self, key) for key in keys} | {"guess": self.guess.weights}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> Ranker:
        none = strip_prefix("none.", arrays)
        return cls(
            tuple(notes["families"]),
            tuple(notes["columns"]),
            NetEnsemble.from_arrays(strip_prefix("scorer.", arrays)),
            notes["temperature"],
            Logistic(**none) if none else None,
            notes["none_share"],
            notes["gamma"],
            OutOfFold(**strip_prefix("out_of_fold.", arrays)),
            notes["note"],
            FirstStage(notes["guess"]),
            notes["usual"],
        )


def _no_reasons(places: NDArray[np.int64], signs: int) -> Floats:
    return np.zeros((*places.shape, signs), np.float32)


def _everything(guess: Floats, positions: NDArray[np.int64], own: Floats) -> Floats:
    """Scores of all candidates: the shortlist on top in its order, the rest below in the order of the first guess."""
    lowest = own.min(axis=1, keepdims=True)
    scores = np.asarray(guess - guess.max(axis=1, keepdims=True) + lowest - 1, np.float32)
    np.put_along_axis(scores, positions, own, 1)
    return scores
