"""A study as tables, a figure and one page."""

from __future__ import annotations

from taxosphere.evaluation.studies.frame import Findings
from taxosphere.report import figures, html, page
from taxosphere.report.figures import Bar
from taxosphere.report.page import Markup, tag
from taxosphere.report.tables import SHORT, Cell, Table, amount, markdown


def study_tables(findings: Findings) -> list[Table]:
    """One table per data set: ours, then the paper's columns where it prints any."""
    study = findings.study
    tables = []
    for dataset in findings.datasets:
        compared = [m for m in study.metrics if any(m in row for (d, _), row in study.printed.items() if d == dataset)]
        rows = []
        for label in findings.labels(dataset):
            spread = findings.spread(dataset, label)
            printed = study.printed.get((dataset, label), {})
            ours = (Cell(amount(metric, **spread[metric])) for metric in study.metrics)
            theirs = (Cell(amount(metric, printed[metric]) if metric in printed else "") for metric in compared)
            rows.append((Cell(label), *ours, *theirs, Cell(str(len(findings.runs(dataset, label))))))
        header = ("variant", *map(_short, study.metrics), *(f"{_short(m)} (paper)" for m in compared), "runs")
        tables.append(Table(study.title, dataset, header, tuple(rows)))
    return tables


def _short(metric: str) -> str:
    return SHORT.get(metric, metric)


def study_figures(findings: Findings) -> list[tuple[str, Markup]]:
    """(name, picture) of every figure."""
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
        spread = findings.spread(dataset, label)[metric]
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
        found = findings.runs(dataset, label)[0]["probe"][angle]
        series[label] = (found["edges"], found["counts"])
    name = f"{findings.study.name}-{dataset}-{angle}".replace(" ", "-")
    return name, figures.histogram(series, f"{dataset}: {angle}", f"{angle}, radians")


def study_markdown(findings: Findings, verdict: str) -> str:
    return f"# {findings.study.title}\n\n{verdict}\n\n{markdown(study_tables(findings))}"


def study_page(findings: Findings, verdict: str) -> str:
    body: list[object] = [tag("h1", findings.study.title), tag("p", verdict)]
    body += [html.table(table) for table in study_tables(findings)]
    body += [page.figure(picture, name) for name, picture in study_figures(findings)]
    return page.page(findings.study.title, *body)
