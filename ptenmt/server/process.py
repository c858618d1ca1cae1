"""The server process: socket, uvicorn, signals."""

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp

from ptenmt.errors import ConfigError, ServerError
from ptenmt.server.app import make_app
from ptenmt.server.keys import Keys
from ptenmt.server.limits import Limits
from ptenmt.server.models import Models
from ptenmt.server.service import Service
from ptenmt.translation.glossary import Glossary

SHUTDOWN_SECONDS = 6
"""To finish the requests in progress when the server stops."""
UNREAD_SECONDS = 30
"""A client that does not read its response for so long is disconnected by the kernel."""
WATCH_SECONDS = 5
_KEEP_ALIVE_SECONDS = 30
_MAX_CONNECTIONS = 4_000
"""Further ones are answered with 503."""
_BACKLOG = 2048
_MAX_HEADER_BYTES = 100_000


def serve(
    models: Models,
    *,
    host: str,
    port: int,
    threads: int,
    limits: Limits,
    glossaries: Mapping[str, Glossary],
    keys_file: Path | None,
    origins: Sequence[str],
    url_prefix: str,
    watches: bool,
    is_verbose: bool,
    on_start: Callable[[str], None],
    on_warning: Callable[[str], None],
) -> None:
    """Serve models until SIGTERM or SIGINT; then finish the requests in progress, and return.

    After SIGHUP, keys and models are loaded again, and replace those in use.

    Args:
        models: The directions, and their models.
        host: A name or an address of this machine.
        port: The port; 0 for any free one.
        threads: How many batches to translate in parallel.
        limits: The limits of requests.
        glossaries: Those that requests may name.
        keys_file: The clients' keys; None if no key is required.
        origins: See ``make_app``.
        url_prefix: Its ``prefix``.
        watches: Whether to load a model again when its weights are replaced.
        is_verbose: Whether uvicorn logs more than errors.
        on_start: Called with the server's URL once it accepts requests.
        on_warning: Called with a message if other machines can use the server without a key.

    Raises:
        ConfigError: The key file is invalid, or an origin is.
        PtenmtError: The first model cannot be loaded.
        ServerError: The address is unknown or the port is in use.
    """
    keys = Keys(keys_file)
    service = Service(models, limits, keys, threads=threads, glossaries=glossaries)
    bound = bound_socket(host, port)
    url = address_of(bound)
    if not is_loopback(bound) and not keys.are_required:
        on_warning(
            f"no API key is required (--keys is not given): any client that can reach {url} can use this "
            "server; require keys, or put it behind a reverse proxy that authenticates (docs/serving.md)"
        )
    models.default.read()  # the others when they are first used
    app = make_app(service, origins=origins, prefix=url_prefix)

    def started() -> None:
        notify("READY=1")
        on_start(url)

    def reload() -> None:
        notify(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1_000}")
        try:
            keys.read()
        except ConfigError as error:
            on_warning(f"the keys stay as they are: {error.message}")
        models.reload()
        notify("READY=1")

    def watch() -> None:
        while not server.should_exit:
            models.reload(only_outdated=True)
            time.sleep(WATCH_SECONDS)

    server = make_server(app, is_verbose=is_verbose, on_start=started)
    if watches:
        threading.Thread(target=watch, daemon=True).start()
    run(server, bound, on_reload=lambda: threading.Thread(target=reload).start())


def notify(state: str) -> None:
    """Tell the service manager the state, if it has asked for it; sd_notify(3)."""
    if address := os.environ.get("NOTIFY_SOCKET"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
            sender.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket: the service manager's (sd_listen_fds(3)), or a new one; port 0 is any free one.

    Raises:
        ServerError: It cannot be had.
    """
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        return socket.socket(fileno=3)
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ServerError(
            f"cannot listen at {host}, port {port}: {reason}",
            "choose another port with --port, or an address of this machine with --host",
        ) from error
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; accepted connections inherit it
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1_000 * UNREAD_SECONDS)
    return bound


def address_of(bound: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(bound: socket.socket) -> bool:
    """Whether a socket is reachable from this machine only."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def make_server(
    app: ASGIApp, *, is_verbose: bool, on_start: Callable[[], None] = lambda: None
) -> uvicorn.Server:
    """A uvicorn server that finishes the requests in progress when it stops.

    It parses with h11, which reads the next of pipelined requests only after the response to the one before;
    httptools makes tasks of thousands at once, whose memory is not bounded.
    """
    if not is_verbose:
        logging.getLogger("python_multipart").setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level=None if is_verbose else "error",
        access_log=False,  # MetricsMiddleware logs requests, without query strings
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
        backlog=_BACKLOG,
    )
    return _Server(config, on_start)


def run(server: uvicorn.Server, bound: socket.socket, *, on_reload: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; then finish the requests in progress, and return; reload after SIGHUP.

    uvicorn raises the signals again once it has stopped; with these handlers, they do not end the process.
    """

    def stop(_number: int, _frame: Any) -> None:
        notify("STOPPING=1")
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda _number, _frame: on_reload())
    server.run(sockets=[bound])


class _Server(uvicorn.Server):
    """Reports when it accepts requests."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_log_exception)
        await super().startup(sockets)
        if self.started:
            self._on_start()


def _log_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what fails outside requests, except that a client violates HTTP after uvicorn has responded."""
    if not isinstance(context.get("exception"), h11.LocalProtocolError):
        loop.default_exception_handler(context)
