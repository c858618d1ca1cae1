"""Middleware around all routes: limits, security headers, metrics and the log of requests."""

import asyncio
import logging
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ptenmt.server.limits import Limits
from ptenmt.server.metrics import Metrics
from ptenmt.server.refusal import CLIENT_GONE, Refusal, shutting_down

logger = logging.getLogger("ptenmt.server.access")

UPLOAD_PATH = "/translate_file"
_FORM_BYTES = 100_000
"""Of a form without its document."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class MetricsMiddleware:
    """Counts, times and logs requests.

    Args:
        app: The application.
        metrics: The metrics to update.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = CLIENT_GONE

        async def noting_status(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        started = time.perf_counter()
        self._metrics.active.inc()
        try:
            await self._app(scope, receive, noting_status)
        finally:
            self._metrics.active.dec()
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.requests.labels(route, str(status)).inc()
            self._metrics.seconds.labels(route).observe(seconds)
            # Not the query string, which may have texts and keys, nor the token of a document.
            client = (scope.get("client") or ("-",))[0]
            logger.info('%s "%s %s" %s %.3f s', client, scope["method"], route, status, seconds)


class LimitsMiddleware:
    """Refuses requests that are too many, too large or too slow, and adds security headers to responses.

    Args:
        app: The application.
        limits: The limits.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits
        self._num_active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response = _Response(send)
        self._num_active += 1
        try:
            await self._answer(scope, receive, response)
        except Refusal as refusal:
            if not response.is_started:
                await refusal.response()(scope, receive, response.send)
        except asyncio.CancelledError:  # the server stops
            if response.is_started:
                raise
            await shutting_down().response()(scope, receive, response.send)
        finally:
            self._num_active -= 1

    async def _answer(self, scope: Scope, receive: Receive, response: "_Response") -> None:
        is_upload = scope["path"] == UPLOAD_PATH
        max_bytes = self._limits.file_bytes + _FORM_BYTES if is_upload else self._limits.body_bytes
        seconds = self._limits.body_seconds * (2 if is_upload else 1)
        if self._num_active > self._limits.requests:
            raise Refusal("too busy: too many requests at a time", 503, retry_after=1)
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length[:20]) > max_bytes:
            raise _too_large()
        body = _Body(receive, max_bytes, seconds)
        await self._app(scope, lambda: body.receive(is_answered=response.is_started), response.send)


class _Body:
    """The body of a request, limited in size and time."""

    def __init__(self, receive: Receive, max_bytes: int, seconds: float) -> None:
        self._receive, self._num_left = receive, max_bytes
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._is_complete = False

    async def receive(self, *, is_answered: bool) -> Message:
        """The next part of the body, or, after it, the disconnection of the client."""
        if self._is_complete or is_answered:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError as error:
            raise Refusal("the request came too slowly", 408) from error
        self._num_left -= len(message.get("body", b""))
        if self._num_left < 0:
            raise _too_large()
        self._is_complete = not message.get("more_body", False)
        return message


class _Response:
    """Adds the security headers to a response."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.is_started = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)


def _too_large() -> Refusal:
    return Refusal("the request is too large", 413)
