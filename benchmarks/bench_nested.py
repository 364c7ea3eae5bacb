"""Scenarios inside the seed of a scenario run: where settings are chosen, while what that run asks stays hidden.

    python benchmarks/bench_nested.py DIR --sets edam:0 mesh:0 semeval_verb:0 semeval_food_temp:0 [--again insertion]
    python benchmarks/bench_nested.py DIR --sets edam:0 semeval_food_temp:0 --aims 0.7 0.75 0.8

A set has the number of the scenario run whose seed is cut once more. Models are kept in DIR, since a fit takes
minutes; the figures are made by the present code each time. With ``--again`` a part of the model that is trained after
the ranking is trained anew. Prints what `evaluate --split scenarios` measures, a row per set; with ``--aims`` the
children proposed where insertions aim at each of these precisions.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from taxosphere import Polaris
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.evaluation import datasets, protocol, scenario_figures, scenarios
from taxosphere.evaluation.scenarios import Scenarios
from taxosphere.methods import registry as methods
from taxosphere.methods.polaris_full import PolarisFull
from taxosphere.placing import insertion
from taxosphere.placing.insertion import Insertion
from taxosphere.placing.new_parents import NewParents

NESTED = 1000  # added to the random state of the run whose seed is cut


def cut(name: str, run: int) -> Scenarios:
    """What is hidden inside the seed of a scenario run."""
    others = [dataset.read()[0] for dataset in datasets.foreign_to(name)]
    taxonomy, _ = protocol.prepare(datasets.find(name).read()[0], repair=True)
    foreign = scenarios.foreign_concepts(others, random_state=run + NESTED, most=scenarios.MOST["foreign"])
    outer = scenarios.build(taxonomy, foreign, random_state=run)
    return scenarios.build(outer.seed, foreign, random_state=run + NESTED)


def fitted(folder: Path, name: str, run: int, nested: Scenarios, encoder: TextEncoder) -> Polaris:
    """The model of a nested seed, from the folder or fitted now."""
    place = folder / f"{name}-{run}"
    if not place.exists():
        settings = {"ranking.prior": "false"} if name == datasets.EDAM else {}  # the prior was made from EDAM
        method = methods.create("polaris", settings=settings)
        assert isinstance(method, PolarisFull)
        method.fit(nested.seed, encoder=encoder, random_state=run + NESTED)
        assert method.model is not None
        method.model.save(place)
    return Polaris.load(place, encoder=encoder)


def train_again(model: Polaris, parts: list[str], random_state: int) -> None:
    """Replace parts of a model by newly trained ones."""
    now = model.fitted
    seed, vectors = now.index.taxonomy, now.untuned_vectors
    if "insertion" in parts:
        suggested = now.ranker.out_of_fold.first_places
        now = replace(now, insertion=Insertion.fit(seed, vectors, random_state, suggested))
    if "new_parents" in parts:
        now = replace(now, new_parents=NewParents.fit(seed, vectors, random_state))
    model._fitted = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where models are kept")
    parser.add_argument("--sets", nargs="+", required=True, help="NAME:RUN of each set")
    parser.add_argument("--again", nargs="*", default=[], choices=["insertion", "new_parents"])
    parser.add_argument("--aims", nargs="*", type=float, default=[])
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    encoder = text_encoders.load("minilm")
    for each in chosen.sets:
        name, _, run = each.partition(":")
        nested = cut(name, int(run or 0))
        model = fitted(chosen.folder, name, int(run or 0), nested, encoder)
        for aim in chosen.aims:
            insertion.AIM = aim
            train_again(model, ["insertion"], int(run or 0) + NESTED)
            print(json.dumps({"set": each, "aim": aim, **scenario_figures.children(model, nested)}), flush=True)
        if chosen.aims:
            continue
        train_again(model, chosen.again, int(run or 0) + NESTED)
        print(json.dumps({"set": each, **scenario_figures.measure(model, nested)}), flush=True)


if __name__ == "__main__":
    main()
