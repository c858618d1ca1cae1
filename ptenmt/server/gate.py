"""What every request passes: not too many, not too large, not too slow; and what every answer says."""

import asyncio
import json
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ptenmt.server.limits import Limits
from ptenmt.server.metrics import Metrics
from ptenmt.server.refusal import CLIENT_GONE, Refusal

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
_UPLOADS = "/translate_file"
_FORM_ROOM = 100_000
"""What a form may have around a document."""


class Gate:
    """Stands around an application.

    Args:
        app: The application.
        limits: What is too much.
        metrics: What is counted.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits, metrics: Metrics) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics
        self._num_active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, answer = time.perf_counter(), _Answer(send)
        self._num_active += 1
        self._metrics.active.set(self._num_active)
        try:
            await self._pass(scope, receive, answer)
        finally:
            self._num_active -= 1
            self._metrics.active.set(self._num_active)
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.requests.labels(route, str(answer.status or CLIENT_GONE)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - started)

    async def _pass(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        is_upload = scope["path"] == _UPLOADS
        most = self._limits.file_bytes + _FORM_ROOM if is_upload else self._limits.body_bytes
        seconds = self._limits.body_seconds * (2 if is_upload else 1)
        body = _Body(receive, most, seconds, lambda: answer.status is not None)
        try:
            if self._num_active > self._limits.requests:
                raise Refusal("too many requests at a time", 503, retry_after=1)
            _check_length(scope, most)
            await self._app(scope, body.receive, answer.send)
        except Refusal as refusal:
            if answer.status is None:
                await answer.refuse(refusal)
        except asyncio.CancelledError:  # nothing else ends a request from without than the end of all
            if answer.status is not None:
                raise
            await answer.refuse(Refusal("the server is shutting down", 503, retry_after=10))


class _Body:
    """A request's body, as long as it is not too large and not too slow."""

    def __init__(self, receive: Receive, most: int, seconds: float, is_answered: Callable[[], bool]) -> None:
        self._receive, self._left, self._is_answered = receive, most, is_answered
        self._until = asyncio.get_running_loop().time() + seconds
        self._is_read = False

    async def receive(self) -> Message:
        """The next part; once all is read, what tells that the client is gone."""
        if self._is_read or self._is_answered():
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError as error:
            raise Refusal("the request came too slowly", 408) from error
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _too_large()
        self._is_read = not message.get("more_body", False)
        return message


class _Answer:
    """What is sent, with what every answer's head says."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = {name.lower() for name, _ in message["headers"]}
            extra = [(name, value) for name, value in _HEADERS if name not in own]
            if b"cache-control" not in own:
                extra.append((b"cache-control", b"no-store"))
            message["headers"] = [*message["headers"], *extra]
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer what could not pass."""
        body = json.dumps(refusal.body).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))} | refusal.headers
        pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
        await self.send({"type": "http.response.body", "body": body})


def _check_length(scope: Scope, most: int) -> None:
    """Refuse what says itself that it is too large, before any of it is read."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and (len(value) > 15 or int(value) > most):
            raise _too_large()


def _too_large() -> Refusal:
    return Refusal("the request is too large", 413)
