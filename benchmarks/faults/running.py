"""Starting one command of the command line so that something can be done to it.

A warm process is a fork of the harness, which has imported the package: it calls the entry point of the command line
with its arguments, in a process, session and folder of its own. A cold one starts a new interpreter. Both can be given
limits before they begin, and both can be killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nursery

PATIENCE = 120.0  # seconds; a command that has done nothing for so long, or worked for longer, hangs
_PROGRESS = 0.5  # processor seconds in that time: what a process gets on a very busy machine
_DAC_OVERRIDE, _DAC_READ_SEARCH, _FOWNER = 1, 2, 3  # capabilities with which root ignores permissions
_CAPBSET_DROP = 24
_CAPABILITY_VERSION = 0x20080522
_CAPGET, _CAPSET = 125, 126  # numbers of the system calls on x86-64


def nothing() -> None:
    """No limit."""


def respect_permissions() -> None:
    """Take from root what lets it write where permissions forbid it; from anybody else there is nothing to take."""
    if os.geteuid():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()
    libc.syscall(_CAPGET, header, data)
    for capability in (_DAC_OVERRIDE, _DAC_READ_SEARCH, _FOWNER):
        libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)  # what a new interpreter may have
        for place in range(3):  # effective, permitted, inheritable
            data[place] &= ~(1 << capability)
    if libc.syscall(_CAPSET, header, data):
        raise OSError(ctypes.get_errno(), "cannot give up capabilities")


def limit_memory(more: int, *, whole: bool) -> None:
    """Limit the address space to ``more`` bytes, or where not ``whole`` to so many beyond what is used by now."""
    used = 0 if whole else int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))


@dataclass
class Running:
    """A command under way."""

    pid: int
    out: Path
    err: Path
    code: int | None = None
    cpu: float = 0.0
    hung: bool = False
    waited: float = 0.0
    used: float = 0.0
    looked: float = field(default_factory=time.monotonic)

    def cpu_so_far(self) -> float:
        """Processor seconds of all its threads."""
        total = 0
        with contextlib.suppress(OSError, IndexError):  # it may end while we look
            for thread in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
                total += int(thread.read_text().split()[0])
        return total / 1e9

    def poll(self) -> bool:
        """Has it ended?"""
        if self.code is None:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                self.cpu = used.ru_utime + used.ru_stime
                return True
            now = time.monotonic()
            self.waited += min(now - self.looked, 0.5)  # where all of us were suspended, it did not hang
            self.looked = now
            if self.waited > PATIENCE:
                used = self.cpu_so_far()
                self.hung = used - self.used < _PROGRESS or used > PATIENCE
                self.used, self.waited = used, 0.0
                if self.hung:
                    self.kill()
        return self.code is not None

    def wait(self) -> None:
        """Until it has ended, or hangs and is killed."""
        pause = 0.001
        while not self.poll():
            time.sleep(pause)
            pause = min(0.02, pause * 1.3)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send the process a signal, and wait where that ends it."""
        if self.code is None:
            os.kill(self.pid, number)
            if number == signal.SIGKILL:
                _, status, used = os.wait4(self.pid, 0)
                self.code, self.cpu = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime

    def end_group(self) -> None:
        """Kill what the command started and left behind."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def said(self) -> str:
        """What it wrote to stderr."""
        return self.err.read_text("utf-8", "replace")

    def printed(self) -> str:
        """What it wrote to stdout."""
        return self.out.read_text("utf-8", "replace")


def start(
    arguments: Sequence[str],
    place: Path,
    environment: dict[str, str],
    *,
    cold: bool = False,
    before: Callable[[], None] = nothing,
    name: str = "run",
    parts: str = "",
) -> Running:
    """Run ``taxosphere ARGUMENTS`` in the folder ``place``.

    Parameters
    ----------
    arguments : sequence of str
    place : Path
        Working folder.
    environment : dict of str to str
        Variables that are changed.
    cold : bool
        Whether a new interpreter is started.
    before : callable
        Called in the new process: limits.
    name : str
        Of the two files beside ``place`` that take stdout and stderr.
    parts : str
        Address of a nursery for the processes that the command starts, where it has no limits that they would inherit.
    """
    out, err = place.parent / f"{name}.out", place.parent / f"{name}.err"
    for path in (out, err):
        path.write_bytes(b"")
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return Running(pid, out, err)
    code = 70
    try:
        os.setsid()
        os.chdir(place)
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(environment)
        before()
        if cold:
            os.execv(sys.executable, [sys.executable, "-m", "taxosphere", *arguments])
        from taxosphere.cli import main

        if parts and before is nothing:
            nursery.use(parts)
        code = main(list(arguments))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        code = 1
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)


def warm_up() -> None:
    """Import in this process what the commands import, so that a fork of it begins at once."""
    import importlib

    from taxosphere import cli

    for name in ("fit", "suggest", "expand", "apply", "bench", "serve"):
        cli.load_command(name)
    for module in (
        "taxosphere.polaris",
        "taxosphere.evaluation.bench",
        "taxosphere.scale.stream",
        "taxosphere.service.model_answers",
        "taxosphere.service.server",
        "taxosphere.service.worker",
        "taxosphere.service.store_apply",
        "taxosphere.decisions.applying",
        "taxosphere.methods.registry",
        "taxosphere.report.bench_page",
        "alembic.command",
        "psycopg",
    ):
        importlib.import_module(module)
