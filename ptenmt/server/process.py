"""The server process: socket, uvicorn, signals, log."""

import asyncio
import ipaddress
import logging
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from traceback import format_tb
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from ptenmt.errors import ServerError
from ptenmt.server.application import make_app
from ptenmt.server.service import Service
from ptenmt.signals import handle_server_signals

SHUTDOWN_SECONDS = 6
"""To finish the requests in progress when the server stops."""
UNREAD_SECONDS = 30
"""A client that does not read its response for so long is disconnected by the kernel."""
MAX_WAITING_BYTES = 200_000
"""Of pipelined requests, more than a header may have; nothing is read while more wait."""
_KEEP_ALIVE_SECONDS = 30
_BACKLOG = 2048
_MAX_HEADER_BYTES = 100_000
_NO_KEY = (
    "no API key is required (--keys is not given): any client that can reach {} can use this server; require "
    "keys, or put it behind a reverse proxy that authenticates (docs/serving.md)"
)
logger = logging.getLogger("ptenmt.server")


def serve(
    service: Service,
    *,
    host: str,
    port: int,
    origins: Sequence[str] = (),
    prefix: str = "",
    on_start: Callable[[str], None],
    on_warning: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT; then finish the requests in progress, and return.

    After SIGHUP, keys and models are loaded again, and replace those in use. For ``origins`` see
    ``make_app``; ``port`` may be 0, for any free one; ``prefix`` is the path below which clients see the
    server, such as ``/pt``. ``on_start`` is called with the URL once it accepts requests, ``on_warning`` if
    others can use it without a key.

    Raises:
        PtenmtError: An origin is invalid, a model cannot be loaded, or the address cannot be had.
    """
    app = make_app(service, origins)
    bound = bound_socket(host, port)
    url, is_loopback = address_of(bound)
    if not is_loopback and not service.keys.are_required:
        on_warning(_NO_KEY.format(url))
    service.models.load()
    server = make_server(app, service.limits.connections, prefix)
    # uvicorn raises the signals again once it has stopped; with these handlers, they do not end the process.
    reload = partial(service.reload, on_warning)
    handle_server_signals(
        lambda: setattr(server, "should_exit", True), lambda: threading.Thread(target=reload).start()
    )
    on_start(url)
    server.run(sockets=[bound])


class LogFormatter(logging.Formatter):
    """Records as lines of text; of exceptions the kind and place, as messages may quote a text."""

    def __init__(self) -> None:
        super().__init__("%(name)s: %(message)s")

    def formatException(self, ei: Any) -> str:
        """The traceback without the exception's message."""
        kind, _, trace = ei
        return f"{''.join(format_tb(trace))}{kind.__name__}"


def log_to_stderr(*, is_verbose: bool) -> None:
    """Log warnings and errors on stderr, and if it is verbose each request."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter())
    level = logging.INFO if is_verbose else logging.WARNING
    logging.basicConfig(level=level, handlers=[handler], force=True)
    own = logging.getLogger("ptenmt")
    own.handlers.clear()
    own.setLevel(level)
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # its warnings quote what was sent


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket; raises ServerError."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (while")[0]
        raise ServerError(
            f"cannot listen at {host}, port {port}: {reason}",
            "choose another port with --port, or an address of this machine with --host",
        ) from error
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; accepted connections inherit it
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1_000 * UNREAD_SECONDS)
    return bound


def address_of(bound: socket.socket) -> tuple[str, bool]:
    """The URL of a listening socket, and whether it is reachable from this machine only."""
    host, port = bound.getsockname()[:2]
    address = ipaddress.ip_address(host.partition("%")[0])
    return f"http://{host if address.version == 4 else f'[{host}]'}:{port}", address.is_loopback


def make_server(app: ASGIApp, max_connections: int, prefix: str = "") -> uvicorn.Server:
    """A uvicorn server that finishes the requests in progress when it stops.

    It parses with h11, each of pipelined requests after the response to the one before; httptools makes tasks
    of thousands at once, whose memory is not bounded.
    """
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,  # RequestMiddleware logs requests, without query strings
        server_header=False,
        root_path=prefix,
        limit_concurrency=max_connections,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
        backlog=_BACKLOG,
    )
    return uvicorn.Server(config)


class BoundedProtocol(H11Protocol):
    """Reads pipelined requests no faster than it answers them, which uvicorn does not bound.

    This class and the next one alone depend on names of uvicorn that its documentation does not have:
    ``H11Protocol`` with its ``flow`` and ``conn``, and ``FlowControl`` with ``resume_reading``. Without the
    bound a client that pipelines requests fills the memory: 1.4 GB in a minute, with it 214 MB. Written for
    uvicorn 0.32 and later; if another one changes these names, a test fails.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Bound the requests of a new connection."""
        super().connection_made(transport)
        self.flow = _BoundedFlowControl(transport, self.conn)

    def data_received(self, data: bytes) -> None:
        """Disconnect a client that violates HTTP after its request was answered, without a traceback."""
        try:
            super().data_received(data)
        except h11.LocalProtocolError:
            self.transport.abort()


class _BoundedFlowControl(FlowControl):
    def __init__(self, transport: asyncio.Transport, connection: h11.Connection) -> None:
        super().__init__(transport)
        self._connection = connection

    def resume_reading(self) -> None:
        if len(self._connection.trailing_data[0]) <= MAX_WAITING_BYTES:
            super().resume_reading()
