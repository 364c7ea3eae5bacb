"""Public names are documented: what they return or do, every parameter, and what comes back (checked by pydoclint)."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def public() -> Iterator[tuple[str, Any]]:
    """Everything the reference page of the Python interface names, and the methods of its classes."""
    text = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    for dotted in re.findall(r"^::: (\S+)$", text, re.M):
        module, _, attribute = dotted.rpartition(".")
        try:
            thing = importlib.import_module(dotted)
        except ModuleNotFoundError:
            thing = getattr(importlib.import_module(module), attribute)
        if inspect.ismodule(thing):
            yield from _members(dotted, vars(thing), lambda value, home=dotted: value.__module__ == home)
        else:
            yield dotted, thing
            if inspect.isclass(thing):
                ours = [kind for kind in reversed(thing.__mro__) if kind.__module__.startswith("taxosphere.")]
                entries = {name: value for kind in ours for name, value in vars(kind).items()}
                yield from _members(dotted, entries, lambda _value: True)


def _members(prefix: str, entries: Any, ours: Callable[[Any], bool]) -> Iterator[tuple[str, Any]]:
    for name, value in list(entries.items()):
        plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if not name.startswith("_") and (inspect.isfunction(plain) or inspect.isclass(plain)) and ours(plain):
            yield f"{prefix}.{name}", plain


NAMES = dict(public())


def test_the_reference_names_enough() -> None:
    assert len(NAMES) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_the_first_line_says_what_it_is_or_does(name: str) -> None:
    first = (inspect.getdoc(NAMES[name]) or "").split("\n", 1)[0]
    assert len(first.split()) >= 3


# Parameters that are missing, made up or in another order (101-104), and missing or wrong sections of what is returned
# (201, 202) or yielded (402, 403). Types stand in the signatures.
CHECKED = re.compile(r"DOC(10[1-4]|20[12]|40[23])$")


def violations(files: list[str]) -> dict[tuple[str, str], list[str]]:
    """What pydoclint says about the functions in these files, by file and qualified name."""
    options = ["--style=numpy", "--quiet", "--skip-checking-short-docstrings=False", "--check-return-types=False"]
    options += ["--check-class-attributes=False", "--allow-init-docstring=True", "--arg-type-hints-in-docstring=False"]
    run = subprocess.run(
        [sys.executable, "-m", "pydoclint.main", *options, *files], capture_output=True, text=True, check=False
    )
    said: dict[tuple[str, str], list[str]] = {}
    file = ""
    for line in (run.stdout + run.stderr).splitlines():
        match = re.match(r"\s+\d+: (DOC\d+): (?:Function|Method) `([\w.]+)`", line)
        if match is None:
            file = line.strip() or file
        elif CHECKED.match(match[1]):
            said.setdefault((file, match[2]), []).append(line.strip())
    return said


@cache
def violations_of_public_names() -> dict[tuple[str, str], list[str]]:
    return violations(sorted({inspect.getsourcefile(thing) or "" for thing in NAMES.values()}))


def test_pydoclint_finds_what_is_missing(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    text = '"""Module."""\n\n\ndef twice(x: int) -> int:\n    """The double of it."""\n    return 2 * x\n'
    sample.write_text(text, encoding="utf-8")
    codes = [line.split()[1] for line in violations([str(sample)])[str(sample), "twice"]]
    assert codes == ["DOC101:", "DOC103:", "DOC201:"]


@pytest.mark.parametrize("name", [name for name, thing in NAMES.items() if inspect.isfunction(thing)])
def test_parameters_and_results_are_documented(name: str) -> None:
    function = NAMES[name]
    assert violations_of_public_names().get((inspect.getsourcefile(function) or "", function.__qualname__), []) == []
