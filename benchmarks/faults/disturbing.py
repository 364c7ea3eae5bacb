"""The faults: each disturbs one command in its sandbox, and says what it did."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import lost
import running
import sandbox
from running import Running
from sandbox import Command

NEED_KB = {"fit": 900, "suggest": 120, "expand": 60, "apply": 160, "bench": 400, "serve": 200}  # on the disk
NEED_MB = {"fit": 260, "suggest": 200, "expand": 200, "apply": 30, "bench": 160, "serve": 160}  # of address space
WHOLE_MB = {"fit": 2200, "suggest": 2200, "expand": 2200, "apply": 260, "bench": 1600, "serve": 900}  # when cold


@dataclass
class Case:
    """One command to be disturbed.

    Parameters
    ----------
    command : Command
    place : Path
        Its sandbox.
    chance : random.Random
        Draws everything that is left to chance.
    seconds : float
        Processor seconds of an undisturbed run.
    cold : bool
        Whether it runs in a new interpreter.
    url : str
        A database on a server in place of the file.
    parts : str
        Address of a nursery.
    """

    command: Command
    place: Path
    chance: random.Random
    seconds: float
    cold: bool = False
    url: str = ""
    parts: str = ""

    def start(
        self, *more: str, before: Callable[[], None] = running.nothing, name: str = "run", place: Path | None = None
    ) -> Running:
        """Begin the command."""
        place = place or self.place
        stated = (self.url if self.url and word == sandbox.DATABASE else word for word in self.command.arguments)
        arguments = (*stated, *more)
        given = sandbox.environment(place)
        return running.start(arguments, place, given, cold=self.cold, before=before, name=name, parts=self.parts)


def until_moment(command: Running, seconds: float) -> bool:
    """Wait until a command has used so much processor time; False where it has ended before."""
    while not command.poll():
        if command.cpu_so_far() >= seconds:
            return True
        time.sleep(0.001)
    return False


def moment(case: Case) -> float:
    """A random moment of the run, in processor seconds."""
    start = 2.5 if case.cold and case.command.name != "apply" else 0.0
    return case.chance.uniform(0.0, start + 1.02 * case.seconds)


# -- faults -----------------------------------------------------------------------------------------------------------


def kill(case: Case) -> tuple[Running, str]:
    """SIGKILL at a random moment."""
    wanted = moment(case)
    command = case.start()
    if until_moment(command, wanted):
        command.kill()
        return command, f"killed after {wanted:.2f} CPU s"
    return command, "ended before it was killed"


def full_disk(case: Case) -> tuple[Running, str]:
    """One of the folders it writes to has little room left."""
    victim = case.chance.choice((*case.command.writes, "tmp"))
    room = int(case.chance.uniform(0, 1.2) * NEED_KB[case.command.name])
    with small_disk(case.place / victim, room):
        command = case.start()
        command.wait()
    return command, f"{room} kB left for {victim}"


@contextmanager
def small_disk(folder: Path, room: int) -> Iterator[None]:
    """Put a file system with ``room`` kilobytes of free space in the place of a folder, with its content."""
    aside = folder.with_name(f"{folder.name}.aside")
    folder.rename(aside)
    folder.mkdir()
    pages = sum((path.stat().st_size + 4095) // 4096 + 1 for path in aside.rglob("*")) + 4
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={4 * pages + room}k", "tmpfs", str(folder)], check=True)
    try:
        shutil.copytree(aside, folder, dirs_exist_ok=True)
        yield
    finally:
        back = folder.with_name(f"{folder.name}.back")
        shutil.copytree(folder, back)
        unmount(folder)
        folder.rmdir()
        back.rename(folder)
        shutil.rmtree(aside)


def unmount(folder: Path) -> None:
    """Take a file system away, once nobody uses it."""
    for _ in range(100):
        if subprocess.run(["umount", str(folder)], capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.05)
    raise SystemExit(f"{folder} is still in use")


def read_only(case: Case) -> tuple[Running, str]:
    """One of the folders it writes to may not be written to, by its permissions or its file system."""
    victim = case.chance.choice((*case.command.writes, "tmp"))
    by = case.chance.choice(("permissions", "file system"))
    with locked(case.place / victim, by):
        command = case.start(before=running.respect_permissions)
        command.wait()
    return command, f"{victim} read-only by {by}"


@contextmanager
def locked(folder: Path, by: str) -> Iterator[None]:
    """A folder that cannot be written to."""
    inside = [folder, *folder.rglob("*")]
    if by == "permissions":
        modes = {path: path.stat().st_mode for path in inside}
        for path in inside:
            path.chmod(0o555 if path.is_dir() else 0o444)
    else:
        subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
    try:
        yield
    finally:
        if by == "permissions":
            for path, mode in modes.items():
                with suppress(FileNotFoundError):
                    path.chmod(mode)
        else:
            unmount(folder)


JUMPS = (-4000 * 86400, -400 * 86400, -7200, -61, 61, 7200, 400 * 86400, 4000 * 86400)  # seconds


def set_clock(seconds: int) -> None:
    """Move the clock of this process and of those it starts, where `clock.c` is loaded."""
    with Path(os.environ["CLOCK_OFFSET"]).open("r+b") as handle:  # the same file: it is mapped into memory
        handle.write(seconds.to_bytes(8, "little", signed=True))


def clock(case: Case) -> tuple[Running, str]:
    """The clock jumps at a random moment; in the process that `faults.py` starts for it."""
    jump, wanted = case.chance.choice(JUMPS), moment(case)
    set_clock(0)
    command = case.start()
    happened = until_moment(command, wanted)
    set_clock(jump)
    command.wait()
    set_clock(0)
    return command, f"clock {jump:+} s after {wanted:.2f} CPU s" if happened else "ended before the clock jumped"


def damage(path: Path, chance: random.Random, *, removable: bool = True) -> str:
    """Cut a file off, flip bits in it, overwrite a part with zeros, or, where it is ``removable``, remove it."""
    content = bytearray(path.read_bytes())
    kinds = ("cut off", "bits flipped", "bits flipped", "bits flipped", "zeros", "removed")
    kind = chance.choice(kinds if removable else kinds[:-1])
    if kind == "removed":
        path.unlink()
        return f"{path.name} removed"
    at = chance.randrange(len(content)) if content else 0
    if kind == "cut off":
        del content[at:]
    elif kind == "zeros":
        content[at : at + 4096] = bytes(len(content[at : at + 4096]))
    else:
        for _ in range(chance.choice((1, 1, 8, 100)) if content else 0):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    return f"{path.name}: {kind} at {at}"


def damaged_model(case: Case) -> tuple[Running, str]:
    """A file of the model that it reads is damaged."""
    return damaged(case, "model")


def damaged_cache(case: Case) -> tuple[Running, str]:
    """The cache of vectors is damaged."""
    return damaged(case, "cache")


def damaged_database(case: Case) -> tuple[Running, str]:
    """The database of decisions is damaged."""
    return damaged(case, "db")


def damaged(case: Case, folder: str) -> tuple[Running, str]:
    """A file in ``folder`` is damaged; what was refused is brought back after the run, a cache stays damaged."""
    files = sorted(path for path in (case.place / folder).rglob("*") if path.is_file())
    kept = case.place.parent / "kept"
    shutil.copytree(case.place / folder, kept)
    what = damage(case.chance.choice(files), case.chance, removable=folder != "db")
    command = case.start()
    command.wait()
    if folder == "model" or (folder == "db" and command.code != 0):
        shutil.rmtree(case.place / folder)
        shutil.copytree(kept, case.place / folder)
    shutil.rmtree(kept)
    return command, what


def damaged_leftovers(case: Case) -> tuple[Running, str]:
    """It was killed, what it left to go on from is damaged, and it is asked to go on."""
    before = set((case.place / "out").rglob("*"))
    first = case.start()
    if until_moment(first, case.chance.uniform(0.3, 1.0) * case.seconds):
        first.kill()
    left = sorted(path for path in set((case.place / "out").rglob("*")) - before if path.is_file())
    what = damage(case.chance.choice(left), case.chance) if left else "nothing was left"
    command = case.start(*(("--resume",) if case.command.resumable else ()))
    command.wait()
    if command.code == 2 and not case.command.resumable:
        shutil.rmtree(case.place / "out" / "bench")  # as the message says
    return command, what


def shared_cache(case: Case) -> tuple[Running, str]:
    """Another process works with the same cache at the same time, in which vectors are missing."""
    sandbox.forget_vectors(case.place, 12, case.chance)
    other = case.place.parent / "other"
    shutil.copytree(case.place, other)
    shutil.rmtree(other / "cache")
    (other / "cache").symlink_to(case.place / "cache")
    beside = case.start(place=other, name="beside")
    until_moment(beside, case.chance.uniform(0, 0.5 * case.seconds))
    command = case.start()
    command.wait()
    beside.wait()
    problem = "" if beside.code == 0 else f"; the other ended with {beside.code}: {beside.said()[-300:]}"
    shutil.rmtree(other)
    if problem:
        command.code = 99
    return command, f"two processes{problem}"


def lost_connection(case: Case) -> tuple[Running, str]:
    """The server of the database ends the connections at a random moment, or kills the process that serves one."""
    wanted, how = moment(case), case.chance.choice(lost.WAYS)
    command = case.start()
    happened = until_moment(command, wanted)
    ended = lost.end_connections(case.url, how)
    command.wait()
    lost.wait_for_server(case.url)
    return command, f"{ended} connections {how} after {wanted:.2f} CPU s" if happened else "ended before"


def lost_worker(case: Case) -> tuple[Running, str]:
    """One of two worker processes is killed at a random moment of its work."""
    command = case.start("--workers", "2")
    pause = case.chance.uniform(0.0, 6.0)
    until = time.monotonic() + pause
    while time.monotonic() < until and not command.poll():
        time.sleep(0.01)
    workers = lost.workers_of(command.pid)
    if workers:
        os.kill(case.chance.choice(workers), signal.SIGKILL)
    command.wait()
    return command, f"one of {len(workers)} workers killed after {pause:.1f} s"


def lost_dask_worker(case: Case) -> tuple[Running, str]:
    """One of two workers of a dask cluster is killed at a random moment."""
    with lost.dask_cluster(case.place.parent) as (address, workers):
        command = case.start("--scheduler", address)
        pause = case.chance.uniform(0.5, 6.0)
        until = time.monotonic() + pause
        while time.monotonic() < until and not command.poll():
            time.sleep(0.01)
        os.kill(case.chance.choice(workers), signal.SIGKILL)
        command.wait()
    return command, f"one of {len(workers)} workers killed after {pause:.1f} s"


def little_memory(case: Case) -> tuple[Running, str]:
    """The address space is limited."""
    name = case.command.name
    share = case.chance.random()
    megabytes = int(share * (WHOLE_MB if case.cold else NEED_MB)[name]) + (80 if case.cold else 0)
    command = case.start(before=partial(running.limit_memory, megabytes << 20, whole=case.cold))
    command.wait()
    return command, f"{megabytes} MB {'in all' if case.cold else 'more'}"


FAULTS: dict[str, Callable[[Case], tuple[Running, str]]] = {
    "SIGKILL": kill,
    "full disk": full_disk,
    "read-only folder": read_only,
    "clock jumps": clock,
    "damaged model": damaged_model,
    "damaged cache": damaged_cache,
    "damaged database": damaged_database,
    "damaged leftovers": damaged_leftovers,
    "two processes, one cache": shared_cache,
    "little memory": little_memory,
    "worker process vanishes": lost_worker,
    "dask worker vanishes": lost_dask_worker,
    "connection vanishes": lost_connection,
}
