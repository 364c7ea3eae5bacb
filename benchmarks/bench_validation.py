"""What a setting of the ranked model does, on queries hidden from the seed: the place to try changes.

    python benchmarks/bench_validation.py FOLDER… [--runs 5] [--set ranking.hidden=64 …]

A fifth of the leaves of the published seed is hidden; the test queries are absent. Calibration is that of lists held
out while the ranker learned; "none" is asked of the same queries after their true parents were taken out of the seed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from taxosphere import Polaris, Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.evaluation import metrics
from taxosphere.evaluation.reliability import auroc, expected_calibration_error
from taxosphere.model.presets import auto
from taxosphere.taxonomy.checks import repair
from taxosphere.taxonomy.split import leaves, published, read_parts

MOST = 600  # queries of a run
SURE = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--set", nargs="*", default=[], dest="changes")
    options = parser.parse_args()
    encoder = text_encoders.load("minilm")
    for folder in options.folders:
        began = time.perf_counter()
        seed = published(repair(Taxonomy.read(folder))[0], read_parts(folder)).seed
        rows, held = [], []
        for run in range(options.runs):
            split = leaves(seed, 0.2, 100 + run)
            config = auto(split.seed).with_overrides(options.changes)
            model = Polaris(config).fit(split.seed, encoder=encoder, random_state=run)
            found = metrics.judge(model.score(split.queries[:MOST]), split.gold[:MOST], split.seed)
            rows.append(metrics.summary(found))
            held.append(model.out_of_fold)
        figures = [np.mean([row[key] for row in rows]) for key in ("hit@1", "hit@5", "mr", "mrr")]
        sure = np.concatenate([each.probabilities[:, 0] for each in held])
        right = np.concatenate([each.labels[:, 0] for each in held])
        none = np.concatenate([each.none_probability for each in held])
        removed = np.concatenate([each.parent_removed for each in held])
        print(
            f"{Path(folder).name}: {' / '.join(f'{figure:.1f}' for figure in figures)}; "
            f"ECE {expected_calibration_error(sure, right):.3f}, precision at 0.9 {right[sure >= SURE].mean():.2f}, "
            f"none AUROC {auroc(none, removed):.2f}; {(time.perf_counter() - began) / options.runs:.0f} s a run",
            flush=True,
        )


if __name__ == "__main__":
    main()
