"""`evaluate --split scenarios`: cut, fit once a run, ask every scenario, average over runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from taxosphere import artifact
from taxosphere.errors import InputError
from taxosphere.evaluation import protocol, scenario_figures, scenarios
from taxosphere.evaluation.records import Record
from taxosphere.methods.polaris_full import PolarisFull
from taxosphere.methods.registry import Method
from taxosphere.taxonomy import Taxonomy
from taxosphere.typing import Progress

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder


@dataclass(frozen=True)
class ScenarioRun:
    """One fit and what it made of every scenario."""

    random_state: int
    candidates: int
    figures: dict[str, Any]
    fit_seconds: float
    query_seconds: float
    seed_hash: str
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ScenarioResult:
    """All runs of Polaris on one taxonomy."""

    dataset: str
    method: str
    runs: tuple[ScenarioRun, ...]

    def document(self) -> dict[str, Any]:
        """The JSON document of `taxosphere evaluate --split scenarios --json`; figures are means over the runs."""
        figures = mean([run.figures for run in self.runs])
        gaps = figures["mixture"].pop("gaps")
        del figures["mixture"]["variances"]
        figures["mixture"]["ece"] = scenario_figures.calibration_error(gaps)  # of all runs together
        leaf = [{k: v for k, v in run.figures["scenarios"]["leaf"].items() if k != "queries"} for run in self.runs]
        return {
            "dataset": self.dataset,
            "method": self.method,
            "split": "scenarios",
            "runs": len(self.runs),
            "candidates": self.runs[0].candidates,
            "queries": int(sum(part["queries"] for part in self.runs[0].figures["scenarios"].values())),
            "metrics": protocol.mean_std(leaf),
            "seconds": {
                "fit": float(np.mean([run.fit_seconds for run in self.runs])),
                "per_query": float(np.mean([run.query_seconds for run in self.runs])),
            },
            "references": {},
            **figures,
            "each_run": [{"random_state": run.random_state, **run.figures} for run in self.runs],
        }


def mean(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means of the numbers of equally shaped documents; runs where a number is absent (nan) do not count."""
    first = documents[0]
    result: dict[str, Any] = {}
    for key, value in first.items():
        column = [document[key] for document in documents]
        if isinstance(value, Mapping):
            result[key] = mean(column)
        else:
            numbers = np.array(column, float)
            result[key] = float(np.nanmean(numbers)) if not np.isnan(numbers).all() else float("nan")
    return result


def evaluate(
    taxonomy: Taxonomy,
    foreign: Sequence[Taxonomy],
    make: Callable[[], Method],
    *,
    encoder: TextEncoder,
    runs: int,
    random_state: int,
    dataset: str,
    progress: Progress,
) -> ScenarioResult:
    """Fit and ask once per run; runs differ in what is hidden.

    Parameters
    ----------
    taxonomy : Taxonomy
        Prepared by `protocol.prepare`.
    foreign : sequence of Taxonomy
        Where concepts come from that do not belong.
    make : callable
        Makes an unfitted method; only `PolarisFull` answers with probabilities.
    encoder : TextEncoder
        Shared by all runs.
    runs, random_state : int
        How many runs, and the random state of the first.
    dataset : str
        What the taxonomy is called in the result.
    progress : callable
        Called as ``progress(done, total, what)``.
    """
    finished = []
    for number in range(runs):
        progress(number, runs, f"scenarios, run {number + 1} of {runs}")
        finished.append(run(taxonomy, foreign, make(), encoder=encoder, random_state=random_state + number))
    progress(runs, runs, "done")
    return ScenarioResult(dataset, "polaris", tuple(finished))


def run(
    taxonomy: Taxonomy, foreign: Sequence[Taxonomy], method: Method, *, encoder: TextEncoder, random_state: int
) -> ScenarioRun:
    """One run: cut the taxonomy by ``random_state``, fit ``method`` on what stays, ask every scenario once.

    Parameters
    ----------
    taxonomy, foreign, encoder
        As in `evaluate`.
    method : Method
        Unfitted; anything but `PolarisFull` is refused with `InputError`, because scenarios need probabilities.
    random_state : int
        Which concepts are hidden, and the state of the fit.
    """
    if not isinstance(method, PolarisFull):
        raise InputError("scenarios need probabilities, which only the method 'polaris' gives")
    outside = scenarios.foreign_concepts(foreign, random_state=random_state, most=scenarios.MOST["foreign"])
    cut = scenarios.build(taxonomy, outside, random_state=random_state)
    began = time.perf_counter()
    method.fit(cut.seed, encoder=encoder, random_state=random_state)
    fitted = time.perf_counter()
    assert method.model is not None
    figures = scenario_figures.measure(method.model, cut)
    asked = sum(len(part.queries) for part in cut.queries.values())
    return ScenarioRun(
        random_state=random_state,
        candidates=len(cut.seed),
        figures=figures,
        fit_seconds=fitted - began,
        query_seconds=(time.perf_counter() - fitted) / max(1, asked),
        seed_hash=artifact.seed_hash(cut.seed),
        config=protocol.configuration(method, encoder, random_state),
    )


def record(dataset: str, name: str, run: ScenarioRun, repairs: Sequence[str]) -> Record:
    """The record of one run, as JSON types: that of `records.record`, with ``figures`` in place of ranks."""
    figures = _finite(run.figures)
    leaf = figures["scenarios"]["leaf"]
    return {
        "dataset": dataset,
        "method": name,
        "seed": run.random_state,
        "split": "scenarios",
        "candidates": run.candidates,
        "queries": int(sum(part["queries"] for part in figures["scenarios"].values())),
        "several_parents": False,
        "metrics": {key: value for key, value in leaf.items() if key != "queries"},
        "figures": figures,
        "seconds": {"fit": run.fit_seconds, "per_query": run.query_seconds},
        "ranks": [],
        "config": dict(run.config),
        "seed_hash": run.seed_hash,
        "versions": artifact.versions(),
        "repairs": list(repairs),
        "history": {},
    }


def _finite(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The same with None for what is not finite, which JSON cannot hold."""
    return {
        key: _finite(value) if isinstance(value, Mapping) else value if np.isfinite(value) else None
        for key, value in figures.items()
    }
