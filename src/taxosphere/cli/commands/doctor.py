"""taxosphere doctor: is everything here that the other commands need, and what to do where it is not?"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import typer

from taxosphere.cli import output

_ENOUGH_MEMORY = 2.0  # GB: a taxonomy of ten thousand concepts is fitted in less
_ENOUGH_DISK = 1.0  # GB
_EXTRAS = {
    "train": ("torch", "transformers", "safetensors", "pydantic"),
    "rdf": ("pyoxigraph",),
    "frames": ("networkx", "pandas"),
    "images": ("PIL",),
    "demo": ("edam_ontology",),
    "serve": ("fastapi", "uvicorn", "sqlalchemy", "alembic"),
    "sheets": ("python_calamine", "openpyxl"),
    "parquet": ("pyarrow",),
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    good: bool
    state: str
    advice: str = ""


def doctor(
    port: int = typer.Option(8000, min=1, max=65535, help="Port that 'taxosphere serve' would use."),
    json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Look at versions, extras, encoder, cache, memory, disk and port, and say what to do where something is missing.

    Exits with 1 where the main job (fit, suggest, expand) cannot run.

    Example: taxosphere doctor
    """
    findings = [
        *_versions(),
        *_extras(),
        _encoder(),
        _cache(),
        _memory(),
        _disk(Path.cwd()),
        _port(port),
    ]
    if json:
        output.document({"findings": [asdict(finding) for finding in findings]})
    else:
        rows = [(f.name, "ok" if f.good else "look", f.state, f.advice) for f in findings]
        output.table(("what", "", "state", "what to do"), rows)
    needed = ("Python", "extra train", "encoder minilm", "cache")
    if not all(finding.good for finding in findings if finding.name in needed):
        raise typer.Exit(1)


def _versions() -> Iterator[Finding]:
    new_enough = sys.version_info >= (3, 11)
    advice = "" if new_enough else "install Python 3.11 or newer"
    yield Finding("Python", new_enough, f"{platform.python_version()} on {platform.system()}", advice)
    for name in ("taxosphere", "torch", "transformers", "numpy"):
        try:
            yield Finding(name, True, version(name))
        except PackageNotFoundError:
            yield Finding(name, name == "taxosphere", "not installed", "" if name == "taxosphere" else _pip("train"))


def _extras() -> Iterator[Finding]:
    for extra, modules in _EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        state = "installed" if not missing else f"without {', '.join(missing)}"
        yield Finding(f"extra {extra}", not missing, state, "" if not missing else _pip(extra))


def _pip(extra: str) -> str:
    return f"pip install 'taxosphere[{extra}]'"


def _encoder() -> Finding:
    def state() -> str:
        from taxosphere.encoders import weights

        where = weights.locate(weights.PACKAGED)
        weights.verify(where)
        return "weights are there and whole"

    return _tried("encoder minilm", state, _pip("train"))


def _cache() -> Finding:
    def state() -> str:
        from taxosphere.encoders.cache import default_folder

        folder = default_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            return str(folder)

    return _tried("cache", state, "set TAXOSPHERE_CACHE to a folder that can be written to")


def _tried(name: str, state: Callable[[], str], advice: str) -> Finding:
    try:
        return Finding(name, True, state())
    except Exception as error:  # whatever is wrong here is what the user came to hear
        return Finding(name, False, " ".join(str(error).split()) or type(error).__name__, advice)


def _memory() -> Finding:
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    except (AttributeError, ValueError, OSError):
        return Finding("memory", True, "cannot be told on this system")
    good = free >= _ENOUGH_MEMORY
    return Finding("memory", good, f"{free:.1f} GB free", "" if good else "close other programs before a fit")


def _disk(place: Path) -> Finding:
    free = shutil.disk_usage(place).free / 1e9
    good = free >= _ENOUGH_DISK and os.access(place, os.W_OK)
    state = f"{free:.1f} GB free here" if os.access(place, os.W_OK) else "this folder cannot be written to"
    return Finding("disk", good, state, "" if good else "work in another folder, or free some space")


def _port(port: int) -> Finding:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return Finding(f"port {port}", False, "in use", "choose another with 'taxosphere serve --port'")
    return Finding(f"port {port}", True, "free")
