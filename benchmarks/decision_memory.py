"""How much memory a workbench keeps for each decision.

    python benchmarks/decision_memory.py [--decisions 10000] [--items 1000] [--out FILE]

Decisions about a queue of made-up concepts are recorded in a new SQLite store, each concept accepted, rejected, put off
and accepted again in turn, twenty decisions in a transaction, and the history reads them as it does for live events.
Printed are the bytes that Python objects hold for each decision, from the second round of the queue on, and the lines
that asked for them.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import tempfile
import tracemalloc
from pathlib import Path
from uuid import uuid4

from taxosphere import Concept, Taxonomy, atomic
from taxosphere.decisions.events import Event, now
from taxosphere.service import store_bases
from taxosphere.service.history import History
from taxosphere.service.store import Store
from taxosphere.service.store_ledger import Ledger
from taxosphere.service.taxonomy_view import TaxonomyView

CONCEPTS, SUGGESTED, TOGETHER = 2000, 10, 20
KINDS = ("accept", "reject", "later")


def made_up_taxonomy(chance: random.Random) -> Taxonomy:
    """Concepts below random earlier ones."""
    ids = [f"EX_{number:04}" for number in range(CONCEPTS)]
    edges = [(ids[chance.randrange(number)], ids[number]) for number in range(1, CONCEPTS)]
    return Taxonomy.from_edges(edges, names={id: f"concept {id}" for id in ids})


def made_up_event(ledger: Ledger, number: int, items: int, chance: random.Random) -> Event:
    """The next decision, as `taxosphere.service.deciding` makes it: nothing is shared with the ones before."""
    round, item = divmod(number, items)
    kind, base = KINDS[round % len(KINDS)], ledger.latest.base
    suggested = ["".join(base.ids[chance.randrange(CONCEPTS)]) for _ in range(SUGGESTED)]
    parents = suggested[:1] if kind == "accept" else []
    text = " ".join(("new", "concept", "number", str(item)))
    return Event(
        id=uuid4().hex,
        kind=kind,
        item="".join(("new", str(item))),
        by="".join(("person ", str(number % 50))),
        at=now(),
        base=ledger.latest.base_digest,
        concept=Concept(f"new{item}", text, f"{text}, of which a sentence says what it is and what it is not."),
        parents=tuple(parents),
        names=tuple((id, ledger.latest.name(id)) for id in parents),
        probability=chance.random() if parents else None,
        model="0123456789ab",
        suggested=tuple(dict.fromkeys(suggested)),
    )


def decide(ledger: Ledger, history: History, first: int, count: int, items: int, chance: random.Random) -> None:
    """Record so many decisions."""
    for start in range(first, first + count, TOGETHER):
        ledger.decide_all([made_up_event(ledger, start + n, items, chance) for n in range(TOGETHER)])
        with ledger.store.reading() as connection:
            history.catch_up(connection)
    gc.collect()


def traced(before: tracemalloc.Snapshot, after: tracemalloc.Snapshot, count: int) -> dict[str, int]:
    """Bytes a decision by the file and line that asked for them, those that matter."""
    grown = after.compare_to(before, "lineno")
    lines = {f"{Path(one.traceback[0].filename).name}:{one.traceback[0].lineno}": one.size_diff for one in grown}
    return {line: round(size / count) for line, size in lines.items() if size > 8 * count}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--decisions", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    stated = parser.parse_args()
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder, Store(f"sqlite:///{folder}/decisions.db") as store:
        store_bases.put(store, made_up_taxonomy(chance))
        ledger = Ledger(store)
        history = History(TaxonomyView(lambda: ledger.latest))
        decide(ledger, history, 0, stated.items, stated.items, chance)
        tracemalloc.start()
        before = tracemalloc.take_snapshot()
        count = stated.decisions - stated.items
        decide(ledger, history, stated.items, count, stated.items, chance)
        after = tracemalloc.take_snapshot()
    size = sum(one.size_diff for one in after.compare_to(before, "filename"))
    document = {"decisions": count, "items": stated.items, "bytes_a_decision": round(size / count)}
    document["lines"] = traced(before, after, count)
    text = json.dumps(document, indent=1)
    sys.stdout.write(text + "\n")
    if stated.out:
        atomic.write_text(stated.out, text + "\n")


if __name__ == "__main__":
    main()
