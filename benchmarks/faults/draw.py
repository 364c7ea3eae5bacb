"""Draw docs/results/faults.md from the records in docs/results/faults.

python benchmarks/faults/draw.py [docs/results]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
COMMANDS = ("fit", "suggest", "expand", "apply", "bench", "serve")
ENDS = ("same result", "one line", "answered 503", "killed by us", "ended by a library", "otherwise")


_TEXT = """# Faults and damaged inputs

Drawn by `benchmarks/faults/draw.py` from the records beside this page. What is promised, and what was mended on the
way, stands in [reliability](../reliability.md).

## Faults

`benchmarks/faults/faults.py`: {faults} faults; {bad} ended otherwise than with the result of an undisturbed run or with
one line. Each was followed by an undisturbed run. {cold} hit a new interpreter, the others a fork of a process that had
imported the package. {minutes} minutes of processor time, without that of worker processes.

{fault_tables}
*Same result*: the bytes of an undisturbed run; for `serve`, every decision acknowledged. *One line*: exit code 1 or 2
and one line that begins with `error:`. *Answered 503*: `serve` refused requests while the fault lasted. *Ended by a
library*: where memory ends, libraries in Rust and C++ abort the process with a line of their own. After each of these,
outputs were the old ones or the new ones, whole, and every acknowledged decision was there, once.

## Damaged and made-up inputs

`benchmarks/faults/fuzz.py`; taxonomy files by `benchmarks/fuzz_formats.py` ([damaged files](fuzz.md)), review tables by
`benchmarks/faults/fuzz_tables.py`.

{fuzz_table}"""


def how_it_ended(record: dict[str, Any]) -> str:
    """One of `ENDS`."""
    if record["problems"]:
        return "otherwise"
    if record["code"] == -9:
        return "killed by us"
    if record["code"] == -6:
        return "ended by a library"
    if "; refused: " in record["what"]:
        return "answered 503"
    return "one line" if record["code"] in (1, 2) else "same result"


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def fault_tables(records: list[dict[str, Any]]) -> str:
    """How many faults of each kind hit each command, and how these ended."""
    kinds = list(dict.fromkeys(record["fault"] for record in records))
    hit = Counter((record["fault"], record["command"]) for record in records)
    rows = [
        [kind, *(hit[kind, name] or "–" for name in COMMANDS), sum(hit[kind, name] for name in COMMANDS)]
        for kind in kinds
    ]
    rows.append(["all", *(sum(hit[kind, name] for kind in kinds) for name in COMMANDS), len(records)])
    ended = Counter((record["fault"], how_it_ended(record)) for record in records)
    ends = [[kind, *(ended[kind, end] for end in ENDS)] for kind in kinds]
    ends.append(["all", *(sum(ended[kind, end] for kind in kinds) for end in ENDS)])
    return table(("faults", *COMMANDS, "all"), rows) + "\n" + table(("faults", *ENDS), ends)


def fuzz_table(targets: dict[str, dict[str, Any]]) -> str:
    """Inputs and answers of each target."""
    rows = []
    for name, counts in targets.items():
        otherwise = counts["inputs"] - counts.get("accepted", 0) - counts.get("refused", 0)
        slowest = f"{counts['slowest']:.2f}" if "slowest" in counts else "–"
        accepted, refused = counts.get("accepted", 0), counts.get("refused", 0)
        rows.append([name, *(f"{n:,}" for n in (counts["inputs"], accepted, refused, otherwise)), slowest])
    total = sum(counts["inputs"] for counts in targets.values())
    rows.append(["all", f"{total:,}", "", "", "", ""])
    return table(("inputs for", "offered", "accepted", "refused", "otherwise", "slowest, CPU s"), rows)


def page(results: Path) -> str:
    """The whole page."""
    folder = results / "faults"
    records = [json.loads(line) for line in (folder / "faults.jsonl").read_text("utf-8").splitlines()]
    targets = json.loads((folder / "fuzzing.json").read_text("utf-8"))
    tables = json.loads((folder / "fuzz.json").read_text("utf-8"))
    offered = {"inputs": tables["tables"], "accepted": tables["applied"], "refused": tables["refused in one line"]}
    targets["review tables"] = offered
    bad = sum(bool(record["problems"]) for record in records)
    cold, cpu = sum(record.get("cold", False) for record in records), sum(record["cpu"] for record in records)
    numbers = {"faults": f"{len(records):,}", "bad": bad, "cold": cold, "minutes": f"{cpu / 60:.0f}"}
    return _TEXT.format(**numbers, fault_tables=fault_tables(records), fuzz_table=fuzz_table(targets))


def main() -> None:
    results = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    (results / "faults.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
