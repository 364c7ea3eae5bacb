"""Feed fuzzed decision tables to `apply`: each ends in a grown taxonomy or in one line, never in a traceback.

Tables are made from good ones by cutting, doubling, swapping and replacing cells, titles, bytes and separators, as CSV,
TSV, XLSX and JSON lines.

    python benchmarks/faults/fuzz_tables.py --tables 10000 --out docs/results/faults/fuzz.json
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from taxosphere import Taxonomy
from taxosphere.decisions import exchange, spreadsheets
from taxosphere.decisions.applying import carry_out, read_decisions
from taxosphere.decisions.events import digest
from taxosphere.decisions.fold import Fold
from taxosphere.decisions.review import COLUMNS, WORDS
from taxosphere.decisions.review_reader import Origin
from taxosphere.errors import TaxosphereError
from taxosphere.taxonomy import Concept

CELLS = (
    *WORDS,
    "",
    "P-1",
    "P-2|P-3",
    "other",
    "P-200",
    "new 3",
    "=1+1",
    "'-x",
    "|",
    "0,5",
    "\t",
    "\n",
    '"',
    "ü",
    "x" * 500,
)
TITLES = (*COLUMNS, "event", "record", "kind", "SKU", "", "NAME", "extra:id")
SUFFIXES = (".csv", ".csv", ".tsv", ".xlsx", ".jsonl")


def catalogue() -> Taxonomy:
    """Forty products, two of them of one name."""
    concepts = [Concept(f"P-{i}", "other" if i in (20, 30) else f"product {i}") for i in range(40)]
    return Taxonomy.from_concepts(concepts, [(f"P-{(i - 1) // 3}", f"P-{i}") for i in range(1, 40)])


def good_rows(source: random.Random, count: int) -> list[dict[str, str]]:
    """Rows as a careful person writes them."""
    rows = []
    for number in range(count):
        row = dict.fromkeys((*COLUMNS, "SKU"), "")
        row |= {
            "decision": source.choice(WORDS),
            "name": f"new {number}",
            "id": f"P-{200 + number}",
            "SKU": str(number),
        }
        row |= {"parent": f"P-{source.randrange(40)}", "parent_1": "product 7", "parent_1_probability": "0.7"}
        rows.append(row)
    return rows


def damage(source: random.Random, table: list[list[str]]) -> None:
    """A few faults of any kind in the cells of a table."""
    for _ in range(source.choice((0, 1, 1, 2, 5))):
        row = source.randrange(len(table))
        kind = source.randrange(6)
        if kind == 0 and table[row]:
            table[row][source.randrange(len(table[row]))] = source.choice(CELLS if row else TITLES)
        elif kind == 1 and table[row]:
            del table[row][source.randrange(len(table[row]))]
        elif kind == 2:
            table[row].insert(source.randint(0, len(table[row])), source.choice(CELLS))
        elif kind == 3:
            table.insert(source.randint(0, len(table)), list(source.choice(table)))
        elif kind == 4 and len(table) > 1:
            del table[row]
        else:
            table[row] = [chr(source.randrange(1, 0x2FFF)) for _ in table[row]]


def write(source: random.Random, path: Path, base: Taxonomy) -> None:
    """One fuzzed table."""
    rows = good_rows(source, source.randrange(1, 8))
    table = [list(rows[0]), *(list(row.values()) for row in rows)]
    damage(source, table)
    if path.suffix == ".jsonl":
        whole = path.with_suffix(".csv")
        good = [list(rows[0]), *(list(row.values()) for row in rows)]
        spreadsheets.write(whole, good[0], good[1:])
        try:
            events = [event for _, event in read_decisions(whole, base, Origin(base=digest(base)))]
        except TaxosphereError:
            events = []
        exchange.write(path, events)
    else:
        spreadsheets.write(path, table[0], table[1:], between=source.choice(",;\t|"))
    data = bytearray(path.read_bytes())
    for _ in range(source.choice((0, 0, 0, 1, 3))):
        if data:
            at = source.randrange(len(data))
            data[at : at + source.choice((0, 1, 1, 40))] = bytes(
                source.randrange(256) for _ in range(source.choice((0, 1, 3)))
            )
    path.write_bytes(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--random-state", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    base, outcomes, source = catalogue(), Counter[str](), random.Random(options.random_state)
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.tables):
            path = Path(folder) / f"table{source.choice(SUFFIXES)}"
            write(source, path, base)
            try:
                folding = Fold(base)
                carry_out(folding, read_decisions(path, base, Origin(base=digest(base))), path)
                grown = folding.taxonomy()
                grown.refuse_cycles()
                assert set(base.ids) <= set(grown.ids)
                outcomes["applied"] += 1
            except TaxosphereError as error:
                named = str(error).startswith(f"{path}:") and "\n" not in str(error)
                outcomes["refused in one line" if named else "refused without naming the file"] += 1
            except Exception as error:
                kept = Path(tempfile.gettempdir()) / f"fuzz-{number}{path.suffix}"
                kept.write_bytes(path.read_bytes())
                outcomes[f"traceback: {type(error).__name__}"] += 1
                print(kept, repr(error)[:200])
    result = {"tables": options.tables, **outcomes, "seconds": round(time.process_time() - begun, 1)}
    print(json.dumps(result, indent=2))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
