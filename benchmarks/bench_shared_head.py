"""One head for images and texts against two, on made-up spaces that two towers share.

An image is its label plus the images' offset plus much uneven scatter; a text is its label plus the texts' offset
plus noise, or noise alone. Once, a quarter of the labels have no images.

    python benchmarks/bench_shared_head.py --draws 8
"""

from __future__ import annotations

import argparse

import numpy as np

from taxosphere.images.towers import Towers
from taxosphere.images.whitening import unit

LABELS, DIM, ASKED = 40, 64, 10
SHOTS = (1, 2, 3, 5, 10, 30)


def space(shots: int, seed: int, *, blind: bool) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    centres = np.linspace(1.2, 0.5, DIM) * rng.normal(size=(LABELS, DIM))
    gap, uneven = 3 * rng.normal(size=(2, DIM)), np.linspace(3.5, 0.6, DIM)
    label, gold = np.repeat(np.arange(LABELS), shots), np.repeat(np.arange(LABELS), ASKED)
    vectors, asked = (centres[rows] + gap[0] + uneven * rng.normal(size=(len(rows), DIM)) for rows in (label, gold))
    texts = (rng.normal(size=centres.shape) if blind else centres) + gap[1] + rng.normal(size=centres.shape)
    return vectors.astype(np.float32), label, unit(texts), asked.astype(np.float32), gold


def measure(shots: int, seed: int) -> dict[str, float]:
    found = {}
    for blind in (False, True):
        vectors, label, texts, asked, gold = space(shots, seed, blind=blind)

        def right(scores: np.ndarray, rows: np.ndarray, gold: np.ndarray = gold) -> float:
            return 100 * float((scores.argmax(1) == gold)[rows].mean())

        everyone, bare, shown = gold >= 0, gold % 4 == 0, label % 4 != 0
        one = Towers.fit(vectors, label, texts, shared=True).score(asked)
        two = Towers.fit(vectors, label, texts).score(asked)
        if blind:
            found |= {"two heads, texts that say nothing": right(two, everyone)}
            found |= {"one head, texts that say nothing": right(one, everyone)}
            continue
        some = Towers.fit(vectors[shown], label[shown], texts, shared=True).score(asked)
        found |= {"the encoder's cosine alone": right(unit(asked) @ texts.T, everyone)}
        found |= {"two heads": right(two, everyone), "one head": right(one, everyone)}
        blank = Towers.fit(vectors[shown], label[shown], texts).score(asked)
        found |= {"two heads, labels without images": right(blank, bare)}
        found |= {"one head, labels without images": right(some, bare)}
        found |= {"one head, the labels beside them": right(some, ~bare)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=8)
    draws = parser.parse_args().draws
    runs = [[measure(shots, seed) for seed in range(draws)] for shots in SHOTS]
    print("| images per label | " + " | ".join(map(str, SHOTS)) + " |")
    print("|---|" + "--:|" * len(SHOTS))
    for name in runs[0][0]:
        print(f"| {name} | " + " | ".join(f"{np.mean([run[name] for run in part]):.1f}" for part in runs) + " |")


if __name__ == "__main__":
    main()
