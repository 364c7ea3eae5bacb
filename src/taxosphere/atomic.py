"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from taxosphere.errors import InputError

T = TypeVar("T")

_HERE = -100  # AT_FDCWD of Linux: names are looked up from the working folder
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux


def refuse_file(path: str | os.PathLike[str]) -> None:
    """What would stop `file` later, said before any work is done."""
    if _kind(path) == stat.S_IFDIR:
        raise InputError("is a folder; name a file", path)
    if _kind(path) == stat.S_IFREG and _is_output(path):
        raise InputError("is where the output of this command goes; name another file", path)
    _refuse(path, replaced=not _is_special(path))


def refuse_folder(path: str | os.PathLike[str]) -> None:
    """What would stop `folder` later, said before any work is done."""
    if _kind(path) not in (None, stat.S_IFDIR):
        raise InputError("exists and is no folder; choose another name", path)
    _refuse(path, replaced=True)


def _refuse(path: str | os.PathLike[str], *, replaced: bool) -> None:
    parent = _followed(path).parent
    if replaced and _kind(parent) != stat.S_IFDIR:
        raise InputError("its folder does not exist, make it first", path)
    _refuse_locked(parent if replaced else path, path)


def refuse_place(folder: str | os.PathLike[str], path: str | os.PathLike[str] | None = None) -> None:
    """The same for files in a folder that is made where it is missing; ``path`` is the name to say, if not its own."""
    target = Path(folder).absolute()
    there = next(place for place in (target, *target.parents) if _kind(place) is not None)
    if _kind(there) != stat.S_IFDIR:
        raise InputError(f"{'it' if there == target else there} is no folder; choose another name", path or folder)
    _refuse_locked(there, path or folder)


def _refuse_locked(place: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    if not os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise InputError("no permission to write it", path)


def _is_special(path: str | os.PathLike[str]) -> bool:
    """A pipe or a device: it can be written to, but not be replaced."""
    return _kind(path) not in (None, stat.S_IFREG, stat.S_IFDIR)


def _is_output(path: str | os.PathLike[str]) -> bool:
    """Does stdout or stderr go there? What replaced such a file would take its content along."""
    for stream in (1, 2):
        try:
            if os.path.samestat(os.fstat(stream), Path(path).stat()):
                return True
        except OSError:  # a closed one
            continue
    return False


def _kind(path: str | os.PathLike[str]) -> int | None:
    """Where links lead: a file, a folder, a device …; None where nothing can be seen."""
    try:
        return stat.S_IFMT(Path(path).stat().st_mode)
    except OSError:
        return None


def _followed(path: str | os.PathLike[str]) -> Path:
    """Links stay; what they point at is replaced."""
    return Path(os.path.realpath(path))


def _made(make: Callable[..., T], path: str | os.PathLike[str], target: Path) -> T:
    try:
        return make(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:  # which names the temporary, unknown to the user
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _permissions(default: int) -> int:
    mask = os.umask(0)
    os.umask(mask)
    return default & ~mask


@contextmanager
def file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path that takes the place of ``path`` when the block ends well.

    A file that is replaced passes its mode on. A pipe or a device is yielded itself.
    """
    refuse_file(path)
    if _is_special(path):
        yield Path(path)
        return
    target = _followed(path)
    handle, name = _made(tempfile.mkstemp, path, target)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _permissions(0o666)
        temporary.chmod(mode)  # mkstemp makes private files
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    with file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder that takes the place of ``path`` when the block ends well.

    Where the system can exchange two names in one call (Linux), there is a whole folder under this name at every
    moment. Elsewhere the old one is moved aside first and removed last: a kill in between leaves the old content under
    ``.NAME.old`` and never a half-written mixture.
    """
    refuse_folder(path)
    target = _followed(path)
    temporary = Path(_made(tempfile.mkdtemp, path, target))
    aside = target.parent / f".{target.name}.old"
    try:
        yield temporary
        for place in (temporary, *temporary.rglob("*")):  # some libraries write private files
            place.chmod(_permissions(0o777 if place.is_dir() else 0o666))
        if target.exists() and _exchanged(temporary, target):
            return
        if target.exists():
            shutil.rmtree(aside, ignore_errors=True)
            target.rename(aside)
        temporary.rename(target)
        shutil.rmtree(aside, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Give two folders each other's name in one system call; False where the system or the file system has none."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):  # an older C library, another system, Windows
        return False
    names = (os.fsencode(one), os.fsencode(other))
    return bool(rename(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0)


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name ``path`` in errors of the operating system that name no file, such as those of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename is not None and error.errno != errno.ENOSPC):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
