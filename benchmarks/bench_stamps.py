"""Real images end to end: ``convert``, ``fit`` and ``suggest`` on a folder of captioned images.

    python benchmarks/bench_stamps.py FOLDER --out WORK

FOLDER holds images in a tree of folders, each with a caption beside it, as Debian's package tuxpaint-stamps-default
brings them in /usr/share/tuxpaint/stamps. A fifth of the leaves with images is taken out before the fit; the model is
then asked where they belong: with the image alone, with name and caption, and with both. Prints a Markdown table: how
often the first answer is the right folder, lies in the right top folder, and how far off it is.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from taxosphere import Taxonomy
from taxosphere.taxonomy import structure
from taxosphere.taxonomy.split import Split, hide

HELD = 0.2
KINDS = {"image": ("image",), "name and caption": ("name", "description"), "both": ("name", "description", "image")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    native, seed, model = (args.out / name for name in ("all", f"seed-{args.seed}", f"model-{args.seed}"))
    if not native.exists():
        command("convert", args.folder, native)
    part = take_out(Taxonomy.read(native), args.seed)
    part.seed.write(seed)
    command("fit", seed, "-o", model, "--seed", args.seed, "--skip-broken", "--resume")
    print(f"{len(part.seed):,} concepts, {len(part.queries):,} held-out images, random state {args.seed}\n")
    print("| asked with | right folder | within 5 | right branch | Wu&P |\n|---|--:|--:|--:|--:|")
    for kind, columns in KINDS.items():
        listed = args.out / f"held-{args.seed}-{kind.replace(' ', '-')}.tsv"
        write_list(part, columns, listed)
        found = json.loads(command("suggest", model, "--file", listed, "-k", 5, "--json"))
        answers = [[s["id"] for s in document["suggestions"]] for document in found]
        print(row(kind, part, answers))
    largest = np.bincount([branch(part.seed, int(g[0])) for g in part.gold]).max() / len(part.gold)
    print(f"\nAlways naming the largest branch would be right for {largest:.1%}.")


def command(*args: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "taxosphere", *map(str, args)], stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def take_out(taxonomy: Taxonomy, seed: int) -> Split:
    leaves = [i for i in taxonomy.leaves.tolist() if taxonomy.images[i]]
    chosen = np.random.default_rng(seed).choice(leaves, round(HELD * len(leaves)), replace=False)
    return hide(taxonomy, np.sort(chosen))


def write_list(part: Split, columns: tuple[str, ...], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(columns)
        for concept in part.queries:
            cells = {"name": concept.name, "description": concept.description, "image": "|".join(concept.images)}
            writer.writerow([cells[column] for column in columns])


def branch(seed: Taxonomy, position: int) -> int:
    """The folder just below the top that a concept lies in."""
    return seed.path_positions(position)[:2][-1]


def row(kind: str, part: Split, answers: list[list[str]]) -> str:
    seed = part.seed
    first = np.array([seed.position(ids[0]) for ids in answers])
    gold = np.array([int(g[0]) for g in part.gold])
    exact = (first == gold).mean()
    within = np.mean([seed.ids[g] in ids for g, ids in zip(gold, answers, strict=True)])
    same = np.mean([branch(seed, a) == branch(seed, g) for a, g in zip(first.tolist(), gold.tolist(), strict=True)])
    alike = structure.wu_palmer(seed.parent_csr, seed.levels, first, gold).mean()
    return f"| {kind} | {exact:.1%} | {within:.1%} | {same:.1%} | {alike:.1%} |"


if __name__ == "__main__":
    main()
