"""The tables of docs/results/workbench.md from the records beside it.

    python benchmarks/draw_workbench.py docs/results/workbench

`load_workbench.py --db both` calls it when its runs are done.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

from taxosphere import atomic

LOADS = ("load-sqlite", "load-postgresql", "load-sqlite-before", "load-postgresql-before")
KINDS = ("read", "decide", "suggest")


def draw(folder: Path) -> None:
    """Put the tables between their marks in the page."""
    page = folder.with_suffix(".md")
    text = page.read_text(encoding="utf-8")
    tables = {"sessions": sessions, "load": loads, "soak": soak, "expand": expand}
    for name, table in ((name, make(folder)) for name, make in tables.items()):
        marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if len(marks.findall(text)) != 1:
            raise SystemExit(f"{page} has no place for the table '{name}'")
        written = "\n".join(table) + "\n"
        text = marks.sub(lambda found, written=written: found[1] + written + found[2], text)
    atomic.write_text(page, text)


def sessions(folder: Path) -> list[str]:
    """One row for each review session by keyboard."""
    record = read(folder / "sessions.json")
    if record is None:
        return []
    rows = [
        "| a curator who | decisions | presses, most for one | seconds | a decision p50 / p95, ms |",
        "|---|---|---|---|---|",
    ]
    for name, figures in record["sessions"].items():
        times = f"{figures['ms']['p50']:.0f} / {figures['ms']['p95']:.0f}"
        presses = f"{figures['presses']}, {figures['most']}"
        rows.append(f"| {name} | {record['decisions']} | {presses} | {figures['seconds']} | {times} |")
    return rows


def loads(folder: Path) -> list[str]:
    """One row for each run under load."""
    rows = [
        "| database | seconds | requests | errors | reads p50 / p95 | decisions p50 / p95 | suggestions p50 / p95 "
        "| CPU ms a request | memory MB, before / most | load average |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in LOADS:
        record = read(folder / f"{name}.json")
        if record is None:
            continue
        before = ", code before" if name.endswith("before") else ""
        times = " | ".join(f"{record[kind]['p50']:.0f} / {record[kind]['p95']:.0f}" for kind in KINDS)
        memory, load = record["memory_mb"], record["load_average"]
        rows.append(
            f"| {record['database']}{before} | {record['seconds']:.0f} | {record['requests']:,} | {record['errors']} "
            f"| {times} | {record['cpu_ms_per_request']} | {memory['before']} / {memory['most']} | {load:.1f} |"
        )
    return rows


def soak(folder: Path) -> list[str]:
    """What came of the hour."""
    record = read(folder / "soak.json")
    if record is None:
        return []
    memory, found = record["memory_mb"], record["decisions"]
    jobs = [f"{job['kind']} {job['state']}" for job in record["jobs"]]
    counted = ", ".join(f"{jobs.count(job)} {job}" for job in sorted(set(jobs)))
    rows = ["| | |", "|---|---|"]
    rows += [
        f"| minutes, curators, requests, errors | {record['seconds'] / 60:.0f}, {record['curators']}, "
        f"{record['requests']:,}, {record['errors']} |",
        f"| jobs | {counted} |",
        f"| decisions that came too late (409) | {record['conflicts']:,} |",
        f"| decisions answered / lost / twice | {found['acknowledged']:,} / {found['lost']} / {found['twice']} |",
        f"| decisions an open page was not told of / told of twice | {found['not_told']} / {found['told_twice']} |",
        *(
            f"| {kind}: p50 / p95 / p99, ms | {record[kind]['p50']:.0f} / {record[kind]['p95']:.0f} / "
            f"{record[kind]['p99']:.0f} |"
            for kind in KINDS
        ),
        memory_row("medians", memory["early"], memory["late"]),
        memory_row("means", *means_of_memory(record["minutes"])),
        f"| cores used, load average at the end | {record['cores']}, {record['load_average']:.1f} |",
    ]
    return rows


def memory_row(name: str, early: float, late: float) -> str:
    """Memory of service and model near the beginning and at the end."""
    return (
        f"| memory, MB, {name}: second tenth of the time / last tenth | {early:.0f} / {late:.0f} "
        f"({100 * (late / early - 1):+.1f} %) |"
    )


def means_of_memory(minutes: list[dict[str, Any]]) -> tuple[float, float]:
    """Mean memory of service and model in the second and in the last tenth of the time."""
    sums = [minute["memory_mb"]["service"] + minute["memory_mb"]["model"] for minute in minutes]
    tenth = max(1, len(sums) // 10)
    return statistics.mean(sums[tenth : 2 * tenth] or sums), statistics.mean(sums[-tenth:])


def expand(folder: Path) -> list[str]:
    """What came of the long job."""
    record = read(folder / "expand.json")
    if record is None:
        return ["Not measured."]
    killed, first, second = record["killed_at"], record["first_start"], record["start_after_kill"]
    meanwhile = record["decisions_meanwhile"]
    return [
        "| | |",
        "|---|---|",
        f"| concepts | {record['items']:,} |",
        f"| start: first answer / model loaded, s | {first['answers']} / {first['ready']} |",
        f"| cancelled at {record['cancelled']['at']['done']:,}: the next job begins after, s "
        f"| {record['cancelled']['next_job_begins_after']} |",
        f"| service killed (SIGKILL) at | {killed['done']:,} of {killed['total']:,}, {killed['what']} |",
        f"| started again: first answer / model loaded, s | {second['answers']} / {second['ready']} |",
        f"| the job then: state, seconds | {record['state']}, {record['seconds_after_restart']} |",
        f"| accepted / left to people | {record['result']['accepted']:,} / {record['result']['review']:,} |",
        f"| most memory of the worker, MB | {record['worker_mb']} |",
        f"| decisions meanwhile: number, p50 / p95, ms | {meanwhile['count']}, {meanwhile['p50']:.0f} / "
        f"{meanwhile['p95']:.0f} |",
        f"| load average | {record['load_average']:.1f} |",
    ]


def read(path: Path) -> dict[str, Any] | None:
    """A record, None where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
