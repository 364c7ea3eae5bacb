"""The tabulator key offers commands, options, model folders and names of concepts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from taxosphere.cli import COMMANDS
from taxosphere.cli.completion import PROTOCOL

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "model-4"
HEAVY = ("torch", "transformers", "pandas")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model, another folder and a file."""
    shutil.copytree(GOLDEN, tmp_path / "my model")
    (tmp_path / "more").mkdir()
    (tmp_path / "menu.csv").write_text("x", encoding="utf-8")
    (tmp_path / ".hidden").mkdir()
    return tmp_path


def offered(folder: Path, *words: str, shell: str = "bash") -> list[str]:
    """What the program offers for the last of the words, by the protocol that the shell's script speaks."""
    environment = {**os.environ, PROTOCOL: f"complete_{shell}"}
    if shell == "bash":
        environment |= {"COMP_WORDS": "\n".join(("taxosphere", *words)), "COMP_CWORD": str(len(words))}
    else:
        environment |= {"_TYPER_COMPLETE_ARGS": " ".join(("taxosphere", *words))}
    code = (
        "import sys\nfrom taxosphere.cli import main\n"
        "try:\n    main([])\nfinally:\n"
        f"    assert not [name for name in {HEAVY} if name in sys.modules]\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return [line for line in run.stdout.splitlines() if line]


def test_commands_and_options(folder: Path) -> None:
    assert set(offered(folder, "")) == set(COMMANDS)
    assert offered(folder, "sug") == ["suggest"]
    assert offered(folder, "fit", "--dev") == ["--device"]


@pytest.mark.parametrize("command", [["suggest"], ["expand"], ["serve"], ["mcp"], ["fit", "t.csv", "--from"]])
def test_model_folders_and_ways_to_others(folder: Path, command: list[str]) -> None:
    assert offered(folder, *command, "m") == [r"my\ model"]  # bash adds "more/" by itself
    assert offered(folder, *command, "./my") == [r"./my\ model"]
    assert offered(folder, *command, "nowhere/m") == []


def test_names_of_concepts_in_the_model(folder: Path) -> None:
    assert offered(folder, "suggest", r"my\ model", r"RED\ b") == [r"red\ bird", r"red\ boat"]
    assert offered(folder, "suggest", r"my\ model", '"red b') == ["red bird", "red boat"]
    assert offered(folder, "suggest", "more", "red") == []


def test_other_shells_get_names_as_they_are(folder: Path) -> None:
    shown = "".join(offered(folder, "suggest", "m", shell="zsh"))
    assert "my model" in shown
    assert "more/" in shown


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine")
def test_bash_itself(folder: Path) -> None:
    (folder / "bin").mkdir()
    program = folder / "bin" / "taxosphere"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m taxosphere "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    script = (
        "source <(_TAXOSPHERE_COMPLETE=source_bash taxosphere) || exit 1\n"
        'function=$(complete -p taxosphere | sed "s/.*-F \\([^ ]*\\) .*/\\1/")\n'
        'COMP_WORDS=(taxosphere suggest "my\\ model" "red\\ b"); COMP_CWORD=3\n'
        '"$function" taxosphere\n'
        "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert run.stdout.splitlines() == [r"red\ bird", r"red\ boat"], run.stderr
