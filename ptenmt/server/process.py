"""The process: a socket, signals, and an end in order."""

import ipaddress
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from ptenmt.errors import ServerError
from ptenmt.server.connections import PatientConnection

DRAIN_SECONDS = 6
"""For what is being answered when the server is told to end; a batch that is begun may take some more."""
_KEEP_ALIVE_SECONDS = 30
_BACKLOG = 2048


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket of an address.

    Args:
        host: A name or an address of this machine.
        port: 0: any that is free.

    Raises:
        ServerError: It cannot be had.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ServerError(
            f"cannot listen at {host}, port {port}: {reason}",
            "choose another port with --port, or an address of this machine with --host",
        ) from error


def address_of(bound: socket.socket) -> str:
    """What to call a socket's server with."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(bound: socket.socket) -> bool:
    """Whether only this machine reaches a socket."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def make_server(
    app: ASGIApp, *, is_verbose: bool, on_start: Callable[[], None] = lambda: None
) -> uvicorn.Server:
    """A server that drops who is too slow, and ends in order.

    Args:
        app: What answers.
        is_verbose: Whether each request is logged; otherwise only our own faults are, or clients could fill
            a disk with theirs.
        on_start: Called once it answers.
    """
    if not is_verbose:
        logging.getLogger("python_multipart").setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http=PatientConnection,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level=None if is_verbose else "error",
        access_log=is_verbose,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        backlog=_BACKLOG,
    )
    return _Server(config, on_start)


def run(server: uvicorn.Server, bound: socket.socket) -> None:
    """Answer until SIGTERM or SIGINT; then finish what has been begun, and return."""
    with _signals_left_to(server):
        server.run(sockets=[bound])


class _Server(uvicorn.Server):
    """Tells when it answers."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()


@contextmanager
def _signals_left_to(server: uvicorn.Server) -> Iterator[None]:
    """Let signals end the server, and nothing else: uvicorn raises them anew when it has ended."""

    def end(_number: int, _frame: Any) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
