"""Python code of README, guide and tutorials runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taxosphere import Concept, Polaris, PolarisConfig, Taxonomy

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "guide.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def with_code() -> list[Path]:
    return [path for path in PAGES if BLOCK.search(path.read_text(encoding="utf-8"))]


def hierarchy() -> Taxonomy:
    """Three levels with enough leaves for the ranker to be trained."""
    kinds = ("bird", "fish", "tree", "cake", "boat", "stone")
    colours = ("red", "blue", "green", "white", "black", "grey")
    concepts = [Concept("thing", "thing"), *(Concept(kind, kind, f"a {kind} is a thing") for kind in kinds)]
    edges = [("thing", kind) for kind in kinds]
    for kind in kinds:
        for colour in colours:
            concepts.append(Concept(f"{colour}_{kind}", f"{colour} {kind}", f"a {kind} that is {colour}"))
            edges.append((kind, f"{colour}_{kind}"))
    return Taxonomy.from_concepts(concepts, edges)


@pytest.mark.parametrize("path", with_code(), ids=lambda path: path.name)
def test_code_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hierarchy().write("ontology.obo")
    quick = ("training.epochs=2", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=2", "ranking.prior=false")
    monkeypatch.setattr("taxosphere.fitting.auto", lambda _taxonomy: PolarisConfig().with_overrides(quick))
    names: dict[str, object] = {}
    for block in BLOCK.findall(path.read_text(encoding="utf-8")):
        exec(compile(block, f"{path.name}", "exec"), names)
    assert any(isinstance(value, Polaris) for value in names.values())
