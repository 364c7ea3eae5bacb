"""The bench as one self-contained page: tables, a chart per data set, what it was run with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from taxosphere import atomic
from taxosphere.evaluation import bench, paper_numbers, protocol
from taxosphere.evaluation import records as evaluation_records
from taxosphere.report import html, scenario_tables, tables
from taxosphere.report.figures import Bar, bars
from taxosphere.report.html import Markup, tag
from taxosphere.report.tables import Cell, Record, Table

_PLACES = ("", "font-weight:700;color:var(--good)", "font-weight:600;color:var(--accent)", "color:var(--warm)")


_INTRODUCTION = """Every number was measured with the honest protocol: structure, negatives, thresholds and stopping see
the seed only, and the hidden concepts are asked once per run. Percentages, except MR. ① ② ③ mark the best three.
Brackets hold Wilson's 95 % interval of the share of queries whose first candidate is right."""
_SCENARIOS = """What a model makes of all that arrives in a real list: leaves, inner concepts, concepts whose parent is
missing, foreign ones, ones that are there already, and whole branches. Everything is trained, calibrated and cut on the
seed; the hidden concepts are asked once per run."""
_EXCEPTION = f"Except rows marked {evaluation_records.NOT_HONEST_MARK}: they are {protocol.NOT_HONEST}."


def table(content: Table) -> Markup:
    """A table with the best three of a column in colours."""
    rows = [[_cell(cell) for cell in row] for row in content.rows]
    numbers = [i for i, heading in enumerate(content.header) if i and heading != "method"]
    caption = f"{content.title} – {content.note}" if content.note else content.title
    return html.table(content.header, rows, numbers=numbers, caption=caption)


def _cell(cell: Cell) -> object:
    return tag("span", str(cell), style=f"white-space:nowrap;{_PLACES[cell.place]}")


def _chart(dataset: str, records: Sequence[Record]) -> Markup:
    rows = []
    for name, lines in tables.by_method(records).items():
        spread = protocol.mean_std([line["metrics"] for line in lines])["mrr"]
        printed = paper_numbers.printed(dataset, name).get("mrr")
        rows.append(Bar(name, spread["mean"], spread["std"], printed[0] if printed else None))
    rows.sort(key=lambda row: -row.value)
    caption = "Mean reciprocal rank, whiskers of one deviation over runs; rings: what the paper prints."
    return html.figure(bars(rows, f"{dataset}: MRR"), caption)


def bench_page(records: Sequence[Record], about: Mapping[str, Any], compare: str = "polaris") -> str:
    """The page as HTML.

    Parameters
    ----------
    records : sequence of Record
    about : mapping
        How the numbers were made: commands, encoder, machine, date.
    compare : str
        The method whose differences to all others are tested.
    """
    if _asks_scenarios(records):
        body: list[object] = [tag("h1", "Scenarios"), tag("p", _SCENARIOS)]
        body += scenario_tables.charts(records)
        body += [table(content) for content in scenario_tables.scenario_tables(records)]
        body += [tag("h2", "How it was run"), html.provenance(about)]
        return html.page("Taxosphere scenarios", *body)
    body = [tag("h1", "Bench"), tag("p", _INTRODUCTION)]
    if any(record.get("protocol") == "paper" for record in records):
        body.append(tag("p", tag("strong", _EXCEPTION)))
    section = ""
    for content in tables.bench_tables(records):
        if content.section != section:
            section = content.section
            body.append(tag("h2", section))
        body.append(table(content))
        body.append(_chart(content.title, [r for r in records if r["dataset"] == content.title]))
    compared = tables.significance_tables(records, compare)
    if compared:
        body.append(tag("h2", "Significance"))
        body.append(
            tag("p", "Paired bootstrap over queries, and the z-test the paper uses with the p that follows from z.")
        )
        body += [table(content) for content in compared]
    body += [tag("h2", "Time"), table(tables.time_table(records))]
    body += [tag("h2", "How it was run"), html.provenance(about)]
    return html.page("Taxosphere bench", *body)


def _asks_scenarios(records: Sequence[Record]) -> bool:
    return any("figures" in record for record in records)


def tables_of(records: Sequence[Record], compare: str = "polaris") -> list[Table]:
    """All tables of a bench; ``compare`` as for `bench_page`."""
    if _asks_scenarios(records):
        return scenario_tables.scenario_tables(records)
    return tables.bench_tables(records) + tables.significance_tables(records, compare)


def write(out: Path, about: Mapping[str, Any], compare: str = "polaris") -> list[evaluation_records.Record]:
    """Write ``tables.md``, ``report.html`` and ``about.json`` of all runs in a bench folder; returns their records."""
    lines = sorted(evaluation_records.read(out / bench.RUNS), key=evaluation_records.key)
    atomic.write_text(out / "about.json", json.dumps(about, ensure_ascii=False, indent=1) + "\n")
    atomic.write_text(out / "tables.md", tables.markdown(tables_of(lines, compare)))
    atomic.write_text(out / "report.html", bench_page(lines, about, compare))
    return lines
