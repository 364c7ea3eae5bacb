"""Processes that a disturbed service starts, forked from one that has imported what they need.

`serve` starts ``python -m taxosphere.service.…`` for its model and its jobs, which imports torch each time. In a warm
fork of the harness that command is replaced by a small client of the nursery: the nursery forks, the fork takes over
the client's standard streams, folder and environment and runs the module. The client stays, as the process that the
service waits for, asks to end or kills; whatever happens to it happens to the fork.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

_PARTS = "taxosphere.service."
_CLIENT = """
import json, os, select, signal, socket, sys
parent, link = os.getppid(), socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
signal.signal(signal.SIGTERM, lambda *_: link.send(b"T"))
signal.signal(signal.SIGINT, signal.SIG_IGN)
told = json.dumps([sys.argv[2], os.getcwd(), dict(os.environ), parent]).encode()
socket.send_fds(link, [len(told).to_bytes(4, "big")], [0, 1, 2])
link.sendall(told)
for number in (0, 1):
    os.close(number)
while os.getppid() == parent:
    if select.select([link], [], [], 0.5)[0]:
        code = link.recv(1)
        if code:
            os._exit(code[0])
        os.kill(os.getpid(), signal.SIGKILL)
"""


def use(address: str) -> None:
    """From now on this process starts parts of the service through the nursery that listens at ``address``."""

    class Popen(subprocess.Popen[Any]):
        def __init__(self, args: Sequence[str], **more: Any) -> None:
            if list(args[:2]) == [sys.executable, "-m"] and args[2].startswith(_PARTS):
                args = [sys.executable, "-ISE", "-c", _CLIENT, address, args[2]]
            super().__init__(args, **more)

    subprocess.Popen = Popen  # type: ignore[misc]


@contextmanager
def opened(folder: Path) -> Iterator[str]:
    """Start a nursery, a fork of this process, for as long as the block lasts; its address."""
    folder.mkdir(parents=True, exist_ok=True)
    address = str(folder / "nursery")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    pid = os.fork()
    if pid == 0:
        try:
            _serve(listener)
        finally:
            os._exit(1)
    listener.close()
    try:
        yield address
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _serve(listener: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    while True:
        link, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _take_over(link)
        link.close()


def _take_over(link: socket.socket) -> None:
    """Become what the client stands for; does not return."""
    code = 1
    try:
        size, streams, *_ = socket.recv_fds(link, 4, 3)
        told = b""
        while len(told) < int.from_bytes(size, "big"):
            told += link.recv(1 << 16)
        module, folder, environment, parent = json.loads(told)
        patch("os.getppid", return_value=parent).start()  # the client sees to it that the fork ends with the service
        os.setsid()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, "w" if n else "r", encoding="utf-8") for n in range(3))
        threading.Thread(target=_follow, args=(link,), daemon=True).start()
        importlib.import_module(module).main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        with suppress(OSError):
            link.send(bytes([code]))
        os._exit(code)


def _follow(link: socket.socket) -> None:
    """End when the client was asked to end, or is gone."""
    os.kill(os.getpid(), signal.SIGTERM if link.recv(1) else signal.SIGKILL)
