"""A port that nobody else is given between being found and being listened on."""

from __future__ import annotations

import socket


def reserve_port() -> tuple[int, socket.socket]:
    """A free port of 127.0.0.1 and the socket that keeps it until it is closed.

    The system gives a bound port to nobody who asks for any port. A server that names it may listen there all the same:
    both sockets allow the address to be used again (SO_REUSEADDR), and this one does not listen.
    """
    keeper = socket.socket()
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind(("127.0.0.1", 0))
    return int(keeper.getsockname()[1]), keeper
