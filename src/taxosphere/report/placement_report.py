"""What a report on placements tells: hidden concepts and what was suggested for them, and out-of-fold figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from taxosphere.orbit.radius import radii
from taxosphere.placing.reasons import Reason, explain
from taxosphere.placing.suggestions import Suggestion, Suggestions
from taxosphere.polaris import Polaris
from taxosphere.report.svg import Satellite
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split
from taxosphere.taxonomy.summary import Summary, summarise

_DRAWN = 4  # orbit pictures
_CANDIDATES = 8  # in each
_EXPLAINED = 3  # candidates of a miss whose reasons are shown


@dataclass(frozen=True)
class Case:
    """A hidden concept, its true parents and what was suggested.

    Attributes
    ----------
    suggestions : Suggestions
        Best first.
    gold, gold_names : tuple of str
        Ids and names of its true parents.
    branch : str
        Name of the highest concept above the first true parent, a root's child where there is one.
    reasons : tuple of tuples of Reason
        Of the first suggestions, where the first is wrong.
    """

    suggestions: Suggestions
    gold: tuple[str, ...]
    gold_names: tuple[str, ...]
    branch: str = ""
    reasons: tuple[tuple[Reason, ...], ...] = ()

    @property
    def rank(self) -> int | None:
        """Place of the best true parent among the suggestions, counted from 1."""
        places = (place for place, s in enumerate(self.suggestions, 1) if s.id in self.gold)
        return next(places, None)


@dataclass(frozen=True)
class Answers:
    """How sure first suggestions were, and where the true parents stood.

    Attributes
    ----------
    probability : array of shape (t,)
        Of the first suggestion.
    rank : array of shape (t,)
        Place of the best true parent, from 1; 0 where it is not among the first ten.
    """

    probability: NDArray[np.float64]
    rank: NDArray[np.int64]

    def share_within(self, k: int) -> float:
        """Share of the concepts whose true parent is among the first ``k`` suggestions; 0 without any."""
        return float(np.mean((self.rank > 0) & (self.rank <= k))) if len(self.rank) else 0.0

    def at(self, least: float) -> tuple[float, float]:
        """Share of the concepts whose first suggestion is at least so probable, and share of these that are right."""
        sure = self.probability >= least
        return float(np.mean(sure)), float(np.mean(self.rank[sure] == 1)) if sure.any() else math.nan


@dataclass(frozen=True)
class PlacementReport:
    """Everything the page tells.

    Attributes
    ----------
    title, lead : str
        Heading, and what was done in a sentence or two.
    summary : Summary
        Of the taxonomy that suggestions came from.
    levels : tuple of int
        Number of concepts at each depth.
    answers : Answers
        What the charts show: of the hidden concepts, or of those hidden while the model learned.
    cases : tuple of Case
        The hidden concepts one by one; empty for a model of an earlier version, which does not say which they were.
    orbits : tuple of (name, satellites)
        Pictures of some cases.
    command : str
        How the report was made.
    """

    title: str
    lead: str
    summary: Summary
    levels: tuple[int, ...]
    answers: Answers
    command: str
    cases: tuple[Case, ...] = ()
    orbits: tuple[tuple[str, tuple[Satellite, ...]], ...] = field(default=())


def of_hidden(model: Polaris, split: Split, *, title: str, lead: str, command: str) -> PlacementReport:
    """A report on hidden concepts that are put back.

    Parameters
    ----------
    model : Polaris
        Fitted on ``split.seed``.
    split : Split
        What was hidden, and the true parents.
    title, lead, command : str
        As in `PlacementReport`.
    """
    cases = tuple(
        _case(model, suggestions, gold)
        for suggestions, gold in zip(model.suggest_many(split.queries, k=10), split.gold, strict=True)
    )
    answers = Answers(
        np.array([case.suggestions[0].probability for case in cases], float),
        np.array([case.rank or 0 for case in cases], np.int64),
    )
    return PlacementReport(
        title=title,
        lead=lead,
        summary=summarise(model.taxonomy),
        levels=_levels(model),
        answers=answers,
        command=command,
        cases=cases,
        orbits=tuple((case.suggestions.query.name, _orbit(model, case)) for case in _to_draw(cases)),
    )


def of_model(model: Polaris, *, title: str, lead: str, command: str) -> PlacementReport:
    """A report on a fitted model, from the rankings of concepts that were hidden while it learned.

    Hidden concepts and candidates that the taxonomy has lost since then are left out of the cases.

    Parameters
    ----------
    model : Polaris
        Keeps these rankings as `Polaris.out_of_fold`.
    title, lead, command : str
        As in `PlacementReport`.
    """
    hidden = model.out_of_fold
    labels = np.asarray(hidden.labels, bool)
    rank = np.where(labels.any(1), labels.argmax(1) + 1, 0) if len(labels) else np.zeros(0, np.int64)
    answers = Answers(np.asarray(hidden.probabilities[:, 0], float), rank.astype(np.int64))
    return PlacementReport(
        title, lead, summarise(model.taxonomy), _levels(model), answers, command, tuple(_held_out_cases(model))
    )


def _held_out_cases(model: Polaris) -> Iterator[Case]:
    """The leaves that were hidden while the model learned, with the first places they were given then."""
    taxonomy, hidden = model.taxonomy, model.out_of_fold
    for row, position in enumerate(hidden.concept.tolist()):
        if position < 0 or not len(parents := taxonomy.parent_csr.row(position)):
            continue
        places = zip(hidden.candidates[row].tolist(), hidden.probabilities[row].tolist(), strict=True)
        ranked = tuple(_suggestion(taxonomy, place, probability) for place, probability in places if place >= 0)
        if ranked:
            query = taxonomy.concept(position)
            yield _judged(taxonomy, Suggestions(query, float(hidden.none_probability[row]), ranked, (), ()), parents)


def _suggestion(taxonomy: Taxonomy, position: int, probability: float) -> Suggestion:
    """A candidate of which the probability alone was kept."""
    return Suggestion(
        position=position,
        id=taxonomy.ids[position],
        name=taxonomy.names[position],
        path=tuple(taxonomy.names[i] for i in taxonomy.path_positions(position)),
        probability=probability,
        score=math.log(max(probability, 1e-12)),
        cosine=math.nan,
        gate=True,
        siblings=(),
        reasons={},
    )


def _levels(model: Polaris) -> tuple[int, ...]:
    return tuple(np.bincount(np.asarray(model.taxonomy.levels, np.int64)).tolist())


def _case(model: Polaris, suggestions: Suggestions, gold: NDArray[np.integer]) -> Case:
    case = _judged(model.taxonomy, suggestions, gold)
    if case.rank == 1:
        return case
    return replace(case, reasons=tuple(explain(model.fitted, suggestions, most=_EXPLAINED)))


def _judged(taxonomy: Taxonomy, suggestions: Suggestions, gold: NDArray[np.integer]) -> Case:
    """Suggestions beside the true parents, whose positions are ``gold``."""
    path = taxonomy.path_positions(int(gold[0]))
    return Case(
        suggestions=suggestions,
        gold=tuple(taxonomy.ids[i] for i in gold),
        gold_names=tuple(taxonomy.names[i] for i in gold),
        branch=taxonomy.names[path[1] if len(path) > 1 else path[0]],
    )


def _to_draw(cases: Sequence[Case]) -> list[Case]:
    """A mixture for the drawings: the surest that were right, then the surest near misses, then other misses."""
    sure = sorted(cases, key=lambda case: -case.suggestions[0].probability)
    right = [case for case in sure if case.rank == 1]
    wrong = [case for case in sure if case.rank in (2, 3)] + [case for case in sure if case.rank not in (1, 2, 3)]
    half = _DRAWN // 2
    return (right[:half] + wrong[:half])[:_DRAWN]


def _orbit(model: Polaris, case: Case) -> tuple[Satellite, ...]:
    """The suggestions of a case as they stand around it."""
    radius = radii(model.taxonomy)
    return tuple(
        Satellite(
            label=s.name,
            angle=math.acos(max(-1.0, min(1.0, s.cosine))),
            radius=float(radius[s.position]),
            probability=s.probability,
            accepted=s.gate,
            gold=s.id in case.gold,
        )
        for s in case.suggestions[:_CANDIDATES]
    )
