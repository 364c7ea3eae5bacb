"""Which modules one `suggest` and one `fit` pass through, in the order they are first entered.

The suggestion that is traced is the second one: the first also loads the encoder and builds the candidate index.

Usage: python scripts/trace_calls.py [suggest|fit]

A module counts when one of its functions runs (imports do not); a change of folder is a first call into a module of
another folder than that of the module entered before it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType

import taxosphere
from taxosphere import Concept, Polaris, PolarisConfig, Taxonomy

SOURCE = Path(taxosphere.__file__).parent


def trace(action: Callable[[], object]) -> list[tuple[str, str]]:
    """(module, first function called in it), in the order of first calls."""
    entered: dict[str, str] = {}

    def record(frame: FrameType, event: str, _argument: object) -> None:
        if event != "call":
            return
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(SOURCE) and not frame.f_code.co_name.startswith("<"):
            entered.setdefault(str(file.relative_to(SOURCE)), frame.f_code.co_name)

    sys.setprofile(record)
    try:
        action()
    finally:
        sys.setprofile(None)
    return list(entered.items())


def folders_changed(modules: list[str]) -> int:
    """How often the folder changes along a list of modules."""
    folders = [str(Path(module).parent) for module in modules]
    return sum(one != other for one, other in pairwise(folders))


def hierarchy() -> Taxonomy:
    concepts, edges = [Concept("thing", "thing")], []
    for kind in ("bird", "fish", "tree", "cake", "boat"):
        concepts.append(Concept(kind, kind, f"a {kind} is a thing"))
        edges.append(("thing", kind))
        for colour in ("red", "blue", "green", "white", "black", "grey"):
            concepts.append(Concept(f"{colour} {kind}", f"{colour} {kind}", f"a {kind} that is {colour}"))
            edges.append((kind, f"{colour} {kind}"))
    return Taxonomy.from_concepts(concepts, edges)


if __name__ == "__main__":
    quick = PolarisConfig().with_overrides(["training.epochs=2", "ranking.folds=2", "ranking.nets=1"])
    model = Polaris(quick)
    calls = trace(lambda: model.fit(hierarchy()))
    if sys.argv[1:] != ["fit"]:
        model.suggest("purple fish", "a fish that is purple")
        calls = trace(lambda: model.suggest("yellow bird", "a bird that is yellow").as_dict())
    for module, function in calls:
        print(f"{module:48} {function}")
    print(f"\n{len(calls)} modules, {folders_changed([module for module, _ in calls])} changes of folder")
