"""Many clients of a translation server, in one lean process: plain sockets, and JSON written once."""

import asyncio
import json
import time
from collections.abc import Sequence
from typing import NamedTuple

_PATIENCE = 60.0


class Wanted(NamedTuple):
    """What clients ask, and whom."""

    port: int
    source: str
    target: str
    sentences: Sequence[str]


class Load(NamedTuple):
    """What clients met with."""

    statuses: dict[str, int]
    """How often each status came; ``failed``: none did."""
    latencies: list[float]
    """Seconds that each translation took, sorted."""
    seconds: float
    cpu_seconds: float
    """Of the clients' process."""

    @property
    def rate(self) -> float:
        """Sentences a second."""
        return self.statuses.get("200", 0) / self.seconds

    def percentile(self, share: float) -> float:
        """The latency that this share of the translations stayed below."""
        return self.latencies[min(int(share * len(self.latencies)), len(self.latencies) - 1)]


def closed_loop(wanted: Wanted, clients: int, seconds: float) -> Load:
    """Clients each of which asks for a sentence, waits for it, and asks for the next."""
    return asyncio.run(_Clients(wanted, seconds).run_closed(clients))


def open_loop(wanted: Wanted, rate: float, seconds: float) -> Load:
    """So many sentences a second are asked for, whatever the server says."""
    return asyncio.run(_Clients(wanted, seconds).run_open(rate))


class _Clients:
    def __init__(self, wanted: Wanted, seconds: float) -> None:
        self._port, self._seconds = wanted.port, seconds
        self._requests = [_request(sentence, wanted.source, wanted.target) for sentence in wanted.sentences]
        self._statuses: dict[str, int] = {}
        self._latencies: list[float] = []
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._next = 0

    async def run_closed(self, clients: int) -> Load:
        until = time.perf_counter() + self._seconds

        async def client() -> None:
            while time.perf_counter() < until:
                await self._ask()

        return await self._measured(client() for _ in range(clients))

    async def run_open(self, rate: float) -> Load:
        async def clock() -> None:
            started, asked = time.perf_counter(), set()
            while (passed := time.perf_counter() - started) < self._seconds:
                while len(asked) < rate * passed:
                    asked.add(asyncio.ensure_future(self._ask()))
                await asyncio.sleep(0.005)
            await asyncio.gather(*asked)

        return await self._measured([clock()])

    async def _measured(self, work) -> Load:
        started, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*work)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        for _, writer in self._idle:
            writer.close()
        return Load(self._statuses, sorted(self._latencies), seconds, cpu)

    async def _ask(self) -> None:
        request = self._requests[self._next % len(self._requests)]
        self._next += 1
        started = time.perf_counter()
        try:
            async with asyncio.timeout(_PATIENCE):
                status = await self._answer(request)
        except (OSError, TimeoutError, EOFError, ValueError):
            status = "failed"
        self._statuses[status] = self._statuses.get(status, 0) + 1
        if status == "200":
            self._latencies.append(time.perf_counter() - started)

    async def _answer(self, request: bytes) -> str:
        """The status of the answer, on a connection that is kept."""
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
