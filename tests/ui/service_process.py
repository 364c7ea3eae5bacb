"""The real service in a process of its own, which a test may kill: ``python service_process.py SETTINGS.json``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

WORDS = ("alignment", "protein", "structure", "sequence", "format", "report", "analysis", "gene", "motif", "signal")
PER_PARENT = 12


def main(settings: dict[str, Any]) -> None:
    """Serve a workbench; with ``concepts`` its taxonomy and queue are made up, as large as a test wants them."""
    from taxosphere.service.server import Listening, prepare
    from taxosphere.service.workbench import Setup

    setup = Setup.beside(Path(settings["model"]), title=settings.get("title", ""))
    if settings.get("concepts") and not setup.folder.exists():
        fill(setup, settings["concepts"], settings["rows"])
    service = prepare(setup, Listening("127.0.0.1", settings["port"], Path(settings["tokens"])))
    service.run()


def fill(setup: Any, concepts: int, items: int) -> None:
    """Put a large taxonomy and a long queue into an empty store, without asking a model."""
    from taxosphere import Concept, Taxonomy
    from taxosphere.service import store_bases, store_items
    from taxosphere.service.store import Store

    setup.prepare()
    names = [f"{WORDS[n % 10]} {WORDS[n // 10 % 10]} {n}" for n in range(concepts)]
    pairs = [(names[(n - 8) // PER_PARENT], names[n]) for n in range(8, concepts)]
    taxonomy = Taxonomy.from_edges(pairs, descriptions={name: f"Made up: {name}." for name in names})
    ids = dict(zip(taxonomy.names, taxonomy.ids, strict=True))
    store = Store(setup.url)
    try:
        store_bases.put(store, taxonomy)
        queue = []
        for n in range(items):
            record = suggestions(n, names, ids)
            concept = Concept(f"new{n}", f"new {WORDS[n % 10]} {n}", f"A new {WORDS[n % 10]}.")
            probability = record["suggestions"][0]["probability"]
            queue.append(store_items.QueueItem(concept=concept, suggestions=record, probability=probability))
        with store.writing() as connection:
            store_items.add(connection, queue)
    finally:
        store.close()


def suggestions(number: int, names: list[str], ids: dict[str, str]) -> dict[str, Any]:
    """Five made-up candidates in the form that the store keeps."""
    first = (number * 37 % 100) / 100
    ranked = []
    for rank in range(5):
        name = names[(number * 131 + rank * 977) % (len(names) // PER_PARENT)]
        ranked.append(
            {
                "id": ids[name],
                "name": name,
                "path": [name],
                "probability": first if rank == 0 else (1 - first) / (rank + 5),
                "score": 1.0 - rank,
                "cosine": 0.9 - rank / 10,
                "gate": True,
                "siblings": [],
                "reasons": {},
                "definition": f"Made up: {name}.",
                "sentences": [{"text": f"{rank + 3} of its 10 nearest concepts are below {name}", "for": rank < 3}],
            }
        )
    return {
        "none_probability": (1 - first) / 5,
        "parents": [ranked[0]["id"]],
        "already": [],
        "suggestions": ranked,
        "insertions": [],
    }


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
