"""Public names are documented: what they return or do, and every parameter."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
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
def test_it_says_what_it_is_and_names_its_parameters(name: str) -> None:
    thing = NAMES[name]
    text = inspect.getdoc(thing) or ""
    first = text.split("\n", 1)[0]
    assert len(first.split()) >= 3, "a first line that says what is returned or done"
    if inspect.isclass(thing):
        return
    parameters = [parameter for parameter in inspect.signature(thing).parameters if parameter not in ("self", "cls")]
    missing = [p for p in parameters if not re.search(rf"(?<!\w){re.escape(p)}(?!\w)", text)]
    assert not missing, f"parameters that the docstring does not name: {', '.join(missing)}"
