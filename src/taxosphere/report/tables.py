"""Tables in the paper's layout, from the records of a bench: measured beside printed numbers, the best three marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taxosphere.evaluation import paper_numbers, protocol, significance
from taxosphere.evaluation import records as evaluation_records
from taxosphere.methods import registry as methods

Record = Mapping[str, Any]
Layout = tuple[str, tuple[str, ...]]

LAYOUTS: dict[str, Layout] = {
    "single": ("Single-parent taxonomies", ("recall@1", "recall@5", "wup", "mr", "mrr")),
    "multi": ("Multi-parent taxonomies", ("hit@1", "hit@5", "recall@1", "recall@5", "mr", "mrr")),
    "images": ("Images", ("precision@1", "mr", "mrr")),
    "unseen": ("Unseen concepts by their images", ("hit@1", "hit@5", "wup", "wup_mistakes", "mr", "mrr")),
}
SHORT = (
    {"wup": "Wu&P", "wup_mistakes": "Wu&P of mistakes", "mr": "MR ↓", "mrr": "MRR"}
    | {
        "precision@1": "P@1",
        "retention": "kept %",
        "lost": "Δ ↓",
    }
    | {f"{long}@{k}": f"{short}@{k}" for long, short in (("recall", "R"), ("hit", "H")) for k in (1, 5, 10)}
)
INTERVAL = "H@1 [95 %]"
MARKS = ("", " ①", " ②", " ③")


@dataclass(frozen=True)
class Cell:
    """The text of a cell and its place among the values of its column."""

    text: str
    place: int = 0  # 1, 2, 3 for the best three of a column

    def __str__(self) -> str:
        return self.text + MARKS[self.place]


@dataclass(frozen=True)
class Table:
    """A table with its section, title and note."""

    section: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def bench_tables(records: Sequence[Record]) -> list[Table]:
    """One table per data set, grouped as the paper groups them."""
    by_dataset: dict[str, list[Record]] = {}
    for record in records:
        by_dataset.setdefault(record["dataset"], []).append(record)
    tables = [_dataset_table(dataset, lines) for dataset, lines in by_dataset.items()]
    sections = [section for section, _ in LAYOUTS.values()]
    return sorted(tables, key=lambda table: (sections.index(table.section), table.title))


def layout(dataset: str, records: Sequence[Record]) -> Layout:
    """Section and metrics of a data set's table: the paper's, else by whether queries have several parents."""
    columns = paper_numbers.metrics(dataset)
    if "wup_mistakes" in records[0]["metrics"]:
        return LAYOUTS["unseen"]
    if records[0]["split"] == evaluation_records.IMAGES:
        return LAYOUTS["images"]
    for candidate in LAYOUTS.values():
        if candidate[1] == columns:
            return candidate
    return LAYOUTS["multi" if any(record["several_parents"] for record in records) else "single"]


def by_method(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Runs of each method, methods in the order of the registry."""
    order = methods.names()
    names = sorted({r["method"] for r in records}, key=lambda n: (order.index(n) if n in order else len(order), n))
    return {name: sorted((r for r in records if r["method"] == name), key=lambda r: r["seed"]) for name in names}


def _dataset_table(dataset: str, records: Sequence[Record]) -> Table:
    section, columns = layout(dataset, records)
    runs = by_method(records)
    spreads = {name: protocol.mean_std([run["metrics"] for run in lines]) for name, lines in runs.items()}
    honest = {name: spread for name, spread in spreads.items() if runs[name][0].get("protocol", "honest") == "honest"}
    places = {column: _places({name: s[column]["mean"] for name, s in honest.items()}, column) for column in columns}
    compared = columns if paper_numbers.metrics(dataset) else ()
    rows = []
    for name, spread in spreads.items():
        ours = (Cell(amount(column, **spread[column]), places[column].get(name, 0)) for column in columns)
        printed = paper_numbers.printed(dataset, name)
        theirs = (Cell(amount(c, *printed[c]) if c in printed else "") for c in compared)
        rows.append((Cell(name), *ours, Cell(interval(runs[name])), *theirs, Cell(str(len(runs[name])))))
    header = ("method", *(SHORT[c] for c in columns), INTERVAL, *(f"{SHORT[c]} (paper)" for c in compared), "runs")
    return Table(section, dataset, header, tuple(rows), _note(records))


def interval(records: Sequence[Record]) -> str:
    """Hit@1 of a method's runs with its 95 % Wilson interval: "61.2 [47.6, 73.2]"."""
    ranks = [record["ranks"] for record in records]
    share, low, high = significance.hit_interval(ranks, same_queries=records[0]["split"] == "published")
    return f"{100 * share:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def amount(metric: str, mean: float, std: float = 0.0) -> str:
    """ "61.5 ± 2.3", with as many decimals as the metric needs; without the deviation where it is 0."""
    digits = (0 if metric == "mr" and mean >= 100 else 1) if metric in SHORT else _decimals(mean)
    return f"{mean:.{digits}f} ± {std:.{digits}f}" if std else f"{mean:.{digits}f}"


def _decimals(value: float) -> int:
    """Decimals that show three digits of a value, as seconds and shares need."""
    return int(np.clip(2 - math.floor(math.log10(abs(value))), 0, 6)) if value else 1


def _places(values: Mapping[str, float], metric: str) -> dict[str, int]:
    """1, 2, 3 for the best three values; equal values share a place."""
    ordered = sorted(set(values.values()), reverse=metric != "mr")
    return {name: place if (place := ordered.index(value) + 1) <= 3 else 0 for name, value in values.items()}


def _note(records: Sequence[Record]) -> str:
    first = records[0]
    facts = f"{first['split']} split, {first['queries']:,} queries, {first['candidates']:,} candidates"
    repairs = dict.fromkeys(line for record in records for line in record["repairs"])
    peeked = any(record.get("protocol") == "paper" for record in records)
    collapsed = sum(bool(record.get("collapsed")) for record in records)
    return "; ".join(
        [
            facts,
            *([f"cycles repaired: {'; '.join(repairs)}"] if repairs else []),
            *([f"rows marked {evaluation_records.NOT_HONEST_MARK} are {protocol.NOT_HONEST}"] if peeked else []),
            *([f"records of trainings that collapsed: {collapsed}"] if collapsed else []),
        ]
    )


def significance_tables(records: Sequence[Record], first: str = "polaris") -> list[Table]:
    """`first` against every other method, query by query, with the paper's own test and what it printed."""
    tables = []
    for dataset in sorted({record["dataset"] for record in records}):
        runs = by_method([record for record in records if record["dataset"] == dataset])
        if first not in runs or len(runs) < 2:
            continue
        pairs = {name: significance.paired(runs[first], lines) for name, lines in runs.items() if name != first}
        rows = tuple(_comparison(name, *pair) for name, pair in pairs.items() if pair is not None)
        if not rows:
            continue
        header = ("against", "Δ MRR", "95 % interval", "p", "z", "p of z")
        tables.append(Table("Significance", f"{dataset}: {first} minus the others", header, rows, _printed_z(dataset)))
    return tables


def _comparison(name: str, ours: ArrayLike, theirs: ArrayLike) -> tuple[Cell, ...]:
    test = significance.compare(ours, theirs)
    texts = (
        name,
        f"{100 * test.difference:+.1f}",
        f"{100 * test.low:+.1f} … {100 * test.high:+.1f}",
        f"{test.p:.2g}",
        f"{test.z:.2f}",
        f"{test.z_p:.2g}",
    )
    return tuple(map(Cell, texts))


def _printed_z(dataset: str) -> str:
    if dataset not in paper_numbers.SIGNIFICANCE:
        return ""
    z, p = paper_numbers.SIGNIFICANCE[dataset]
    return f"the paper prints z = {z:g} and p = {p:g}; that z means p = {significance.two_sided(z):.2g}"


def headline(records: Sequence[Record], method: str = "polaris") -> str:
    """Markdown table of one method on every data set beside what the paper prints, for the front page."""
    columns = ("hit@1", "hit@5", "mr", "mrr")
    printed_columns = (f"{SHORT[column]} (paper)" for column in columns)
    header = ("data set", *(SHORT[column] for column in columns), INTERVAL, *printed_columns, "runs")
    lines = [_line(header), _line(["---"] + ["--:"] * (len(header) - 1))]
    mine = [record for record in records if record["method"] == method]
    for dataset in sorted({record["dataset"] for record in mine}):
        runs = [record for record in mine if record["dataset"] == dataset]
        spread = protocol.mean_std([run["metrics"] for run in runs])
        printed = paper_numbers.printed(dataset, method)
        # Where each query has one gold parent, the paper's recall is a hit rate.
        theirs = [printed.get(c) or printed.get(c.replace("hit", "recall")) for c in columns]
        ours = [amount(column, **spread[column]) for column in columns]
        texts = [amount(column, pair[0]) if pair else "" for column, pair in zip(columns, theirs)]
        lines.append(_line((dataset, *ours, interval(runs), *texts, len(runs))))
    return "\n".join(lines) + "\n"


def time_table(records: Sequence[Record]) -> Table:
    """Mean seconds to fit and milliseconds per query; they depend on the machine and what else it did."""
    rows = []
    for dataset in sorted({record["dataset"] for record in records}):
        for name, lines in by_method([r for r in records if r["dataset"] == dataset]).items():
            fit = np.mean([line["seconds"]["fit"] for line in lines])
            query = 1000 * np.mean([line["seconds"]["per_query"] for line in lines])
            rows.append((Cell(dataset), Cell(name), Cell(f"{fit:.1f}"), Cell(f"{query:.2f}")))
    return Table(
        "Time", "seconds to fit, milliseconds per query", ("data set", "method", "fit s", "query ms"), tuple(rows)
    )


def markdown(tables: Sequence[Table]) -> str:
    """All tables as one Markdown text, a heading per section."""
    parts, section = [], None
    for table in tables:
        if table.section != section:
            section = table.section
            parts.append(f"## {section}\n")
        parts.append(f"### {table.title}\n")
        if table.note:
            parts.append(f"{table.note}\n")
        lines = [_line(table.header), _line(["---"] + ["--:"] * (len(table.header) - 1))]
        lines += [_line([_bold(cell) for cell in row]) for row in table.rows]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _bold(cell: Cell) -> str:
    return f"**{cell.text}**{MARKS[1]}" if cell.place == 1 else str(cell)


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
