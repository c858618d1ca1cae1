"""Many HTTP clients in one process with little overhead: plain sockets, requests encoded once."""

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

_TIMEOUT = 60.0  # seconds


class Workload(NamedTuple):
    """The requests of the clients, and the server's port."""

    port: int
    requests: Sequence[tuple[str, str, str]]
    """A sentence, its language and that of its translation."""


class Load(NamedTuple):
    """Responses to the clients."""

    statuses: dict[str, int]
    """Number of responses by HTTP status; ``failed`` counts requests without a response."""
    latencies: list[float]
    """Seconds from request to translation, sorted."""
    seconds: float
    cpu_seconds: float
    """CPU time of the clients' process."""

    @property
    def rate(self) -> float:
        """Sentences per second."""
        return self.statuses.get("200", 0) / self.seconds

    def percentile(self, share: float) -> float:
        """The quantile of the latencies at ``share``, from 0 to 1."""
        return self.latencies[min(int(share * len(self.latencies)), len(self.latencies) - 1)]


def closed_loop(workload: Workload, clients: int, seconds: float) -> Load:
    """Clients that each send a request, wait for the response, and send the next."""
    return asyncio.run(_Clients(workload, seconds).run_closed(clients))


def open_loop(workload: Workload, rate: float, seconds: float) -> Load:
    """Send ``rate`` requests per second, regardless of the responses."""
    return asyncio.run(_Clients(workload, seconds).run_open(rate))


def unread(workload: Workload, clients: int, seconds: float) -> Load:
    """Clients that each send requests on one connection (pipelining), and read no response."""
    return asyncio.run(_Clients(workload, seconds).run_unread(clients))


class _Clients:
    def __init__(self, workload: Workload, seconds: float) -> None:
        self._port, self._seconds = workload.port, seconds
        self._requests = [_request(*request) for request in workload.requests]
        self._statuses: dict[str, int] = {}
        self._latencies: list[float] = []
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._next = 0

    async def run_closed(self, clients: int) -> Load:
        until = time.perf_counter() + self._seconds

        async def client() -> None:
            while time.perf_counter() < until:
                await self._request_next()

        return await self._measured(client() for _ in range(clients))

    async def run_unread(self, clients: int) -> Load:
        async def client() -> None:
            _, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1)
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(self._seconds):
                    while True:
                        writer.write(b"".join(self._requests))
                        await writer.drain()
            writer.transport.abort()

        return await self._measured(client() for _ in range(clients))

    async def run_open(self, rate: float) -> Load:
        async def clock() -> None:
            started, sent = time.perf_counter(), set()
            while (passed := time.perf_counter() - started) < self._seconds:
                while len(sent) < rate * passed:
                    sent.add(asyncio.ensure_future(self._request_next()))
                await asyncio.sleep(0.005)
            await asyncio.gather(*sent)

        return await self._measured([clock()])

    async def _measured(self, work) -> Load:
        started, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*work)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        for _, writer in self._idle:
            writer.close()
        return Load(self._statuses, sorted(self._latencies), seconds, cpu)

    async def _request_next(self) -> None:
        request = self._requests[self._next % len(self._requests)]
        self._next += 1
        started = time.perf_counter()
        try:
            async with asyncio.timeout(_TIMEOUT):
                status = await self._send(request)
        except (OSError, TimeoutError, EOFError, ValueError):
            status = "failed"
        self._statuses[status] = self._statuses.get(status, 0) + 1
        if status == "200":
            self._latencies.append(time.perf_counter() - started)

    async def _send(self, request: bytes) -> str:
        """Send a request on a persistent connection and return the response's status."""
        stream = self._idle.pop() if self._idle else await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = stream
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        if b"connection: close" in head:
            writer.close()
        else:
            self._idle.append(stream)
        return head.split(b" ", 2)[1].decode()


def _request(sentence: str, source: str, target: str) -> bytes:
    body = json.dumps({"q": sentence, "source": source, "target": target}).encode()
    head = (
        "POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
