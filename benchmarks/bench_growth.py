"""How fit and suggestions grow with the number of concepts: CPU seconds of every phase, and growth exponents.

    python benchmarks/bench_growth.py 10000 30000 100000 300000 --out OUT [--wordnet data.noun VECTORS fast]

Concepts and vectors are made up (`made_up.py`), so nothing is encoded. Every size is a process of its own whose result
is written to OUT.json when it is done; sizes that are there already are not run again. Times are CPU seconds of one
thread, memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import made_up
import numpy as np
import torch

from taxosphere import Concept, Polaris, Taxonomy, atomic, fitting
from taxosphere.encoders.text import registry
from taxosphere.model import training
from taxosphere.ranking import crossfit
from taxosphere.ranking.lexical.index import LexicalIndex
from taxosphere.ranking.lexical.tokens import ConceptTokens

BATCH = 64


class Phases:
    """CPU seconds by phase; time spent in a phase within another counts for the inner one alone.

    ``peaks`` has the largest memory of the process (GB) at the end of every phase that raised it.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.peaks: dict[str, float] = {}
        self._running: list[str] = []
        self._since = time.process_time()

    def _switch(self) -> None:
        now = time.process_time()
        if self._running:
            phase = self._running[-1]
            self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._since
            if memory() > max(self.peaks.values(), default=0.0):
                self.peaks[phase] = memory()
        self._since = now

    def around(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._switch()
            self._running.append(phase)
            try:
                return function(*args, **kwargs)
            finally:
                self._switch()
                self._running.pop()

        return timed

    def watch(self, owner: Any, name: str, phase: str) -> None:
        setattr(owner, name, self.around(phase, getattr(owner, name)))


def memory() -> float:
    """Peak of this process, GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)


def read(size: int, wordnet: list[str]) -> tuple[Taxonomy, np.ndarray, np.ndarray]:
    """The taxonomy, and vectors of its texts and of its names."""
    if wordnet:
        taxonomy = Taxonomy.read(wordnet[0])
        encode(taxonomy, Path(wordnet[1]), wordnet[2])
        return taxonomy, np.load(Path(wordnet[1]) / "full.npy"), np.load(Path(wordnet[1]) / "name.npy")
    full = made_up.vectors(size)
    name = full + 0.5 * made_up.vectors(size, 1)
    return made_up.taxonomy(size), full, name / np.linalg.norm(name, axis=1, keepdims=True)


def encode(taxonomy: Taxonomy, folder: Path, encoder: str) -> None:
    """Write vectors of texts and of names, filled up with zeros to `made_up.DIM` dimensions, unless they are there."""
    if (folder / "name.npy").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    vectors = registry.encode_text_vectors(registry.load(encoder), list(taxonomy.concepts()))
    for name, rows in (("full", vectors.full), ("name", vectors.name)):
        np.save(folder / f"{name}.npy", np.pad(rows, ((0, 0), (0, made_up.DIM - rows.shape[1]))))


def measure(size: int, wordnet: list[str]) -> dict[str, Any]:
    """All figures of one size."""
    torch.set_num_threads(1)
    taxonomy, full, name = read(size, wordnet)
    encoder = made_up.encoder(list(taxonomy.concepts()), full, name)
    phases = Phases()
    phases.watch(training, "mean_reciprocal_rank", "validation of the head")
    phases.watch(fitting.embedding, "fit", "training the head")
    phases.watch(fitting.gamma, "gamma", "choosing γ")
    phases.watch(ConceptTokens, "parse", "reading words")
    phases.watch(crossfit, "make_shortlist", "shortlists of hidden concepts")
    phases.watch(crossfit, "compute_features", "samples for the first stage")
    phases.watch(fitting, "fit_ranker", "rest of the ranker")
    phases.watch(fitting.embedding, "train_head", "heads of the folds")
    phases.watch(LexicalIndex, "__init__", "matrices of words")
    phases.watch(ConceptTokens, "take", "words of a part")
    phases.watch(crossfit, "hide", "hiding concepts")
    phases.watch(fitting, "assemble", "assembling the model")
    phases.watch(fitting.Insertion, "fit", "insertion")
    began, before = time.process_time(), memory()
    model = Polaris().fit(taxonomy, encoder=encoder)
    result: dict[str, Any] = {"concepts": len(taxonomy), "fit": time.process_time() - began}
    result |= {"phases": phases.seconds, "peaks": phases.peaks, "memory before": before, "memory of the fit": memory()}
    result["epochs"] = len(model.fitted.history)
    return result | queries(model, taxonomy, encoder)


def queries(model: Polaris, taxonomy: Taxonomy, encoder: made_up.Known) -> dict[str, float]:
    """CPU milliseconds of suggestions, and CPU seconds of saving, loading and the first suggestion."""
    rng = np.random.default_rng(5)
    asked = []
    for number, position in enumerate(rng.integers(0, len(taxonomy), BATCH)):
        concept = Concept(f"new{number}", f"new {taxonomy.names[position]}", f"like {taxonomy.descriptions[position]}")
        encoder.table[concept.text] = encoder.table[taxonomy.concept(int(position)).text]
        encoder.table[concept.name] = encoder.table[taxonomy.names[position]]
        asked.append(concept)
    list(model.suggest_many(asked))
    batch = min(_seconds(lambda: list(model.suggest_many(asked))) for _ in range(5))
    single = float(np.median([_seconds(lambda c=concept: model.suggest(c)) for concept in asked[:20]]))
    with TemporaryDirectory() as folder:
        save = _seconds(lambda: model.save(Path(folder) / "model"))
        began = time.process_time()
        again = Polaris.load(Path(folder) / "model", encoder=encoder)
        load = time.process_time() - began
        first = _seconds(lambda: again.suggest(asked[0]))
    return {
        "batch of 64, ms a query": 1e3 * batch / BATCH,
        "one suggestion, ms": 1e3 * single,
        "save": save,
        "load": load,
        "first suggestion after load": first,
    }


def _seconds(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def exponent(small: float, large: float, ratio: float) -> str:
    """Growth exponent between two sizes; empty where a phase is too short to tell."""
    return f"{math.log(large / small) / math.log(ratio):.2f}" if min(small, large) > 0.05 and ratio > 1 else ""


def page(results: dict[str, dict[str, Any]]) -> list[str]:
    """The table, a column per size and one with the exponents between the smallest and the largest."""
    made = sorted((r for key, r in results.items() if key.isdigit()), key=lambda r: r["concepts"])
    columns = [*made, *(r for key, r in results.items() if not key.isdigit())]
    names = [f"{r['concepts']:,}" for r in made] + [f"{r['concepts']:,} WordNet nouns" for r in columns[len(made) :]]
    lines = ["| CPU s | " + " | ".join(names) + " | exponent |", "| --- |" + " --: |" * (len(columns) + 1)]

    def line(label: str, values: list[float], digits: int = 1) -> None:
        cells = " | ".join("–" if math.isnan(value) else f"{value:.{digits}f}" for value in values)
        grown = len(made) > 1
        ratio = made[-1]["concepts"] / made[0]["concepts"] if grown else 1.0
        lines.append(f"| {label} | {cells} | {exponent(values[0], values[len(made) - 1], ratio) if grown else ''} |")

    for phase in columns[0]["phases"]:
        line(phase, [r["phases"].get(phase, 0.0) for r in columns])
    line("epochs that were tried", [float(r.get("epochs", math.nan)) for r in columns], 0)
    line("**fit, all of it**", [r["fit"] for r in columns])
    line("memory of the fit, GB", [r["memory of the fit"] for r in columns], 2)
    for label in ("batch of 64, ms a query", "one suggestion, ms"):
        line(label, [r[label] for r in columns], 2)
    for label in ("save", "load", "first suggestion after load"):
        line(label, [r[label] for r in columns], 2)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--out", type=Path, required=True, help="without its ending: OUT.json and OUT.md are written")
    parser.add_argument(
        "--wordnet",
        nargs=3,
        default=[],
        metavar=("FILE", "FOLDER", "ENCODER"),
        help="nouns of WordNet; their vectors are read from the folder, or made by this encoder and kept there",
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        wordnet = options.wordnet if options.one == "wordnet" else []
        print(json.dumps(measure(0 if wordnet else int(options.one), wordnet)))
        return
    record = options.out.with_suffix(".json")
    results = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    for key in [*map(str, options.sizes), *(["wordnet"] if options.wordnet else [])]:
        if key not in results:
            run = subprocess.run(
                [sys.executable, __file__, *sys.argv[1:], "--one", key], check=True, stdout=subprocess.PIPE, text=True
            )
            results[key] = json.loads(run.stdout.splitlines()[-1])
            atomic.write_text(record, json.dumps(results, indent=1) + "\n")
            print(key, json.dumps(results[key]), flush=True)
    sizes = " ".join(key for key in results if key.isdigit())
    wordnet = " --wordnet data.noun VECTORS fast" if "wordnet" in results else ""
    head = ["# Growth", "", f"`python benchmarks/bench_growth.py {sizes} --out docs/results/growth{wordnet}`", ""]
    notes = [
        "Made-up concepts with known vectors, one thread, CPU seconds on a busy shared machine; the exponent is that",
        "between the smallest and the largest made-up size. WordNet nouns have vectors of the encoder that the command",
        "names, filled up with zeros to the length of MiniLM's.",
        "",
    ]
    atomic.write_text(options.out.with_suffix(".md"), "\n".join([*head, *notes, *page(results), ""]))


if __name__ == "__main__":
    main()
