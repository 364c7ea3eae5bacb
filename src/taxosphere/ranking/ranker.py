"""The trained, calibrated ranker: from queries to probabilities of candidates and of "none of these"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from taxosphere.errors import TaxosphereError
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.orbit import gate
from taxosphere.ranking import calibration
from taxosphere.ranking.calibration import NoneOfThese
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import check_families, feature_of
from taxosphere.ranking.features.novelty import NoveltyScale
from taxosphere.ranking.features.shortlist import Shortlist, add_relative_columns, make_shortlist, novelty_of
from taxosphere.ranking.net import NetEnsemble
from taxosphere.ranking.out_of_fold import OutOfFold
from taxosphere.ranking.parent_set import ONE_PARENT, ParentSet
from taxosphere.ranking.queries import Queries
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE, FirstStage
from taxosphere.typing import Booleans, Floats, Longs

if TYPE_CHECKING:
    from taxosphere.ranking.reading import ShortlistReader


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Ranked candidates of q queries, best first.

    Attributes
    ----------
    positions
        (q, k) of the listed candidates.
    probabilities
        (q, k); with ``none_probability`` they add up to one.
    none_probability
        (q,): no candidate is right.
    scores
        (q, k) that order them.
    cosine, gate
        (q, k): cosine of query and candidate on the sphere, and whether the gate accepts it.
    contributions
        (q, e, features) to the score of the first e listed candidates, those that were to be explained.
    feature_names
        (features,) the contributions belong to.
    all_scores
        (q, n) of all candidates, in which the listed ones come first; None where they were not asked for.
    """

    positions: Longs
    probabilities: Floats
    none_probability: Floats
    scores: Floats
    cosine: Floats
    gate: Booleans
    contributions: Floats
    feature_names: tuple[str, ...]
    all_scores: Floats | None = None


@dataclass(frozen=True, kw_only=True)
class Ranker:
    """What was trained; a `CandidateIndex` says which taxonomy it is applied to.

    Attributes
    ----------
    families
        Feature families that are switched on.
    columns
        Names of the columns that the nets read, in their order.
    nets
        The trained nets; without any the first stage ranks alone.
    temperature
        Divides the scores before the softmax.
    none_model
        Predicts "none of these"; None always answers ``none_share``.
    none_share
        How common a concept without a right candidate is.
    gamma
        γ of the gate, which is reported and does not change the ranking.
    out_of_fold
        Rankings of the training examples by nets that were not trained on them.
    note
        One line for the user about what was trained.
    first_stage
        Makes the shortlist.
    mean_orphan_score
        Subtracted from orphan features. That of the seed where ``none_model`` was trained on other taxonomies: a young
        taxonomy may be full of orphans without anything missing. Else 0.
    novelty
        Of the seed's own concepts; None where ``none_model`` does not read it.
    parent_set
        Which further parents a concept gets beside the best one.
    ceiling
        The largest probability that is given to a candidate.
    reader
        Second reader whose score is one of the features; None where there is none. Not part of `to_arrays`.
    """

    families: tuple[str, ...]
    columns: tuple[str, ...]
    nets: NetEnsemble
    temperature: float
    none_model: NoneOfThese | None
    none_share: float
    gamma: float
    out_of_fold: OutOfFold
    note: str
    first_stage: FirstStage = DEFAULT_FIRST_STAGE
    mean_orphan_score: float = 0.0
    novelty: NoveltyScale | None = None
    parent_set: ParentSet = ONE_PARENT
    ceiling: float = 1.0
    reader: ShortlistReader | None = None

    def __post_init__(self) -> None:
        check_families(self.families)
        for column in self.columns:
            feature_of(column)

    def rank(
        self,
        index: CandidateIndex,
        queries: Queries,
        *,
        n_explained: int | None = None,
        all_scores: bool = False,
    ) -> Ranking:
        """Rank candidates for one block of queries.

        Parameters
        ----------
        index
            The candidates.
        queries
            Encoded by the network that embedded the candidates.
        n_explained
            How many of each list, from the first, get contributions; None for all.
        all_scores
            Whether to score all candidates, not only those on the shortlist.
        """
        return self.rank_shortlist(
            self.shortlist(index, queries, all_scores=all_scores),
            queries.points.z,
            index.points.z,
            index.radius_gaps,
            n_explained=n_explained,
        )

    def shortlist(self, index: CandidateIndex, queries: Queries, *, all_scores: bool = False) -> Shortlist:
        """Features of the candidates that the first stage lists, and of the second reader; parameters as for `rank`."""
        shortlist = make_shortlist(index, queries, self.families, self.first_stage, all_scores=all_scores)
        if self.reader is None:
            return shortlist
        return self.reader.add_scores(shortlist, queries.concepts, index.taxonomy)

    def rank_shortlist(
        self,
        shortlist: Shortlist,
        query_points: Floats,
        candidate_points: Floats,
        radius_gaps: NDArray[np.floating],
        *,
        n_explained: int | None = None,
    ) -> Ranking:
        """Order shortlists by the nets, with calibrated probabilities.

        Parameters
        ----------
        shortlist
            Of q queries.
        query_points, candidate_points
            (q, d) and (n, d) on one sphere.
        radius_gaps
            (n,) Δr that the gate reads.
        n_explained
            As for `rank`.
        """
        x = self._standardised(*add_relative_columns(shortlist.feature_names, shortlist.features))
        scores = self._scores(x, shortlist)  # (q, k) in the order of the first stage
        order = np.argsort(-scores, axis=1, kind="stable")
        positions = np.take_along_axis(shortlist.positions, order, 1)
        orphans = shortlist.orphan_features - self.mean_orphan_score
        query_features = np.concatenate([orphans, novelty_of(self.novelty, shortlist)], axis=1)
        none = self._none_probability(scores, x, query_features)
        probabilities = calibration.softmax(scores, self.temperature) * (1 - none[:, None])
        probabilities = calibration.lower_first_places(probabilities, self.ceiling)
        cosine = np.einsum("qd,qkd->qk", query_points, candidate_points[positions])
        names, contributions = self._contributions(x, order[:, :n_explained])
        ordered = np.take_along_axis(scores, order, 1)
        everything = shortlist.all_scores
        return Ranking(
            positions=positions,
            probabilities=np.take_along_axis(probabilities, order, 1).astype(np.float32),
            none_probability=none.astype(np.float32),
            scores=ordered,
            cosine=cosine.astype(np.float32),
            gate=cosine > gate.thresholds(radius_gaps[positions], self.gamma),
            contributions=contributions,
            feature_names=names,
            all_scores=None if everything is None else _listed_first(everything, positions, ordered),
        )

    def _standardised(self, columns: Sequence[str], table: Floats) -> Tensor:
        """The columns that the nets read, standardised; one whose family is switched off has its mean value.

        The table is overwritten.
        """
        if tuple(columns) == self.columns:
            return self.nets.standardise(table, overwrite=True)
        inputs = np.broadcast_to(self.nets.mean, (*table.shape[:2], len(self.columns))).copy()
        place = {name: column for column, name in enumerate(columns)}
        for column, name in enumerate(self.columns):
            if name in place:
                inputs[..., column] = table[..., place[name]]
            elif feature_of(name).is_on(self.families):
                raise TaxosphereError(f"the ranker needs the feature '{feature_of(name).name}', which was not computed")
        return self.nets.standardise(inputs, overwrite=True)

    def _scores(self, x: Tensor, shortlist: Shortlist) -> Floats:
        if self.nets.nets:
            return self.nets.scores(x)
        return np.asarray(shortlist.scores, np.float32)

    def _none_probability(self, scores: Floats, x: Tensor, query_features: Floats) -> NDArray[np.float64]:
        if self.none_model is None:
            return np.full(len(scores), self.none_share)
        return self.none_model.probability(calibration.none_inputs(scores, x.numpy(), query_features))

    @cached_property
    def _features_of_columns(self) -> tuple[tuple[str, ...], Floats]:
        """Names of the features, and a 0/1 matrix (columns, features) that says which one each column comes from."""
        names = tuple(dict.fromkeys(feature_of(column).name for column in self.columns))
        origin = [names.index(feature_of(column).name) for column in self.columns]
        return names, np.eye(len(names), dtype=np.float32)[origin] if names else np.zeros((0, 0), np.float32)

    def _contributions(self, x: Tensor, places: Longs) -> tuple[tuple[str, ...], Floats]:
        """Contributions (q, e, features) at ``places`` (q, e); those of relative columns count for their feature."""
        if places.shape[1] == 0:
            return (), np.zeros((*places.shape, 0), np.float32)
        names, from_columns = self._features_of_columns
        if not self.nets.nets:
            return names, np.zeros((*places.shape, len(names)), np.float32)
        return names, self.nets.contributions(x, places) @ from_columns

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What a model folder stores: arrays, and settings as JSON."""
        arrays: dict[str, NDArray[Any]] = {f"nets.{key}": value for key, value in self.nets.to_arrays().items()}
        arrays |= {f"out_of_fold.{key}": value for key, value in vars(self.out_of_fold).items()}
        if self.none_model is not None:
            arrays |= {f"none_model.{key}": value for key, value in self.none_model.to_arrays().items()}
        arrays |= {f"parent_set.{key}": value for key, value in self.parent_set.to_arrays().items()}
        if self.novelty is not None:
            arrays |= {f"novelty.{key}": value for key, value in vars(self.novelty).items()}
        keys = ("families", "columns", "temperature", "none_share", "gamma", "note", "mean_orphan_score", "ceiling")
        return arrays, {key: getattr(self, key) for key in keys} | {"first_stage": self.first_stage.weights}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> Ranker:
        """The ranker that `to_arrays` wrote; `TaxosphereError` where it needs a feature that does not exist."""
        columns, nets = tuple(notes["columns"]), NetEnsemble.from_arrays(strip_prefix("nets.", arrays))
        lengths = {len(nets.mean), len(nets.scale), *(len(net.linear) for net in nets.nets)}
        if lengths != {len(columns)}:
            raise TaxosphereError(f"the ranker has {len(columns)} columns of features, and arrays of another length")
        none_model, novelty = strip_prefix("none_model.", arrays), strip_prefix("novelty.", arrays)
        out_of_fold = OutOfFold.from_arrays(strip_prefix("out_of_fold.", arrays))
        parents = strip_prefix("parent_set.", arrays)  # earlier versions stored none
        return cls(
            families=tuple(notes["families"]),
            columns=columns,
            nets=nets,
            temperature=notes["temperature"],
            none_model=NoneOfThese.from_arrays(none_model) if none_model else None,
            none_share=notes["none_share"],
            gamma=notes["gamma"],
            out_of_fold=out_of_fold,
            note=notes["note"],
            first_stage=FirstStage({name: float(weight) for name, weight in notes["first_stage"].items()}),
            mean_orphan_score=notes["mean_orphan_score"],
            novelty=NoveltyScale(**novelty) if novelty else None,
            ceiling=notes.get("ceiling", 1.0),  # earlier versions had none
            parent_set=ParentSet.from_arrays(parents) if parents else ParentSet.fit(out_of_fold),
        )


def scores_of_all(ranking: Ranking) -> Floats:
    """(q, n) scores of all candidates of a ranking that was made with them."""
    if ranking.all_scores is None:
        raise ValueError("the ranking was made without the scores of all candidates")
    return ranking.all_scores


def _listed_first(all_scores: Floats, positions: Longs, scores: Floats) -> Floats:
    """Scores (q, n) of all candidates: the shortlist first in its order, the rest below in the first stage's order."""
    lowest = scores.min(axis=1, keepdims=True)
    everything = all_scores - all_scores.max(axis=1, keepdims=True) + lowest - 1
    everything = np.asarray(everything, np.float32)
    np.put_along_axis(everything, positions, scores, 1)
    return everything
