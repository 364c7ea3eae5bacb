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

import taxosphere
from taxosphere.cli import output
from taxosphere.errors import EXTRAS

_ENOUGH_MEMORY = 2.0  # GB: a taxonomy of ten thousand concepts is fitted in less
_ENOUGH_DISK = 1.0  # GB
_MODEL = "model"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    good: bool
    state: str
    advice: str = ""


def doctor(
    model: Path | None = typer.Option(None, "--model", help="Model folder to check."),
    port: int = typer.Option(8000, min=1, max=65535, help="Port that 'taxosphere serve' would use."),
    json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Look at versions, extras, encoder, cache, memory, disk, permissions, port and a model, and say what to do.

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
        _writing(Path.cwd()),
        _page(),
        _port(port),
        *([_model(model)] if model is not None else []),
    ]
    if json:
        output.document({"findings": [asdict(finding) for finding in findings]})
    else:
        rows = [(f.name, "ok" if f.good else "look", f.state, f.advice) for f in findings]
        output.table(("what", "", "state", "what to do"), rows)
    needed = ("Python", "extra train", "encoder minilm", "cache", _MODEL)
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
    for extra, modules in EXTRAS.items():
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
    good = free >= _ENOUGH_DISK
    return Finding("disk", good, f"{free:.1f} GB free here", "" if good else "free some space, or work on another disk")


def _writing(place: Path) -> Finding:
    def state() -> str:
        with tempfile.NamedTemporaryFile(dir=place):
            return f"{place} can be written to"

    return _tried("write permission", state, "work in a folder of your own: models and tables are written beside you")


def _page() -> Finding:
    there = (Path(taxosphere.__file__).parent / "service" / "page" / "index.html").is_file()
    advice = "" if there else "install a released wheel, or run './run web' in a checkout; the REST API works without"
    return Finding("page of the workbench", there, "is there" if there else "is not built", advice)


def _port(port: int) -> Finding:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return Finding(f"port {port}", False, "in use", "choose another with 'taxosphere serve --port'")
    return Finding(f"port {port}", True, "free")


def _model(folder: Path) -> Finding:
    def state() -> str:
        from taxosphere import artifact

        manifest = artifact.read_manifest(folder)
        artifact.check_files(folder, manifest).refuse_damage(wait=True)
        return f"{folder}: {len(manifest['files'])} files are whole"

    return _tried(_MODEL, state, "fit the model again, or copy its folder again")
