"""Tables and charts of `bench --split scenarios`: what a model makes of all that arrives in a real list."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from taxosphere.evaluation.scenario_figures import calibration_error, error_by_chance
from taxosphere.evaluation.scenario_protocol import mean
from taxosphere.report import html
from taxosphere.report.figures import Bar, bars
from taxosphere.report.html import Markup
from taxosphere.report.tables import Cell, Record, Table, by_method

SECTION = "Scenarios"

Path = tuple[str, ...]
_ALL_RUNS: Path = ("mixture", "gaps")  # the calibration error is that of all runs together
_BY_CHANCE: Path = ("mixture", "variances")
_ANY_BIN: Mapping[Path, Path] = {_ALL_RUNS: ("0.00",), _BY_CHANCE: ("0.00",)}  # one that every run has
# Title of each table: heading of a column, and where its figure is in a record. Shares from 0 to 1 have three decimals.
TABLES: Mapping[str, Mapping[str, Path]] = {
    "All scenarios mixed, as they arrive": {
        "ECE ↓": _ALL_RUNS,
        "ECE by chance alone": _BY_CHANCE,
        "precision at 0.8": ("mixture", "at_0.8", "precision"),
        "coverage at 0.8": ("mixture", "at_0.8", "coverage"),
        "precision at 0.9": ("mixture", "at_0.9", "precision"),
        "coverage at 0.9": ("mixture", "at_0.9", "coverage"),
    },
    "Right parent: leaves, inner concepts, leaves whose parent is missing": {
        "leaf H@1": ("scenarios", "leaf", "hit@1"),
        "leaf MRR": ("scenarios", "leaf", "mrr"),
        "F1 of the parents": ("scenarios", "leaf", "parents_f1"),
        "inner H@1": ("scenarios", "inner", "hit@1"),
        "inner MRR": ("scenarios", "inner", "mrr"),
        "missing H@1": ("scenarios", "missing", "hit@1"),
        "… or none said": ("scenarios", "missing", "right"),
        "missing Wu&P": ("scenarios", "missing", "wup"),
    },
    '"None of these"': {
        "AUROC, missing": ("scenarios", "missing", "none_auroc"),
        "AUROC, foreign": ("scenarios", "foreign", "none_auroc"),
        "foreign attached at 0.8, % ↓": ("scenarios", "foreign", "attached@0.8"),
        "said of leaves, % ↓": ("scenarios", "leaf", "none_first"),
    },
    "Insertions and branches": {
        "children: precision": ("scenarios", "inner", "child_precision"),
        "recall": ("scenarios", "inner", "child_recall"),
        "precision among leaves": ("scenarios", "inner", "child_precision_among_leaves"),
        "MRR of the edge": ("scenarios", "inner", "edge_mrr"),
        "branch: edges restored": ("scenarios", "branch", "edges_restored"),
        "F1 of ancestors": ("scenarios", "branch", "ancestor_f1"),
    },
    "Recognised as being there": {
        "recall": ("scenarios", "known", "recall"),
        "precision": ("scenarios", "known", "precision"),
        "… where no name is shared": ("scenarios", "known", "precision_unshared"),
    },
}
CHARTS: Mapping[str, Path] = {
    "Precision at 0.8, all scenarios mixed": ("mixture", "at_0.8", "precision"),
    "AUROC of “none of these”, foreign concepts": ("scenarios", "foreign", "none_auroc"),
    "Precision of proposed children, nine leaves to an inner concept, %": (
        "scenarios",
        "inner",
        "child_precision_among_leaves",
    ),
    "Hidden edges of branches restored, %": ("scenarios", "branch", "edges_restored"),
}


def scenario_tables(records: Sequence[Record]) -> list[Table]:
    """A table per group of figures, a row per data set and method, means and deviations over runs.

    Parameters
    ----------
    records : sequence of Record
        Runs with ``figures``.
    """
    tables = []
    for title, columns in TABLES.items():
        rows = []
        for dataset, name, runs in _rows(records):
            texts = (_text(runs, path) for path in columns.values())
            rows.append((Cell(dataset), Cell(name), *(Cell(text) for text in texts), Cell(str(len(runs)))))
        tables.append(Table(SECTION, title, ("data set", "method", *columns, "runs"), tuple(rows)))
    return tables


def charts(records: Sequence[Record]) -> list[Markup]:
    """A chart per figure of `CHARTS`, a bar per data set and method."""
    drawn = []
    for title, path in CHARTS.items():
        rows = []
        for dataset, name, runs in _rows(records):
            value, deviation = _spread(runs, path)
            if not math.isnan(value):
                rows.append(Bar(f"{dataset}, {name}", value, deviation))
        drawn.append(html.figure(bars(rows, title), f"{title}; whiskers of one deviation over runs."))
    return drawn


def _rows(records: Sequence[Record]) -> list[tuple[str, str, list[Record]]]:
    datasets = sorted({record["dataset"] for record in records})
    of_each = {dataset: by_method([r for r in records if r["dataset"] == dataset]) for dataset in datasets}
    return [(dataset, name, runs) for dataset, methods in of_each.items() for name, runs in methods.items()]


def _spread(runs: Sequence[Record], path: Path) -> tuple[float, float]:
    """Mean and standard deviation over the runs that have the figure; nan where none has."""
    if path == _ALL_RUNS:
        gaps = [run["figures"]["mixture"]["gaps"] for run in runs if "gaps" in run["figures"]["mixture"]]
        return (calibration_error(mean(gaps)), 0.0) if gaps else (math.nan, 0.0)
    if path == _BY_CHANCE:
        variances = [run["figures"]["mixture"]["variances"] for run in runs if "variances" in run["figures"]["mixture"]]
        return (error_by_chance(variances) if variances else math.nan), 0.0
    values = np.array([_at(run["figures"], path) for run in runs], float)
    values = values[~np.isnan(values)]
    return (float(values.mean()), float(values.std())) if len(values) else (math.nan, 0.0)


def _at(figures: Mapping[str, Any], path: Path) -> float:
    value: Any = figures
    for key in path:
        value = value.get(key)
        if value is None:
            return math.nan
    return float(value)


def _text(runs: Sequence[Record], path: Path) -> str:
    """Mean and deviation; where not all runs have the figure, how many do."""
    average, deviation = _spread(runs, path)
    if math.isnan(average):
        return "–"
    digits = 3 if path[0] == "mixture" or "auroc" in path[-1] else 1
    having = sum(not math.isnan(_at(run["figures"], (*path, *_ANY_BIN.get(path, ())))) for run in runs)
    share = f" ({having} of {len(runs)})" if having < len(runs) else ""
    return f"{average:.{digits}f}" + (f" ± {deviation:.{digits}f}" if deviation else "") + share
