"""Running the workbench: one process that serves, one beside it that does the jobs."""

from __future__ import annotations

import getpass
import ipaddress
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from taxosphere.errors import InputError
from taxosphere.service.app import make_app
from taxosphere.service.auth import Access, TokenHash, local_token, read_tokens
from taxosphere.service.live import Hub
from taxosphere.service.store_access import Person, sha256
from taxosphere.service.workbench import Setup, Workbench

_LOG = logging.getLogger("taxosphere")
_CONNECTIONS = 2000
_BACKLOG = 512
_PATIENCE = 30.0  # seconds; a worker that ends sooner than this is not started again at once


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the service listens and whom it answers.

    Parameters
    ----------
    host, port
        Interface and port; port 0 takes any that is free.
    tokens
        File of tokens, needed beyond the loopback interface.
    allowed_hosts
        Further names in a Host header, such as that of a reverse proxy.
    reconciliation
        Whether ``/reconcile`` answers everybody.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    tokens: Path | None = None
    allowed_hosts: tuple[str, ...] = ()
    reconciliation: bool = True


def is_loopback(host: str) -> bool:
    """Is it an address that only this machine reaches?"""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check(listening: Listening) -> list[TokenHash]:
    """The tokens to accept.

    Raises
    ------
    InputError
        Where another host than the loopback interface is to be served without tokens.
    """
    if listening.tokens is not None:
        return read_tokens(listening.tokens)
    if not is_loopback(listening.host):
        raise InputError(f"--host {listening.host} is reached by others: name who may come in with --tokens FILE")
    return []


def bind(listening: Listening) -> socket.socket:
    """A socket that listens on the wanted port; `InputError` where it is taken or not ours."""
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((listening.host.strip("[]"), listening.port))
        opened.listen(_BACKLOG)  # from now on a browser waits for the first answer in place of being refused
    except OSError as error:
        opened.close()
        reason = error.strerror or "cannot be used"
        raise InputError(f"port {listening.port} on {listening.host}: {reason}; choose another with --port") from None
    return opened


class _Server(uvicorn.Server):
    """Ends the streams of events of open pages before it waits for requests to end, so that none has to be cut off."""

    def __init__(self, config: uvicorn.Config, hub: Hub) -> None:
        super().__init__(config)
        self._hub = hub

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hub.dismiss()
        await super().shutdown(sockets)


@dataclass(frozen=True, slots=True)
class Service:
    """A workbench that is about to be served: its address, the link that opens it, and how to run it."""

    workbench: Workbench
    socket: socket.socket
    address: str
    link: str
    server: uvicorn.Server

    def run(self) -> None:
        """Serve until the process is asked to end."""
        worker = Worker(self.workbench.setup)
        worker.start()
        try:
            self.server.run(sockets=[self.socket])
        finally:
            worker.stop()


def prepare(setup: Setup, listening: Listening) -> Service:
    """Open everything that a service needs, so that what is wrong is said before it runs.

    Raises
    ------
    InputError
        Where the host needs tokens, the port is taken, or the model or database cannot be used.
    """
    tokens = check(listening)
    opened = bind(listening)
    try:
        workbench = Workbench(setup)
    except BaseException:
        opened.close()
        raise
    port = opened.getsockname()[1]
    address = f"http://{listening.host}:{port}" if ":" not in listening.host else f"http://[{listening.host}]:{port}"
    link = address + "/"
    if is_loopback(listening.host) and not tokens:
        person = Person(user_name(), "admin")
        tokens = [TokenHash(person, sha256(local_token(setup.token)))]
        access = Access(workbench.store, tokens)
        link = f"{address}/?token={access.one_time_link(person)}"
    else:
        access = Access(workbench.store, tokens)
    hosts = (listening.host, *listening.allowed_hosts)
    app = make_app(workbench, access, hosts, with_reconciliation=listening.reconciliation)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # addresses may hold secrets
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        backlog=_BACKLOG,
        timeout_keep_alive=65,
        timeout_graceful_shutdown=3,
        proxy_headers=False,
        ws="none",
    )
    return Service(workbench, opened, address, link, _Server(config, workbench.hub))


def user_name() -> str:
    """Name of this machine's user, as decisions state it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "curator"


class Worker:
    """Keeps a worker process running: one that has done its jobs, or was killed, is followed by another.

    Parameters
    ----------
    setup
        The workbench that the jobs are for.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="worker", daemon=True)

    def start(self) -> None:
        """Start the first one."""
        self._thread.start()

    def stop(self) -> None:
        """End the process; a job it was doing is begun again at the next start."""
        self._stopped.set()
        if self._process is not None:
            self._process.terminate()
        self._thread.join(5)

    def _keep(self) -> None:
        while not self._stopped.is_set():
            began = time.monotonic()
            self._process = self._begin()
            code = self._process.wait()
            if code < 0:  # a signal, which may have been meant for the service too
                self._stopped.wait(1.0)
            if code not in (0, 3) and not self._stopped.is_set():
                _LOG.warning("the worker ended with code %s and is started again", code)
                self._stopped.wait(max(0.0, _PATIENCE - (time.monotonic() - began)))

    def _begin(self) -> subprocess.Popen[bytes]:
        setup = self._setup
        stated = {"url": setup.url, "model": str(setup.model), "folder": str(setup.folder), "parent": os.getpid()}
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "taxosphere.service.worker"], stdin=subprocess.PIPE, env=environment
        )
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(stated).encode() + b"\n")
            process.stdin.close()
        except BrokenPipeError:
            _LOG.warning("the worker ended before it was told what to do")
        return process
