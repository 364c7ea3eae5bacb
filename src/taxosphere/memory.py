"""How much memory is free, a refusal before work begins that would need more, and the use of freed memory again."""

from __future__ import annotations

import ctypes
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from taxosphere.errors import InputError

_MEMINFO = Path("/proc/meminfo")
_STATUS = Path("/proc/self/status")
_GROUPS = Path("/proc/self/cgroup")
_CGROUP = Path("/sys/fs/cgroup")
# By the name in _GROUPS, that of version 2 being empty: folder below _CGROUP, file of the limit, file of what is used.
_LIMIT_FILES = {
    "": ("", "memory.max", "memory.current"),
    "memory": ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
}
_UNIT = 1 << 30
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # settings of glibc's mallopt
_USUAL = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 64 << 20}  # bytes; what glibc itself goes up to


def available() -> int | None:
    """Bytes this process can still take: the least of what is free, its own limit, and that of its container.

    Returns
    -------
    int or None
        None where the system does not say.
    """
    limits = [_entry(_MEMINFO, "MemAvailable:"), _of_process(), _of_container()]
    return min((limit for limit in limits if limit is not None), default=None)


def require(needed: float, what: str, advice: str, *, mapped: bool = False) -> None:
    """Raise `InputError` where the memory is not there.

    Parameters
    ----------
    needed : float
        Bytes.
    what : str
        What needs them, as the subject of a sentence.
    advice : str
        What to change.
    mapped : bool
        Whether it is files that are mapped and not read: only the limit of the address space counts for them.

    Raises
    ------
    InputError
        One line that says how much is needed, how much is there, and what to change.
    """
    free = _of_process() if mapped else available()
    if free is not None and needed > free:
        raise InputError(
            f"{what} needs about {needed / _UNIT:.1f} GB of memory, {free / _UNIT:.1f} GB are free; {advice}"
        )


@contextmanager
def reused() -> Iterator[None]:
    """Within it, large blocks of memory that were freed are used again; in the end they go back to the system.

    Otherwise every large array comes from the system anew, which clears all its pages first. Where the C library is
    not glibc nothing changes.
    """
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        yield
        return
    try:
        for setting in _USUAL:
            library.mallopt(setting, _UNIT)
        yield
    finally:
        for setting, size in _USUAL.items():
            library.mallopt(setting, size)
        library.malloc_trim(0)


def _entry(file: Path, name: str) -> int | None:
    """Bytes that a line ``name: N kB`` of a file in /proc says."""
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(name)), None)


def _of_process() -> int | None:
    """What the limit of the address space (``ulimit -v``) leaves."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else max(0, limit - (_entry(_STATUS, "VmSize:") or 0))


def _of_container() -> int | None:
    """What the memory limits of the control groups leave that the process is in."""
    try:
        lines = _GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    left = []
    for controller, path in (line.split(":", 2)[1:] for line in lines):
        if controller in _LIMIT_FILES:
            mount, limit, used = _LIMIT_FILES[controller]
            group = PurePosixPath(path)  # the limits of the groups around it hold too
            left += [_of_group(_CGROUP / mount / str(part)[1:], limit, used) for part in (group, *group.parents)]
    return min((room for room in left if room is not None), default=None)


def _of_group(folder: Path, limit: str, used: str) -> int | None:
    """What the limit of a control group leaves; None without one. Pages of files do not count: they can be dropped."""
    try:
        most, taken = (int((folder / name).read_text(encoding="ascii")) for name in (limit, used))
        entries = dict(line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines())
    except (OSError, ValueError):  # not there, or "max"
        return None
    pages = sum(int(entries.get(f"total_{kind}", entries.get(kind, 0))) for kind in ("inactive_file", "active_file"))
    return max(0, most - taken + pages)
