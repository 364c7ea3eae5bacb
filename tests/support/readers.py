"""Other people's readers (oaklib, sssom-py), which live in an environment of their own."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest


def program(name: str) -> Path:
    """A program of that environment; the test is skipped where it is missing."""
    named = os.environ.get("TAXOSPHERE_READERS")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / ".readers"
    _wait_for_installation(folder)
    found = folder / "bin" / name
    if not found.is_file():
        pytest.skip("oaklib and sssom-py are not here ('./run readers' installs them, or set TAXOSPHERE_READERS)")
    return found


def _wait_for_installation(folder: Path) -> None:
    """'./run test' installs them while the other tests run; the file `installing` holds the number of that process."""
    mark = folder / "installing"
    while mark.is_file():
        number = mark.read_text().strip()
        if not number.isdecimal() or not Path(f"/proc/{number}").exists():
            return
        time.sleep(1)


def run(name: str, *arguments: str | Path) -> str:
    """What the program prints; an error of it fails the test."""
    done = subprocess.run(
        [program(name), *map(str, arguments)], capture_output=True, text=True, check=False, env=_environment()
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
