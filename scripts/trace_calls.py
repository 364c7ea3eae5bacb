"""Which modules one `suggest` and one `fit` pass through, in the order they are first entered.

The suggestion that is traced is the second one: the first also loads the encoder and builds the candidate index.

Usage: python scripts/trace_calls.py [suggest|fit]     prints one list
       python scripts/trace_calls.py write           puts both into docs/architecture.md

A module counts when one of its functions runs (imports do not); a change of folder is a first call into a module of
another folder than that of the module entered before it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType

import taxosphere
from taxosphere import Concept, Polaris, PolarisConfig, Taxonomy

SOURCE = Path(taxosphere.__file__).parent
PAGE = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"


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


def lists() -> dict[str, str]:
    """The list of each action, ready to print."""
    quick = PolarisConfig().with_overrides(["training.epochs=2", "ranking.folds=2", "ranking.nets=1"])
    model = Polaris(quick)
    calls = {"fit": trace(lambda: model.fit(hierarchy()))}
    model.suggest("purple fish", "a fish that is purple")
    calls["suggest"] = trace(lambda: model.suggest("yellow bird", "a bird that is yellow").as_dict())
    texts = {}
    for action, entered in calls.items():
        lines = [f"{module:48} {function}" for module, function in entered]
        changes = folders_changed([module for module, _ in entered])
        texts[action] = "\n".join([*lines, "", f"{len(entered)} modules, {changes} changes of folder"])
    return texts


if __name__ == "__main__":
    action = sys.argv[1] if len(sys.argv) > 1 else "suggest"
    if action != "write":
        print(lists()[action])
    else:
        text = PAGE.read_text(encoding="utf-8")
        for name, listed in lists().items():
            text = re.sub(rf"(<!-- {name} -->\n```\n).*?(?=\n```\n<!-- end -->)", rf"\g<1>{listed}", text, flags=re.S)
        PAGE.write_text(text, encoding="utf-8")
