"""What a report on placements tells: hidden concepts and what was suggested for them, and out-of-fold figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from taxosphere.orbit.radius import radii
from taxosphere.placing import inference
from taxosphere.placing.reasons import Reason, explain
from taxosphere.placing.suggestions import Suggestion, Suggestions
from taxosphere.polaris import Polaris
from taxosphere.report.svg import Satellite
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, hide
from taxosphere.taxonomy.summary import Summary, summarise

_DRAWN = 4  # orbit pictures
_CANDIDATES = 8  # in each
_EXPLAINED = 3  # candidates of a miss whose reasons are shown
SHOWN = 200  # misses that are shown one by one
_AGAIN = 50  # places among which those of a concept hidden while a model learned are looked for


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
    reasons_note : str
        Where angles and reasons come from, if not from the answers themselves.
    """

    title: str
    lead: str
    summary: Summary
    levels: tuple[int, ...]
    answers: Answers
    command: str
    cases: tuple[Case, ...] = ()
    orbits: tuple[tuple[str, tuple[Satellite, ...]], ...] = field(default=())
    reasons_note: str = ""


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
    cases = _asked_again(model, list(_held_out_cases(model)))
    return PlacementReport(
        title=title,
        lead=lead,
        summary=summarise(model.taxonomy),
        levels=_levels(model),
        answers=Answers(np.asarray(hidden.probabilities[:, 0], float), rank.astype(np.int64)),
        command=command,
        cases=tuple(cases),
        orbits=tuple((case.suggestions.query.name, _orbit(model, case)) for case in _to_draw(cases)),
        reasons_note=_REASONS_NOTE,
    )


_REASONS_NOTE = (
    "The candidates and their probabilities are those of the parts that had not seen the concept. Angles come from the "
    "finished model. What is said for and against a candidate was looked up in the taxonomy without the concept."
)


def _asked_again(model: Polaris, cases: Sequence[Case]) -> list[Case]:
    """The cases, with angles and reasons for those that are drawn or shown as errors.

    Of a concept that was hidden while the model learned, only candidates and probabilities are kept. So these concepts
    are taken out of the taxonomy and asked of the finished model, in as many rounds as it takes to have all candidates
    of each of them in the taxonomy meanwhile.
    """
    again: dict[str, Suggestions] = {}
    for taken_out in _rounds([*misses(cases)[:SHOWN], *_to_draw(cases)]):
        again |= _answers_without(model, taken_out)
    return [_with_evidence(model, case, again.get(case.suggestions.query.id)) for case in cases]


def _rounds(cases: Sequence[Case]) -> list[set[str]]:
    """The concepts of the cases in sets, in none of which a concept is a candidate of another."""
    rounds: list[tuple[set[str], set[str]]] = []  # concepts, and all candidates of theirs
    for case in cases:
        id, candidates = case.suggestions.query.id, {suggestion.id for suggestion in case.suggestions}
        for concepts, needed in rounds:
            if id not in needed and concepts.isdisjoint(candidates):
                concepts.add(id)
                needed |= candidates
                break
        else:
            rounds.append(({id}, candidates))
    return [concepts for concepts, _ in rounds]


def _answers_without(model: Polaris, concepts: set[str]) -> dict[str, Suggestions]:
    """What the model suggests for its own concepts with these ids, all of them taken out of the taxonomy."""
    taxonomy, fitted = model.taxonomy, model.fitted
    out = np.zeros(len(taxonomy), bool)
    out[[taxonomy.position(id) for id in concepts]] = True
    split = hide(taxonomy, out)
    asked = inference.assemble(
        encoder=fitted.encoder,
        network=fitted.network,
        ranker=fitted.ranker,
        history=fitted.history,
        taxonomy=split.seed,
        text_vectors=fitted.index.text_vectors.take(np.flatnonzero(~out)),
    )
    return {answer.query.id: answer for answer in inference.suggest_many(asked, split.queries, k=_AGAIN)}


def _with_evidence(model: Polaris, case: Case, again: Suggestions | None) -> Case:
    """The case with cosines and gates of ``again``, the same concept asked once more, and with reasons of a miss.

    What ranked a candidate orders its reasons; what they say is true of the whole taxonomy but for the concept.
    """
    if again is None:
        return case
    now = {suggestion.id: suggestion for suggestion in again}
    ranked = tuple(
        replace(s, cosine=now[s.id].cosine, gate=now[s.id].gate) if s.id in now else s for s in case.suggestions
    )
    reasons: tuple[tuple[Reason, ...], ...] = ()
    if case.rank != 1:
        first = [now.get(s.id) for s in ranked[:_EXPLAINED]]
        ranked_again = replace(again, ranked=tuple(s for s in first if s))
        position = model.taxonomy.position(again.query.id)
        sentences = iter(explain(model.fitted, ranked_again, most=_EXPLAINED, without=position))
        reasons = tuple(next(sentences) if s else () for s in first)
    return replace(case, suggestions=replace(case.suggestions, ranked=ranked), reasons=reasons)


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


def misses(cases: Sequence[Case]) -> list[Case]:
    """The cases whose first suggestion is wrong, the surest first."""
    return sorted((case for case in cases if case.rank != 1), key=lambda case: -case.suggestions[0].probability)


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
        if not math.isnan(s.cosine)
    )
