"""A study as tables, figures, Markdown and one HTML page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taxosphere import atomic
from taxosphere.evaluation import records, studies
from taxosphere.evaluation.bench import RUNS
from taxosphere.evaluation.studies.base import Findings
from taxosphere.report import bench_page, figures, html
from taxosphere.report.figures import Bar
from taxosphere.report.html import Markup, tag
from taxosphere.report.tables import SHORT, Cell, Table, amount, markdown, significance_tables

INTRODUCTION = """# Studies

The paper's ablations, sensitivity studies and figures, each made by
`taxosphere study NAME --out docs/results/studies/NAME`; `--datasets` and `--runs` choose what is measured, and the page
of a study tells its commands. This page is drawn from their records by `scripts/draw_results.py`.

Where variants are compared, "holds" and "does not hold" mean that the 95 % interval of a paired bootstrap over queries
lies on one side of zero. The rival is the best of the others, found on the same queries, which favours it a little. The
52 queries of Environment seldom decide a difference of two or three points.
"""
FACTS = ("encoder", "machine", "date", "versions")


def study_tables(findings: Findings) -> list[Table]:
    """One table per data set: measured values, then the paper's where it prints any; then tests of significance."""
    study = findings.study
    tables = []
    for dataset in findings.datasets:
        compared = [m for m in study.metrics if any(m in row for (d, _), row in study.printed.items() if d == dataset)]
        rows = []
        for label in findings.labels(dataset):
            spread = findings.mean_std(dataset, label)
            printed = study.printed.get((dataset, label), {})
            ours = (Cell(amount(metric, **spread[metric]) if metric in spread else "") for metric in study.metrics)
            theirs = (Cell(amount(metric, printed[metric]) if metric in printed else "") for metric in compared)
            rows.append((Cell(label), *ours, *theirs, Cell(str(len(findings.runs(dataset, label))))))
        header = ("variant", *map(_short, study.metrics), *(f"{_short(m)} (paper)" for m in compared), "runs")
        tables.append(Table(study.title, dataset, header, tuple(rows)))
    return tables + (significance_tables(findings.records, study.tested) if study.tested else [])


def _short(metric: str) -> str:
    return SHORT.get(metric, metric)


def study_figures(findings: Findings) -> list[tuple[str, Markup]]:
    """(name, SVG) of every figure."""
    study = findings.study
    if study.figure == "histograms":
        return [_histogram(findings, dataset, angle) for dataset in findings.datasets for angle in _angles(findings)]
    if study.figure == "lines":
        return [(study.name, _lines(findings))]
    return [(f"{study.name}-{dataset}", _bars(findings, dataset)) for dataset in findings.datasets]


def _main_metric(findings: Findings) -> str:
    metrics = findings.study.metrics
    return "mrr" if "mrr" in metrics else metrics[0]


def _bars(findings: Findings, dataset: str) -> Markup:
    metric = _main_metric(findings)
    rows = []
    for label in findings.labels(dataset):
        spread = findings.mean_std(dataset, label)[metric]
        printed = findings.study.printed.get((dataset, label), {}).get(metric)
        rows.append(Bar(label, spread["mean"], spread["std"], printed))
    return figures.bars(rows, f"{findings.study.title}, {dataset}: {_short(metric)}")


def _lines(findings: Findings) -> Markup:
    study, metric = findings.study, _main_metric(findings)
    places = {variant.label: variant.x or 0.0 for variant in study.variants}
    series: dict[str, list[tuple[float, float]]] = {}
    for dataset in findings.datasets:
        for label in findings.labels(dataset):
            series.setdefault(dataset, []).append((places[label], findings.mean(dataset, label, metric)))
            printed = study.printed.get((dataset, label), {})
            if metric in printed:
                series.setdefault(f"{dataset} (paper)", []).append((places[label], printed[metric]))
    return figures.lines(series, study.title, study.axis, _short(metric))


def _angles(findings: Findings) -> list[str]:
    return [name for name, value in findings.records[0]["probe"].items() if isinstance(value, dict)]


def _histogram(findings: Findings, dataset: str, angle: str) -> tuple[str, Markup]:
    series = {}
    for label in findings.labels(dataset):
        histogram = findings.runs(dataset, label)[0]["probe"][angle]
        series[label] = (histogram["edges"], histogram["counts"])
    name = f"{findings.study.name}-{dataset}-{angle}".replace(" ", "-")
    return name, figures.histogram(series, f"{dataset}: {angle}", f"{angle}, radians")


def study_markdown(findings: Findings, verdict: str, made: Mapping[str, Any]) -> str:
    """The study as Markdown: verdict, tables, links to its figures, how it was made."""
    drawn = markdown(study_tables(findings))
    links = "".join(f"![{name}]({name}.svg)\n" for name, _ in study_figures(findings))
    return f"# {findings.study.title}\n\n{verdict}\n\n{drawn}\n{links}\n{_made(made)}"


def _made(made: Mapping[str, Any]) -> str:
    commands = "".join(f"{command}\n" for command in made["commands"])
    facts = "; ".join(f"{name} {made[name]}" for name in FACTS)
    return f"Measured with\n\n```\n{commands}```\n\n{facts}.\n"


def index(folder: Path) -> str:
    """Markdown list of all studies in a folder with their verdicts; those that were not run are named."""
    rows, missing = [], []
    for name in studies.MODULES:
        study = studies.get(name)
        findings = Findings(study, records.read(folder / name / RUNS))
        if not findings.records:
            missing.append(name)
            continue
        runs = ", ".join(f"{data} × {_repeats(findings, data)}" for data in findings.datasets)
        rows.append(f"| [{name}]({name}/study.md) | {study.title} | {runs} | {study.verdict(findings)} |")
    table = "\n".join(["| study | what it varies | data × runs | verdict |", "|---|---|---|---|", *rows])
    rest = f"\nNot measured yet: {', '.join(missing)}.\n" if missing else ""
    return f"{INTRODUCTION}\n{table}\n{rest}"


def _repeats(findings: Findings, dataset: str) -> str:
    counts = {len(findings.runs(dataset, label)) for label in findings.labels(dataset)}
    return "–".join(map(str, sorted({min(counts), max(counts)})))


def study_page(findings: Findings, verdict: str, made: Mapping[str, Any]) -> str:
    """The study as an HTML page: verdict, tables, figures, how it was made."""
    body: list[object] = [tag("h1", findings.study.title), tag("p", verdict)]
    body += [bench_page.table(table) for table in study_tables(findings)]
    body += [html.figure(svg, name) for name, svg in study_figures(findings)]
    body.append(html.provenance(made))
    return html.page(findings.study.title, *body)


def write(folder: Path, findings: Findings, verdict: str, made: Mapping[str, Any]) -> None:
    """Write ``study.md``, ``study.html``, ``about.json`` and the figures of a study into its folder."""
    files = {
        "about.json": json.dumps(made, ensure_ascii=False, indent=1) + "\n",
        "study.md": study_markdown(findings, verdict, made),
        "study.html": study_page(findings, verdict, made),
    }
    files |= {f"{name}.svg": figures.standalone(svg) for name, svg in study_figures(findings)}
    for name, text in files.items():
        atomic.write_text(folder / name, text)
