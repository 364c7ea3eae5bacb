"""Which text encoder to take: accuracy on hidden leaves of the seeds, time, and size.

    python benchmarks/bench_encoders.py results.jsonl [--sets semeval_env semeval_sci semeval_food_temp] [--runs 2]
        [--encoders minilm mpnet minilm+mpnet] [--set training.fine_tune=true …] [--prior FILE]

The test queries of the published splits are removed first and never asked; of what remains, a fifth of the leaves is
hidden and asked (validation). Vectors of the taxonomy are in the cache, so the fit is that of known vectors. Encoding
speed is measured on made-up texts of eleven words, one thread, without a cache. A line for each fit is appended to the
file of results, with the rank of every query so that fits can be compared in pairs; fits that stand there are not
repeated, and the table is printed at the end. With ``--prior`` the
ranker starts from the prior in that file (`scripts/make_prior.py --out`), not from the one of the package. With
``--against ENCODER [CHANGE …]`` the mean difference of 100 / rank to those fits follows, over the same queries.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from taxosphere.encoders.text.registry import load
from taxosphere.evaluation import datasets, protocol
from taxosphere.evaluation.significance import compare
from taxosphere.methods import registry as methods
from taxosphere.ranking import prior
from taxosphere.taxonomy import split

ENCODERS = ("minilm", "mpnet", "fast", "minilm+mpnet")
WORDS = "acute chronic renal viral cell protein surgical nursing digital rural winter royal common small".split()


def speed(name: str, count: int) -> dict[str, float]:
    """Texts a processor second in bulk, and milliseconds for one; dimensions and megabytes of the weights."""
    chance = np.random.default_rng(0)
    texts = [f"{number} " + " ".join(chance.choice(WORDS, 10)) for number in range(count + 20)]
    encoder = load(name, cache=None)
    encoder.encode(texts[:4])
    began = time.process_time()
    encoder.encode(texts[20:])
    bulk = time.process_time() - began
    singles = []
    for text in texts[:20]:
        began = time.process_time()
        encoder.encode([text])
        singles.append(time.process_time() - began)
    parts = getattr(encoder, "parts", (encoder,))
    sizes = [(getattr(part, "weights", None) or part.inner.weights).folder / "model.safetensors" for part in parts]
    return {
        "texts_per_second": count / bulk,
        "ms_one": 1e3 * float(np.median(singles)),
        "dim": encoder.dim,
        "mb": sum(path.stat().st_size for path in sizes) / 1e6,
    }


def accuracy(name: str, dataset: str, random_state: int, changes: list[str]) -> dict[str, object]:
    """Percentages on hidden leaves of the published seed with the ranks they come from, and processor seconds."""
    taxonomy, parts = datasets.find(dataset).read()
    taxonomy, _ = protocol.prepare(taxonomy, repair=True)
    seed = taxonomy if parts is None else split.published(taxonomy, parts, "leaves").seed
    part = split.leaves(seed, seed=random_state)
    encoder = load(name)
    encoder.encode([text for concept in seed.concepts() for text in (concept.text, concept.name)])
    method = methods.create("polaris", dict(change.split("=", 1) for change in changes))
    began = time.process_time()
    run = protocol.run(method, part, encoder, random_state)
    spent = time.process_time() - began
    ranks = np.asarray(run.outcome.best, float)
    per_query = run.query_seconds * 1e3
    return {
        "queries": len(ranks),
        "hit@1": 100 * float((ranks <= 1).mean()),
        "hit@5": 100 * float((ranks <= 5).mean()),
        "mr": float(ranks.mean()),
        "mrr": 100 * float((1 / ranks).mean()),
        "cpu_seconds": spent,
        "ms_query": per_query,
        "ranks": ranks.tolist(),
    }


def table(lines: list[dict[str, object]], sets: list[str], encoders: list[str]) -> None:
    print(f"| encoder | dimensions | MB | texts/s | one text, ms | {' | '.join(sets)} | fit, CPU s |")
    print(f"|---|---|---|---|---|{'---|' * len(sets)}---|")
    for name in encoders:
        made = [line for line in lines if line["encoder"] == name]
        pace = next((line for line in made if "dim" in line), None)
        fits = [[line for line in made if line.get("set") == one] for one in sets]
        if pace is None or not all(fits):
            continue
        cells = [
            " / ".join(f"{np.mean([line[key] for line in runs]):.1f}" for key in ("hit@1", "hit@5", "mr", "mrr"))
            for runs in fits
        ]
        seconds = " / ".join(f"{np.mean([line['cpu_seconds'] for line in runs]):.0f}" for runs in fits)
        first = (
            f"| {name} | {pace['dim']} | {pace['mb']:.0f} | {pace['texts_per_second']:,.0f} | {pace['ms_one']:.1f} |"
        )
        print(first, " | ".join(cells), "|", seconds, "|")


def differences(lines: list[dict[str, object]], stated: argparse.Namespace, changes: list[str]) -> None:
    """Print what each encoder gains over the fits that ``--against`` names, with 95 % intervals of single queries."""

    def reciprocal(name: str, how: list[str]) -> list[float]:
        keys = [
            {"encoder": name, "set": one, "random_state": state, "changes": how}
            for state in range(stated.runs)
            for one in stated.sets
        ]
        fits = [next(line for line in lines if key.items() <= line.items() and "ranks" in line) for key in keys]
        return [100 / rank for fit in fits for rank in fit["ranks"]]  # type: ignore[attr-defined]

    other, *how = stated.against
    for name in stated.encoders:
        found = compare(reciprocal(name, changes), reciprocal(other, how))
        gain = f"{found.difference:+.1f} [{found.low:+.1f}, {found.high:+.1f}] of {found.queries:,} queries"
        print(f"{name} against {' '.join(stated.against)}: {gain}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--sets", nargs="+", default=["semeval_env", "semeval_sci", "semeval_food_temp"])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--encoders", nargs="+", default=list(ENCODERS))
    parser.add_argument("--set", nargs="*", default=[], dest="changes", metavar="KEY=VALUE")
    parser.add_argument("--prior", type=Path, default=prior.FILE)
    parser.add_argument("--against", nargs="+", metavar=("ENCODER", "CHANGE"))
    stated = parser.parse_args()
    changes = stated.changes + ([] if stated.prior == prior.FILE else [f"prior {stated.prior.name}"])
    prior.FILE = stated.prior
    text = stated.results.read_text() if stated.results.exists() else ""
    lines = [{"changes": []} | json.loads(line) for line in text.splitlines()]

    def keep(line: dict[str, object]) -> None:
        lines.append(line)
        with stated.results.open("a") as file:
            file.write(json.dumps(line) + "\n")

    for name in stated.encoders:
        if not any(line["encoder"] == name and "dim" in line for line in lines):
            keep({"encoder": name, **speed(name, 20_000 if name == "fast" else 400 if name == "minilm" else 100)})
    for random_state in range(stated.runs):
        for one in stated.sets:
            for name in stated.encoders:
                key = {"encoder": name, "set": one, "random_state": random_state, "changes": changes}
                if not any(key.items() <= line.items() for line in lines):
                    keep(key | accuracy(name, one, random_state, stated.changes))
    table([line for line in lines if "dim" in line or line["changes"] == changes], stated.sets, stated.encoders)
    if stated.against:
        differences(lines, stated, changes)


if __name__ == "__main__":
    main()
