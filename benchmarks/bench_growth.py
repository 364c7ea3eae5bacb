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
from taxosphere.ranking import crossfit, folds
from taxosphere.ranking.lexical.index import LexicalIndex
from taxosphere.ranking.lexical.tokens import ConceptTokens

BATCH = 64
VERSION = 5  # of the code that is measured; columns of earlier ones are marked
MIDDLE = 300_000  # exponents are given up to here, and from here on


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
    """Peak of this process, GB. What the system reports as `ru_maxrss` begins with that of the process before it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / (1 << 20)


def read(size: int, wordnet: list[str]) -> Taxonomy:
    return Taxonomy.read(wordnet[0]) if wordnet else made_up.taxonomy(size)


def write_vectors(size: int, wordnet: list[str], folder: Path) -> Path:
    """The file of vectors of texts and names; those of WordNet are kept, filled up with zeros to `made_up.DIM`."""
    if not wordnet:
        made_up.write_vectors(size, folder / "vectors.npy")
        return folder / "vectors.npy"
    file = Path(wordnet[1]) / "vectors.npy"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        made = registry.encode_text_vectors(registry.load(wordnet[2]), list(read(size, wordnet).concepts()))
        rows = np.concatenate([made.full, made.name])
        np.save(file, np.pad(rows, ((0, 0), (0, made_up.DIM - rows.shape[1]))))
    return file


def measure(size: int, wordnet: list[str], vectors: Path, folder: Path) -> dict[str, Any]:
    """All figures of one size; the model is saved in the folder."""
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    taxonomy = read(size, wordnet)
    encoder = made_up.Known(vectors, taxonomy.concepts())
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
    phases.watch(folds, "hide", "hiding concepts")
    phases.watch(fitting, "assemble", "assembling the model")
    phases.watch(fitting.Insertion, "fit", "insertion")
    phases.watch(fitting.NewParents, "fit", "parents among new concepts")
    began, before = time.process_time(), memory()
    model = Polaris().fit(taxonomy, encoder=encoder)
    result: dict[str, Any] = {"concepts": len(taxonomy), "fit": time.process_time() - began}
    result |= {"phases": phases.seconds, "peaks": phases.peaks, "memory before": before, "memory of the fit": memory()}
    result["epochs"] = len(model.fitted.history)
    return result | queries(model, taxonomy, encoder) | saved(model, folder)


def queries(model: Polaris, taxonomy: Taxonomy, encoder: made_up.Known) -> dict[str, float]:
    """CPU milliseconds of suggestions whose vectors are known."""
    rng = np.random.default_rng(5)
    asked = []
    for number, position in enumerate(rng.integers(0, len(taxonomy), BATCH)):
        like = taxonomy.concept(int(position))
        concept = Concept(f"new{number}", f"new {like.name}", f"like {like.description}")
        encoder.table[concept.text], encoder.table[concept.name] = encoder.encode([like.text, like.name])
        asked.append(concept)
    list(model.suggest_many(asked))
    batch = min(_seconds(lambda: list(model.suggest_many(asked))) for _ in range(5))
    single = float(np.median([_seconds(lambda c=concept: model.suggest(c)) for concept in asked[:20]]))
    return {"batch of 64, ms a query": 1e3 * batch / BATCH, "one suggestion, ms": 1e3 * single}


def saved(model: Polaris, folder: Path) -> dict[str, float]:
    """CPU seconds of saving; of loading and of the first suggestion in a new process, and the memory of that."""
    save = _seconds(lambda: model.save(folder / "model"))
    script = Path(__file__).with_name("bench_load.py")
    run = subprocess.run(
        [sys.executable, script, "measure", folder / "model"], check=True, stdout=subprocess.PIPE, text=True
    )
    steps = json.loads(run.stdout)
    return {
        "save": save,
        "load": steps["loaded"]["CPU s"],
        "first suggestion after load": steps["first suggestion"]["CPU s"],
        "load to first suggestion, s elapsed": steps["loaded"]["s"] + steps["first suggestion"]["s"],
        "memory after load and first suggestion, GB": steps["first suggestion"]["GB resident"],
    }


def _seconds(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def exponent(small: float, large: float, ratio: float) -> str:
    """Growth exponent between two sizes; empty where a phase is too short to tell."""
    long_enough = small > 0.05 and large > 0.05 and ratio > 1
    return f"{math.log(large / small) / math.log(ratio):.2f}" if long_enough else ""


def page(results: dict[str, dict[str, Any]]) -> list[str]:
    """The table, a column per size and two with exponents: from the smallest size to `MIDDLE`, and to the largest."""
    made = sorted((r for key, r in results.items() if key.isdigit()), key=lambda r: r["concepts"])
    columns = [*made, *(r for key, r in results.items() if not key.isdigit())]
    names = [f"{r['concepts']:,}{'' if r in made else ' WordNet nouns'}" for r in columns]
    names = [
        name if r.get("version") == VERSION else f"{name} (earlier code)"
        for name, r in zip(names, columns, strict=True)
    ]
    until = max((place for place, r in enumerate(made) if r["concepts"] <= MIDDLE), default=0)
    ends = [until] if until == len(made) - 1 else [until, len(made) - 1]
    grown = [f"exponent to {made[end]['concepts']:,}" for end in ends]
    lines = ["| CPU s | " + " | ".join(names + grown) + " |", "| --- |" + " --: |" * (len(columns) + len(ends))]

    def line(label: str, values: list[float], digits: int = 1) -> None:
        cells = ["–" if math.isnan(value) else f"{value:.{digits}f}" for value in values]
        cells += [exponent(values[0], values[end], made[end]["concepts"] / made[0]["concepts"]) for end in ends]
        lines.append(f"| {label} | {' | '.join(cells)} |")

    for phase in max((r["phases"] for r in columns), key=len):
        line(phase, [r["phases"].get(phase, 0.0 if r.get("version") == VERSION else math.nan) for r in columns])
    line("epochs that were tried", [float(r.get("epochs", math.nan)) for r in columns], 0)
    line("**fit, all of it**", [r["fit"] for r in columns])
    line("memory of the fit, GB", [r["memory of the fit"] for r in columns], 2)
    for label in (
        "batch of 64, ms a query",
        "one suggestion, ms",
        "save",
        "load",
        "first suggestion after load",
        "load to first suggestion, s elapsed",
        "memory after load and first suggestion, GB",
    ):
        line(label, [r.get(label, math.nan) for r in columns], 2)
    return lines


def run_apart(key: str, wordnet: list[str], keep: Path | None) -> dict[str, Any]:
    """`measure` in a process of its own, which finds its vectors in a file."""
    with TemporaryDirectory() as temporary:
        vectors = write_vectors(0 if wordnet else int(key), wordnet, Path(temporary))
        models = Path(temporary) if keep is None else keep / key
        command = [sys.executable, __file__, "--out", "-", "--one", key, "--vectors", vectors, "--keep", models]
        command += ["--wordnet", *wordnet] if wordnet else []
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return {"version": VERSION, **json.loads(run.stdout.splitlines()[-1])}


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
    parser.add_argument("--keep", type=Path, help="folder in which the model of every size is kept; default: nowhere")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--vectors", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        wordnet = options.wordnet if options.one == "wordnet" else []
        print(json.dumps(measure(0 if wordnet else int(options.one), wordnet, options.vectors, options.keep)))
        return
    record = options.out.with_suffix(".json")
    results = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    for key in [*map(str, options.sizes), *(["wordnet"] if options.wordnet else [])]:
        if key not in results:
            results[key] = run_apart(key, options.wordnet if key == "wordnet" else [], options.keep)
            atomic.write_text(record, json.dumps(results, indent=1) + "\n")
            print(key, json.dumps(results[key]), flush=True)
    sizes = " ".join(key for key in results if key.isdigit())
    wordnet = " --wordnet data.noun VECTORS fast" if "wordnet" in results else ""
    head = ["# Growth", "", f"`python benchmarks/bench_growth.py {sizes} --out docs/results/growth{wordnet}`", ""]
    notes = [
        "Made-up concepts with known vectors, one thread, CPU seconds; exponents are those",
        "between the smallest made-up size and another. WordNet nouns have vectors of the encoder that the command",
        "names, filled up with zeros to the length of MiniLM's. A saved model is opened by a process of its own.",
        "",
    ]
    atomic.write_text(options.out.with_suffix(".md"), "\n".join([*head, *notes, *page(results), ""]))


if __name__ == "__main__":
    main()
