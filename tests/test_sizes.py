"""Functions and files stay small enough to be read at once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import taxosphere

SOURCE = Path(taxosphere.__file__).parent
LONGEST_FUNCTION, LONGEST_FILE = 60, 400


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=name)
def test_no_file_and_no_function_is_too_long(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE
    if path.is_relative_to(SOURCE / "cli" / "commands"):  # a command is as long as its options
        return
    functions = [f for f in ast.walk(ast.parse(text)) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = {f"{f.name}, line {f.lineno}": (f.end_lineno or 0) - f.lineno + 1 for f in functions}
    assert not {where: lines for where, lines in lengths.items() if lines > LONGEST_FUNCTION}
