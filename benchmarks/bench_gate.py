"""What the strength of the orbital gate does to the plain sphere, and what choosing it on a few hidden queries costs.

    python benchmarks/bench_gate.py FOLDER… [--runs 8] [--out docs/results/gate.md]

A fifth of the leaves of the published seed is hidden and asked; the test queries are absent. γ is fixed at each value
of the grid, or chosen as a fit does: on leaves hidden from the trial head, a dozen in a small seed. "Best of the trial"
takes the γ that ranks those leaves best, "mildest of the good" the largest within one standard error of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import page
import torch
from numpy.typing import NDArray

from taxosphere import Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.model.early_stopping import fit_head
from taxosphere.model.network import SphereNetwork
from taxosphere.model.presets import auto
from taxosphere.model.training import TrainingRun
from taxosphere.orbit import gate
from taxosphere.ranks import best_true_ranks
from taxosphere.taxonomy.checks import repair
from taxosphere.taxonomy.split import Split, leaves, published, read_parts

MODE: gate.Mode = "hybrid"
Floats = NDArray[np.floating]


def cosines(network: SphereNetwork, asked: torch.Tensor, known: torch.Tensor) -> Floats:
    with torch.no_grad():
        points = [network.points(network.lift(vectors)) for vectors in (asked, known)]
    return np.asarray((points[0] @ points[1].T).numpy())


def quality(cosine: Floats, delta: Floats, gold: Sequence[NDArray[np.integer]], gamma: float | None) -> float:
    """Mean reciprocal rank; without a gate for None."""
    rows = cosine if gamma is None else gate.gated_scores(cosine, gate.thresholds(delta, gamma), MODE)
    return 100 * float((1 / best_true_ranks(rows, gold)).mean())


def measure(split: Split, encoder: text_encoders.TextEncoder, state: int) -> dict[str, float]:
    known = torch.from_numpy(encoder.encode([concept.text for concept in split.seed.concepts()]))
    asked = torch.from_numpy(encoder.encode([concept.text for concept in split.queries]))
    head = fit_head(known, split.seed, auto(split.seed), TrainingRun(state))
    assert head.trial is not None
    assert head.split is not None
    kept = [split.seed.position(id) for id in head.split.seed.ids]
    hidden = [split.seed.position(query.id) for query in head.split.queries]
    trial = cosines(head.trial, known[hidden], known[kept])
    tried = (trial, gate.delta(head.split.seed), head.split.gold)
    chosen: dict[str, float | None] = {"no gate": None} | {f"γ = {gamma:g}": gamma for gamma in gate.GAMMAS}
    chosen["best of the trial"] = max(gate.GAMMAS, key=lambda gamma: quality(*tried, gamma))
    chosen["mildest of the good"] = gate.choose_gamma([(tried[0], tried[2])], tried[1], MODE)
    final = (cosines(head.network, asked, known), gate.delta(split.seed), split.gold)
    return {name: quality(*final, gamma) for name, gamma in chosen.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    encoder = text_encoders.load("minilm")
    columns = {}
    for folder in options.folders:
        seed = published(repair(Taxonomy.read(folder))[0], read_parts(folder)).seed
        found = [measure(leaves(seed, 0.2, 100 + state), encoder, state) for state in range(options.runs)]
        columns[Path(folder).name] = {
            name: f"{np.mean([run[name] for run in found]):.1f} ± {np.std([run[name] for run in found]):.1f}"
            for name in found[0]
        }
    lines = [f"| gate | {' | '.join(columns)} |", "|---|" + "--:|" * len(columns)]
    lines += [
        f"| {name} | {' | '.join(column[name] for column in columns.values())} |"
        for name in next(iter(columns.values()))
    ]
    print("\n".join(lines))
    if options.out is not None:
        notes = [
            f"MRR on validation queries, mean and deviation of {options.runs} random states, frozen MiniLM, {MODE}."
        ]
        page.write(
            options.out,
            "The orbital gate",
            Path(__file__).name,
            options.folders,
            f"--runs {options.runs}",
            notes,
            lines,
        )


if __name__ == "__main__":
    main()
