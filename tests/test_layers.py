"""Imports go one way: a module may use what stands before it in `LAYERS`, never what comes after."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import taxosphere

SOURCE = Path(taxosphere.__file__).parent
LAYERS = (
    "errors",
    "memory",
    "atomic",
    "typing",
    "ranks",
    "percent",
    "taxonomy",
    "encoders",
    "sphere",
    "orbit",
    "model",
    "readers",
    "ranking",
    "images",
    "artifact",
    "placing",
    "estimator",
    "fitting",
    "persistence",
    "polaris",
    "scale",
    "decisions",
    "methods",
    "evaluation",
    "report",
    "service",
    "cli",
    "__main__",
)
HEAVY = ("torch", "transformers", "safetensors", "networkx", "pandas", "matplotlib")


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, full name) of everything a module imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}:{node.lineno}: imports are written in full"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def layer(parts: tuple[str, ...]) -> int | None:
    """Rank of ``taxosphere.X…``; None for the package itself and for what it offers at its top (`Taxonomy`, …)."""
    return LAYERS.index(parts[1]) if len(parts) > 1 and parts[1] in LAYERS else None


@pytest.mark.parametrize("path", modules(), ids=name)
def test_imports_go_downward(path: Path) -> None:
    own = LAYERS.index(path.relative_to(SOURCE).parts[0].removesuffix(".py"))
    for line, full in imported(path):
        parts = tuple(full.split("."))
        rank = layer(parts) if parts[0] == "taxosphere" else None
        assert rank is None or rank <= own, f"{name(path)}:{line} imports {full} from a later layer"
        if full in ("taxosphere.Polaris", "taxosphere.PolarisConfig"):
            assert own > LAYERS.index("polaris"), f"{name(path)}:{line} imports {full} through the top"


def test_every_folder_has_its_layer() -> None:
    tops = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in modules()}
    assert tops <= set(LAYERS)


@pytest.mark.parametrize("path", [p for p in modules() if p.is_relative_to(SOURCE / "taxonomy")], ids=name)
def test_the_taxonomy_needs_no_torch(path: Path) -> None:
    assert not [full for _, full in imported(path) if full.split(".")[0] in ("torch", "transformers", "pydantic")]


def test_inspecting_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("parent\tchild\nanimal\tbird\nanimal\tdog\n", encoding="utf-8")
    code = (
        "import sys\n"
        "from taxosphere.cli import main\n"
        f"assert main(['inspect', {str(tmp_path / 't.tsv')!r}]) == 0\n"
        f"assert main(['convert', {str(tmp_path / 't.tsv')!r}, {str(tmp_path / 'out')!r}]) == 0\n"
        "assert main(['--help']) == 0\n"
        f"found = sorted(name for name in {HEAVY} if name in sys.modules)\n"
        "assert not found, found\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
