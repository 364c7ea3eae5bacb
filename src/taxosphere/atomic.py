"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from taxosphere.errors import InputError


def _beside(path: Path) -> Path:
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError("its folder does not exist, make it first", path)
    return parent


def _permissions(default: int) -> int:
    mask = os.umask(0)
    os.umask(mask)
    return default & ~mask


@contextmanager
def file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path that takes the place of ``path`` when the block ends well."""
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=_beside(target))
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(_permissions(0o666))  # mkstemp makes private files
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    with file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder that takes the place of ``path`` when the block ends well.

    A folder cannot be replaced in one system call: the old one is moved aside first and removed last, so a kill in
    between leaves the old content under ``.NAME.old`` and never a half-written mixture.
    """
    target = Path(path)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=_beside(target)))
    aside = target.absolute().parent / f".{target.name}.old"
    try:
        yield temporary
        temporary.chmod(_permissions(0o777))
        if target.exists():
            shutil.rmtree(aside, ignore_errors=True)
            target.rename(aside)
        temporary.rename(target)
        shutil.rmtree(aside, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
