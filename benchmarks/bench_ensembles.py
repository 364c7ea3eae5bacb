"""Models with different encoders, alone and averaged, on leaves hidden from the seed; test queries are never asked.

    python benchmarks/bench_ensembles.py DIR [--sets semeval_env:5 semeval_sci:5 semeval_food_temp:2]
        [--encoders minilm mpnet minilm+mpnet]

For each random state a fifth of the leaves of the published seed is hidden, a model is fitted with each encoder, and
their log probabilities are averaged. Ranks of one hidden leaf by two rankings are a pair; the intervals are those of
the mean difference of reciprocal ranks over all pairs of the sets together, by a bootstrap over queries. Scores are
kept in DIR, and fits that stand there are not repeated.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.special import log_softmax

from taxosphere import Polaris
from taxosphere.encoders.text.registry import load
from taxosphere.evaluation import datasets, protocol
from taxosphere.model.presets import auto
from taxosphere.ranks import best_true_ranks
from taxosphere.taxonomy import split

SETS = ("semeval_env:5", "semeval_sci:5", "semeval_food_temp:2")
ENCODERS = ("minilm", "mpnet", "minilm+mpnet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", default=list(SETS), metavar="SET:RUNS")
    parser.add_argument("--encoders", nargs="+", default=list(ENCODERS))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    names = [", ".join(some) for n in range(1, 4) for some in combinations(options.encoders, n)]
    ranks: dict[str, dict[str, list[np.ndarray]]] = {}
    for entry in options.sets:
        name, _, runs = entry.partition(":")
        for state in range(int(runs or 1)):
            parts = {encoder: scores(options.out, name, encoder, state) for encoder in options.encoders}
            gold = hidden(name, state).gold
            for each in names:
                mean = np.mean([parts[encoder] for encoder in each.split(", ")], axis=0)
                ranks.setdefault(name, {}).setdefault(each, []).append(best_true_ranks(mean, gold))
    show({name: {each: np.concatenate(parts) for each, parts in by.items()} for name, by in ranks.items()})


def hidden(name: str, state: int) -> split.Split:
    """A fifth of the leaves of the published seed, hidden."""
    taxonomy, parts = datasets.find(name).read()
    taxonomy, _ = protocol.prepare(taxonomy, repair=True)
    seed = taxonomy if parts is None else split.published(taxonomy, parts, "leaves").seed
    return split.leaves(seed, seed=state)


def scores(out: Path, name: str, encoder: str, state: int) -> np.ndarray:
    """Log probabilities (q, n) of a model's candidates for the hidden leaves."""
    file = out / f"{name}-{encoder}-{state}.npy"
    if not file.exists():
        part = hidden(name, state)
        model = Polaris(auto(part.seed)).fit(part.seed, encoder=load(encoder), random_state=state)
        np.save(file, log_softmax(model.score(part.queries).astype(np.float64), axis=1))
        print(name, encoder, state, flush=True)
    return np.load(file)


def show(ranks: dict[str, dict[str, np.ndarray]]) -> None:
    """One line for each ranking: figures by set, and the difference of reciprocal ranks to the first over all sets."""
    rng = np.random.default_rng(0)
    names = next(iter(ranks.values()))
    print(
        f"| models | {' | '.join(f'{name}, {len(by[next(iter(by))])} queries' for name, by in ranks.items())} | MRR |"
    )
    print(f"|---|{'---|' * len(ranks)}---|")
    together = {each: np.concatenate([100 / by[each] for by in ranks.values()]) for each in names}
    first = together[next(iter(names))]
    for each in names:
        cells = [
            f"{100 * (r <= 1).mean():.1f} / {100 * (r <= 5).mean():.1f} / {r.mean():.1f} / {100 * (1 / r).mean():.1f}"
            for r in (by[each] for by in ranks.values())
        ]
        gain = together[each] - first
        drawn = rng.choice(gain, (2000, len(gain))).mean(1)
        low, high = np.percentile(drawn, [2.5, 97.5])
        print(f"| {each} | {' | '.join(cells)} | {gain.mean():+.1f} [{low:+.1f}, {high:+.1f}] |")


if __name__ == "__main__":
    main()
