"""What a fitted model makes of each scenario, and of a list in which they are mixed as they arrive."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taxosphere.evaluation import metrics
from taxosphere.evaluation.reliability import auroc
from taxosphere.evaluation.scenarios import SHARES, Branch, Scenarios
from taxosphere.placing.expansion import Placement
from taxosphere.placing.name_keys import fold
from taxosphere.placing.place_list import ChildProposal, duplicates_of, propose_children
from taxosphere.polaris import Polaris
from taxosphere.taxonomy import Concept, Taxonomy

LINES = (0.8, 0.9)  # --accept
_BINS = 15
_RANKED = ("hit@1", "hit@5", "hit@10", "mr", "mrr", "wup")


@dataclass(frozen=True)
class Answers:
    """One answer per query of a scenario.

    Attributes
    ----------
    probability : array
        Of the best parent; nan where the query was said to be there already.
    right : array of bool
        Whether that parent is a true one.
    none : array
        Probability of "none of these".
    same_as : tuple of sets of str
        Ids the query was said to be there already as.
    parents_f1 : array
        F1 of the parents it would be attached to and the true ones, nan where there are none; empty for branches.
    listed : mapping of float to (array of bool, array of bool)
        For concepts asked in a list, by line of `LINES`: which are attached at it, and whether the first parent is a
        true one. In a list a concept waits for a parent that is new and not sure itself. Empty for others.
    """

    probability: NDArray[np.float64]
    right: NDArray[np.bool_]
    none: NDArray[np.float64]
    same_as: tuple[frozenset[str], ...]
    parents_f1: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    listed: Mapping[float, tuple[NDArray[np.bool_], NDArray[np.bool_]]] = field(default_factory=dict)

    def attached(self, line: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which queries `expand` would attach with ``--accept line``, and whether their first parent is a true one."""
        if line in self.listed:
            return self.listed[line]
        return np.nan_to_num(self.probability, nan=-1.0) >= line, self.right

    @property
    def none_first(self) -> NDArray[np.bool_]:
        """Whether "none of these" is the first answer: more probable than the best parent."""
        return np.asarray(self.none > np.nan_to_num(self.probability, nan=1.0))


def measure(model: Polaris, scenarios: Scenarios) -> dict[str, Any]:
    """All figures of one run.

    Parameters
    ----------
    model : Polaris
        Fitted on ``scenarios.seed``.
    scenarios : Scenarios
        What is asked.

    Returns
    -------
    dict
        ``"scenarios"``: figures by scenario name; ``"mixture"``: ``ece``, the ``gaps`` it is the sum of, the
        ``variances`` that these would have by chance and, at each line of `LINES`, ``precision`` and ``coverage``.
        Shares are percentages, as everywhere; ``ece``, ``auroc`` and those of the mixture are from 0 to 1.
    """
    answers = {name: _ask(model, scenarios, name) for name in scenarios.queries if name != "branch"}
    placed = [_expand(model, branch) for branch in scenarios.branches]
    listed = {line: _first_parents([_expand(model, b, line) for b in scenarios.branches], scenarios) for line in LINES}
    answers["branch"] = _branch_answers(placed, scenarios, listed)
    figures: dict[str, dict[str, float]] = {}
    for name in ("leaf", "inner", "missing"):
        part = scenarios.queries[name]
        outcome = metrics.judge(model.score(part.queries), part.gold, scenarios.seed)
        figures[name] = {key: metrics.summary(outcome)[key] for key in _RANKED} | {"queries": len(part.queries)}
    figures["leaf"]["parents_f1"] = 100 * float(answers["leaf"].parents_f1.mean())
    figures["leaf"]["none_first"] = 100 * float(answers["leaf"].none_first.mean())
    missing = answers["missing"]  # "a parent is missing here" is right too
    said = missing.right | missing.none_first
    figures["missing"]["right"] = 100 * float(said.mean()) if len(said) else math.nan
    figures["inner"] |= children(model, scenarios)
    figures["branch"] = _branches(placed, scenarios)
    for name in ("missing", "foreign"):
        both = np.concatenate([answers["leaf"].none, answers[name].none])
        positive = np.arange(len(both)) >= len(answers["leaf"].none)
        figures.setdefault(name, {"queries": len(answers[name].none)})["none_auroc"] = auroc(both, positive)
    figures["foreign"]["attached@0.8"] = 100 * float(np.mean(answers["foreign"].attached(0.8)[0]))
    figures["known"] = recognised(answers, scenarios)
    return {"scenarios": {name: figures[name] for name in SHARES}, "mixture": mixture(answers)}


def mixture(answers: Mapping[str, Answers]) -> dict[str, Any]:
    """Calibration error, precision and coverage where scenarios are mixed by `SHARES`.

    Parameters
    ----------
    answers : mapping of scenario name to Answers
        Every query of a scenario weighs the same, and each scenario as much as its share.
    """
    filled = {name: part for name, part in answers.items() if len(part.right)}
    total = sum(SHARES[name] for name in filled)
    weight = np.concatenate(
        [np.full(len(part.right), SHARES[name] / total / len(part.right)) for name, part in filled.items()]
    )
    probability = np.concatenate([part.probability for part in filled.values()])
    right = np.concatenate([part.right for part in filled.values()])
    answered = ~np.isnan(probability)
    gaps = _gaps(probability[answered], right[answered], weight[answered])
    variances = _variances(probability[answered], weight[answered])
    result: dict[str, Any] = {"ece": calibration_error(gaps), "gaps": gaps, "variances": variances}
    for line in LINES:
        at_line = [part.attached(line) for part in filled.values()]
        attached, true = (np.concatenate([pair[i] for pair in at_line]) for i in (0, 1))
        share = float(weight[attached].sum())
        precision = float(weight[attached & true].sum() / share) if share else math.nan
        result[f"at_{line}"] = {"precision": precision, "coverage": share}
    return result


def calibration_error(gaps: Mapping[str, float]) -> float:
    """Expected calibration error: the sum of the bins' gaps without their signs.

    A run of a few hundred queries has an error of some hundredths by chance alone. Gaps averaged over runs before this
    is called give the error of all runs together, in which chance counts less.
    """
    return float(sum(map(abs, gaps.values())))


def error_by_chance(variances: Sequence[Mapping[str, float]]) -> float:
    """The calibration error to be expected of answers that are right exactly as often as their probabilities say.

    Parameters
    ----------
    variances : sequence of mapping
        By bin, one mapping for each run; their gaps are averaged.
    """
    total = [sum(run[key] for run in variances) / len(variances) ** 2 for key in variances[0]]
    return float(sum(math.sqrt(2 / math.pi * variance) for variance in total))  # the mean of |x| where x is normal


def _variances(probability: NDArray[np.float64], weight: NDArray[np.float64]) -> dict[str, float]:
    """Per bin, by its lower end: the variance of its gap where answers are right as often as they say."""
    place = np.clip((probability * _BINS).astype(int), 0, _BINS - 1)
    total = max(float(weight.sum()) ** 2, 1e-12)
    variance = np.bincount(place, weight**2 * probability * (1 - probability), _BINS) / total
    return {f"{number / _BINS:.2f}": float(value) for number, value in enumerate(variance)}


def _gaps(probability: NDArray[np.float64], right: NDArray[np.bool_], weight: NDArray[np.float64]) -> dict[str, float]:
    """Per bin of equal width, by its lower end: probability minus share of right ones, times the bin's weight."""
    place = np.clip((probability * _BINS).astype(int), 0, _BINS - 1)
    gap = np.bincount(place, weight * (probability - right), _BINS) / max(float(weight.sum()), 1e-12)
    return {f"{number / _BINS:.2f}": float(value) for number, value in enumerate(gap)}


def _ask(model: Polaris, scenarios: Scenarios, name: str) -> Answers:
    """Each query alone, as `suggest` answers it."""
    part, seed = scenarios.queries[name], scenarios.seed
    probability, right, none, same_as, parents_f1 = [], [], [], [], []
    for gold, suggestions in zip(part.gold, model.suggest_many(part.queries, k=10), strict=True):
        duplicate = duplicates_of(model.fitted, suggestions)
        best = suggestions[0]
        probability.append(math.nan if duplicate else best.probability)
        true = {seed.ids[i] for i in gold}
        right.append(best.id in true)
        taken = {parent.id for parent in suggestions.parents}
        parents_f1.append(2 * len(taken & true) / (len(taken) + len(true)) if true else math.nan)
        none.append(suggestions.none_probability)
        same_as.append(frozenset(duplicate))
    return Answers(
        probability=np.array(probability),
        right=np.array(right, bool),
        none=np.array(none),
        same_as=tuple(same_as),
        parents_f1=np.array(parents_f1),
    )


def _expand(model: Polaris, branch: Branch, accept: float = 0.0) -> list[Placement]:
    """A whole branch placed together; everything is attached, however unsure, where nothing else is said."""
    return list(model.expand(branch.concepts, accept=accept).placements)


def _first_parents(
    placed: Sequence[Sequence[Placement]], scenarios: Scenarios
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which concepts of the branches are attached, and to a true parent first."""
    rows = [
        (p.attached, bool(p.parents) and (p.parents[0].id, p.concept.id) in branch.edges)
        for placements, branch in zip(placed, scenarios.branches, strict=True)
        for p in placements
    ]
    attached, right = np.array(rows, bool).reshape(-1, 2).T
    return attached, right


def _branch_answers(
    placed: Sequence[Sequence[Placement]],
    scenarios: Scenarios,
    listed: Mapping[float, tuple[NDArray[np.bool_], NDArray[np.bool_]]],
) -> Answers:
    every = [p for placements in placed for p in placements]
    return Answers(
        probability=np.array([p.surest if p.attached else math.nan for p in every], float),
        right=_first_parents(placed, scenarios)[1],
        none=np.array([p.suggestions.none_probability for p in every], float),
        same_as=(frozenset(),) * len(every),
        listed=listed,
    )


def _branches(placed: Sequence[Sequence[Placement]], scenarios: Scenarios) -> dict[str, float]:
    """Share of hidden edges restored, and F1 of (ancestor, descendant) pairs."""
    edges = restored = both = gold_pairs = answer_pairs = 0
    for placements, branch in zip(placed, scenarios.branches, strict=True):
        gold = set(branch.edges)
        answer = {(parent.id, p.concept.id) for p in placements for parent in p.parents}
        edges, restored = edges + len(gold), restored + len(gold & answer)
        above, below = _ancestor_pairs(gold, scenarios.seed), _ancestor_pairs(answer, scenarios.seed)
        both, gold_pairs, answer_pairs = both + len(above & below), gold_pairs + len(above), answer_pairs + len(below)
    f1 = 2 * both / max(1, gold_pairs + answer_pairs)
    return {"queries": sum(map(len, placed)), "edges_restored": 100 * restored / max(1, edges), "ancestor_f1": 100 * f1}


def _ancestor_pairs(edges: set[tuple[str, str]], seed: Taxonomy) -> set[tuple[str, str]]:
    """(ancestor, concept) for every child of ``edges``: along these edges, and on through the seed."""
    parents: dict[str, set[str]] = {}
    for parent, child in edges:
        parents.setdefault(child, set()).add(parent)
    pairs: set[tuple[str, str]] = set()
    for concept in parents:
        stack, reached = list(parents[concept]), set()
        while stack:
            at = stack.pop()
            if at not in reached:
                reached.add(at)
                stack += parents.get(at, ()) if at in parents else seed.parents(at) if at in seed else ()
        pairs |= {(ancestor, concept) for ancestor in reached}
    return pairs


def children(model: Polaris, scenarios: Scenarios) -> dict[str, float]:
    """Children proposed below inner concepts, and below leaves, which take none; an inner counts like nine leaves."""
    seed = scenarios.seed
    inner, leaf = (scenarios.queries[name].queries for name in ("inner", "leaf"))
    right = proposed = wanted = 0
    reciprocal = []
    for gold, gold_parents, proposals in zip(
        scenarios.children, scenarios.queries["inner"].gold, _proposals(model, inner), strict=True
    ):
        true = {seed.ids[i] for i in gold}
        taken = {proposal.child for proposal in proposals if proposal.proposed}
        right, proposed, wanted = right + len(true & taken), proposed + len(taken), wanted + len(true)
        parents = {seed.ids[i] for i in gold_parents}
        hits = [rank for rank, p in enumerate(proposals, 1) if p.child in true and p.parent in parents]
        reciprocal.append(1 / hits[0] if hits else 0.0)
    false = sum(sum(p.proposed for p in proposals) for proposals in _proposals(model, leaf))
    scale = 9 * len(inner) / max(1, len(leaf))  # nine times as many leaves as inner concepts
    figures = {
        "child_recall": 100 * right / max(1, wanted),
        "child_f1": 100 * 2 * right / max(1, proposed + wanted),
        "edge_mrr": 100 * float(np.mean(reciprocal)) if reciprocal else 0.0,
    }
    if proposed:  # of no proposals none is wrong
        figures["child_precision"] = 100 * right / proposed
    if proposed + false:
        figures["child_precision_among_leaves"] = 100 * right / (proposed + scale * false)
    return figures


def _proposals(model: Polaris, queries: Sequence[Concept]) -> Iterator[list[ChildProposal]]:
    return (propose_children(model.fitted, suggestions) for suggestions in model.suggest_many(queries))


def recognised(answers: Mapping[str, Answers], scenarios: Scenarios) -> dict[str, float]:
    """Recall of the warning on queries that are there, and its precision over all queries asked one by one.

    ``precision_unshared`` leaves out warnings of a concept that has a name or synonym in common with the query in the
    taxonomy itself.
    """
    warnings, seed = answers["known"], scenarios.seed
    right = [seed.ids[i] in said for i, said in zip(scenarios.same_as, warnings.same_as, strict=True)]
    warned = sum(bool(said) for part in answers.values() for said in part.same_as)
    of_one_name = sum(
        any(_share_a_name(query, seed.concept(seed.position(id))) for id in said if id in seed)
        for name, part in scenarios.queries.items()
        if name not in ("known", "branch")
        for query, said in zip(part.queries, answers[name].same_as, strict=True)
    )
    return {
        "queries": len(right),
        "recall": 100 * float(np.mean(right)) if right else 0.0,
        "precision": 100 * sum(right) / max(1, warned),
        "precision_unshared": 100 * sum(right) / max(1, warned - of_one_name),
    }


def _share_a_name(one: Concept, other: Concept) -> bool:
    """Whether two concepts of the taxonomy have a name or synonym in common, so that a warning only says what is so."""
    names, others = ({fold(name) for name in (concept.name, *concept.synonyms)} for concept in (one, other))
    return bool(names & others)
