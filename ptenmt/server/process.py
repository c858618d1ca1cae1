"""The server process: socket, uvicorn, signals."""

import asyncio
import ctypes
import gc
import ipaddress
import json
import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from traceback import format_tb
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp

from ptenmt.errors import ConfigError, ServerError
from ptenmt.server.app import make_app
from ptenmt.server.flow_control import BoundedProtocol
from ptenmt.server.service import Service
from ptenmt.signals import handle_server_signals

SHUTDOWN_SECONDS = 6
"""To finish the requests in progress when the server stops."""
UNREAD_SECONDS = 30
"""A client that does not read its response for so long is disconnected by the kernel."""
_KEEP_ALIVE_SECONDS = 30
_MAX_CONNECTIONS = 4_000
"""Further ones are answered with 503."""
_BACKLOG = 2048
_MAX_HEADER_BYTES = 100_000
_PROXIES = "127.0.0.1,::1"
_GC_THRESHOLDS = 700, 10, 100
"""Rare collections of all objects: with hundreds of clients one takes 0.1 s."""
_M_MMAP_THRESHOLD, _MMAP_BYTES = -3, 4_194_304
"""Without a fixed threshold glibc's allocator keeps larger and larger blocks, 70 MB after a minute's load."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""Characters that a client could send and a terminal obey."""
_FIRST_INHERITED = 3
"""File descriptor; sd_listen_fds(3)."""
logger = logging.getLogger("ptenmt.server")


def serve(
    service: Service,
    *,
    host: str,
    port: int,
    origins: Sequence[str],
    hosts: Sequence[str],
    url_prefix: str,
    is_verbose: bool,
    on_start: Callable[[str], None],
    on_warning: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT; then finish the requests in progress, and return.

    After SIGHUP, keys and models are loaded again, and replace those in use. For ``origins``, ``hosts`` and
    ``url_prefix``, see ``make_app``; ``port`` may be 0, for any free one. If ``is_verbose``, uvicorn logs
    more than errors. ``on_start`` is called with the URL once it accepts requests, ``on_warning`` if others
    can use it without a key.

    Raises:
        PtenmtError: An origin is invalid, a model cannot be loaded, or the address cannot be had.
    """
    models, keys = service.models, service.keys
    bound = bound_socket(host, port)
    url = address_of(bound)
    if not is_loopback(bound) and not keys.are_required:
        on_warning(
            f"no API key is required (--keys is not given): any client that can reach {url} can use this "
            "server; require keys, or put it behind a reverse proxy that authenticates (docs/serving.md)"
        )
    models.load()
    app = make_app(service, origins=origins, hosts=hosts, prefix=url_prefix)

    def started() -> None:
        notify("READY=1")
        on_start(url)

    def reload() -> None:
        notify(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1_000}")
        try:
            keys.read()
        except ConfigError as error:
            on_warning(f"the keys stay as they are: {error.message}")
        try:
            models.reload()
        except Exception:  # a bug: log it, and still send READY=1
            logger.exception("the models stay as they are")
        notify("READY=1")

    proxies = "*" if url.startswith("unix:") else os.environ.get("FORWARDED_ALLOW_IPS", _PROXIES)
    server = make_server(app, is_verbose=is_verbose, on_start=started, proxies=proxies)
    run(server, bound, on_reload=lambda: threading.Thread(target=reload).start())


class LogFormatter(logging.Formatter):
    """Records as lines of text or of JSON; of exceptions the kind and place, as messages may quote a text."""

    def __init__(self, *, is_json: bool) -> None:
        super().__init__()
        self._is_json = is_json

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        kind, _, trace = record.exc_info or (None, None, None)
        exception = "".join(format_tb(trace)) + kind.__name__ if kind else ""
        if not self._is_json:
            message = _CONTROL.sub(lambda char: repr(char[0])[1:-1], record.getMessage())
            return f"{record.name}: {message}\n{exception}".rstrip()
        facts = {"time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")}
        facts |= {"level": record.levelname.lower(), "logger": record.name}
        facts |= getattr(record, "request", {"message": record.getMessage()})
        return json.dumps(facts | ({"exception": exception} if exception else {}), ensure_ascii=False)


def log_to_stderr(*, is_json: bool, is_verbose: bool) -> None:
    """Log warnings and errors; requests, too, in JSON or if it is verbose."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter(is_json=is_json))
    level = logging.INFO if is_json or is_verbose else logging.WARNING
    logging.basicConfig(level=level, handlers=[handler], force=True)
    own = logging.getLogger("ptenmt")
    own.handlers.clear()
    own.setLevel(level)


def notify(state: str) -> None:
    """Tell the service manager the state, if it has asked for it; sd_notify(3)."""
    if address := os.environ.get("NOTIFY_SOCKET"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
            sender.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket: the service manager's (sd_listen_fds(3)) or a new one; raises ServerError."""
    inherited = {name: os.environ.pop(name, "") for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")}
    try:
        if inherited["LISTEN_PID"] == str(os.getpid()):
            if inherited["LISTEN_FDS"] != "1":
                raise ServerError(
                    f"the service manager has opened {inherited['LISTEN_FDS']} sockets",
                    "give ptenmt.socket one ListenStream",
                )
            bound = socket.socket(fileno=_FIRST_INHERITED)
        else:
            family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            bound = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
        # Accepted connections inherit it.
        if hasattr(socket, "TCP_USER_TIMEOUT") and bound.family != socket.AF_UNIX:  # Linux
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1_000 * UNREAD_SECONDS)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ServerError(
            f"cannot listen at {host}, port {port}: {reason}",
            "choose another port with --port, or an address of this machine with --host",
        ) from error
    return bound


def address_of(bound: socket.socket) -> str:
    """The URL of a listening socket, or ``unix:`` and its path."""
    address = bound.getsockname()
    if isinstance(address, str):
        return f"unix:{address}"
    host, port = address[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(bound: socket.socket) -> bool:
    """Whether a socket is reachable from this machine only."""
    address = bound.getsockname()
    return isinstance(address, str) or ipaddress.ip_address(address[0].partition("%")[0]).is_loopback


def make_server(
    app: ASGIApp, *, is_verbose: bool, on_start: Callable[[], None] = lambda: None, proxies: str = _PROXIES
) -> uvicorn.Server:
    """A uvicorn server that finishes the requests in progress when it stops; it trusts these proxies.

    It parses with h11, each of pipelined requests after the response to the one before; httptools makes tasks
    of thousands at once, whose memory is not bounded.
    """
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # its warnings quote what was sent
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level=None if is_verbose else "error",
        access_log=False,  # RequestMiddleware logs requests, without query strings
        server_header=False,
        forwarded_allow_ips=proxies,
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

    def stop() -> None:
        notify("STOPPING=1")
        server.should_exit = True

    handle_server_signals(stop, on_reload)
    with suppress(AttributeError, OSError, TypeError):  # not glibc
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
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
