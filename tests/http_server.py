"""A loopback HTTP server that misbehaves on request."""

import contextlib
import hashlib
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BODY = random.Random(1).randbytes(1_000_000)
OTHER = random.Random(2).randbytes(1_000_000)
HALF = 500_000


@dataclass
class Site:
    """What the server serves, and how badly; a test changes it between requests."""

    body: bytes = b""
    ranges: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    break_after: list[int] = field(default_factory=list)
    """Body bytes after which the next answers break off, one entry an answer."""
    statuses: list[int] = field(default_factory=list)
    """Statuses of the next answers, before a normal one."""
    seconds_a_chunk: float = 0.0
    requests: list[dict[str, str]] = field(default_factory=list)
    """The headers of every request so far."""
    port: int = 0

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""

    def do_GET(self) -> None:
        site = self.site
        site.requests.append(dict(self.headers))
        self.close_connection = True
        if site.statuses:
            self._head(site.statuses.pop(0), 0)
            return
        start = self._start()
        if start and start >= len(site.body):
            self._head(416, 0)
            return
        body = site.body[start:]
        self._head(206 if start else 200, len(body), start)
        self._send(body)

    def _start(self) -> int:
        """The first byte asked for, if the range is to be honoured."""
        if not self.site.ranges:
            return 0
        return int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))

    def _head(self, status: int, length: int, start: int = 0) -> None:
        site = self.site
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(site.body) - 1}/{len(site.body)}")
        for name, value in site.headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()

    def _send(self, body: bytes) -> None:
        if self.site.break_after:
            body = body[: self.site.break_after.pop(0)]
        with contextlib.suppress(ConnectionError):
            for begin in range(0, len(body), 1 << 16):
                self.wfile.write(body[begin : begin + (1 << 16)])
                time.sleep(self.site.seconds_a_chunk)


@contextlib.contextmanager
def serve(site: Site) -> Iterator[Site]:
    """Serve ``site`` on a free loopback port for the ``with`` block."""
    handler = type("Handler", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def closed_port() -> int:
    """A loopback port without a server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.server_close()
    return int(server.server_address[1])


def sha256(data: bytes) -> str:
    """A checksum in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in folder.iterdir())
