"""Commands in README, guide and tutorials exist, with the options they are shown with; the reference is up to date."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from taxosphere.cli import COMMANDS, load_command
from taxosphere.cli.reference import page

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "guide.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]


def shown(text: str) -> Iterator[list[str]]:
    """The words of every `taxosphere …` line in code blocks."""
    for block in re.findall(r"^```(?:sh|bash|console)?\n(.*?)^```", text, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            if not line.startswith(("taxosphere", "./run taxosphere")):
                continue
            words = shlex.split(line, comments=True)
            if words[:1] == ["./run"]:
                words = words[1:]
            if words[:1] == ["taxosphere"]:
                yield words[1:]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_shown_commands_parse(path: Path) -> None:
    for words in shown(path.read_text(encoding="utf-8")):
        assert words[0] in COMMANDS, f"{path.name}: there is no command '{words[0]}'"
        app = typer.Typer(add_completion=False)
        app.command(words[0])(load_command(words[0]))
        command = typer.main.get_command(app)
        arguments = [word for word in words[1:] if word not in (">",)]
        if ">" in words:
            arguments = words[1 : words.index(">")]
        command.make_context("taxosphere", arguments)  # raises on an unknown option or a missing argument


def test_some_commands_are_shown() -> None:
    assert sum(1 for path in PAGES for _ in shown(path.read_text(encoding="utf-8"))) > 15


def test_the_command_reference_is_up_to_date() -> None:
    written = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert written == page(), "run: python scripts/draw_commands.py"
