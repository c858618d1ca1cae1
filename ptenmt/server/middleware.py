"""Middleware around all routes: limits, security headers, metrics for Prometheus, the log of requests."""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ptenmt.server.limits import CLIENT_GONE, Limits, Refusal, shutting_down

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
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SENTENCES = (1, 2, 4, 8, 16, 32)


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self.requests = Counter(
            "ptenmt_requests",
            "Requests answered, by route and status",
            ["route", "status"],
            registry=registry,
        )
        self.seconds = Histogram(
            "ptenmt_request_seconds",
            "From a request's head to the end of its answer",
            ["route"],
            buckets=_SECONDS,
            registry=registry,
        )
        pair: Any = {"labelnames": ["pair"], "registry": registry}
        self.sentences = Counter("ptenmt_sentences", "Sentences translated", **pair)
        self.source_tokens = Counter("ptenmt_source_tokens", "Tokens read", **pair)
        self.target_tokens = Counter("ptenmt_target_tokens", "Tokens written", **pair)
        self.batch_sentences = Histogram(
            "ptenmt_batch_sentences", "Sentences in a batch", buckets=_SENTENCES, **pair
        )
        self.queue_seconds = Histogram(
            "ptenmt_queue_seconds", "How long a sentence waited for its batch", buckets=_SECONDS, **pair
        )
        self.model_bytes = Gauge("ptenmt_model_bytes", "Weights in memory; 0 if they are not loaded", **pair)
        self.queue = Gauge("ptenmt_queue_sentences", "Sentences waiting", registry=registry)
        self.active = Gauge("ptenmt_active_requests", "Requests in progress", registry=registry)

    def count_batch(
        self, pair: str, waits: Sequence[float], num_source_tokens: int, num_target_tokens: int
    ) -> None:
        """Count a translated batch: its languages, and the seconds that each sentence waited."""
        self.batch_sentences.labels(pair).observe(len(waits))
        self.sentences.labels(pair).inc(len(waits))
        self.source_tokens.labels(pair).inc(num_source_tokens)
        self.target_tokens.labels(pair).inc(num_target_tokens)
        for seconds in waits:
            self.queue_seconds.labels(pair).observe(seconds)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class MetricsMiddleware:
    """Counts, times and logs requests."""

    def __init__(self, app: ASGIApp, metrics: Metrics, prefix: str = "") -> None:
        self._app, self._metrics, self._prefix = app, metrics, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, method = CLIENT_GONE, scope["method"]
        scope = _as_seen_by_clients(scope, self._prefix)

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
            logger.info('%s "%s %s" %s %.3f s', client, method, route, status, seconds)


def _as_seen_by_clients(scope: Scope, prefix: str) -> Scope:
    """A request with the path and host of which URLs are made, HEAD answered as GET (uvicorn drops the body).

    Any client may send these headers: they affect the URLs in its own answer only.
    """
    headers = Headers(scope=scope)
    prefix = (prefix or headers.get("x-forwarded-prefix", "").partition(",")[0].strip()).rstrip("/")
    path = scope["path"] if scope["path"].startswith(f"{prefix}/") else prefix + scope["path"]
    host = headers.get("x-forwarded-host", "").partition(",")[0].strip().encode("latin-1")
    raw = [(name, host if host and name == b"host" else value) for name, value in scope["headers"]]
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    return {**scope, "method": method, "root_path": prefix, "path": path, "headers": raw}


class LimitsMiddleware:
    """Refuses requests that are too many, too large or too slow, and adds security headers to responses."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits
        self._num_active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal is_started
            if message["type"] == "http.response.start":
                is_started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        self._num_active += 1
        try:
            if self._num_active > self._limits.requests:
                raise Refusal("too busy: too many requests at a time", 503, retry_after=1)
            await self._app(scope, self._limited(scope, receive), send_with_headers)
        except Refusal as refusal:
            if not is_started:
                await refusal_response(refusal)(scope, receive, send_with_headers)
        except asyncio.CancelledError:  # the server stops
            if is_started:
                raise
            await refusal_response(shutting_down())(scope, receive, send_with_headers)
        finally:
            self._num_active -= 1

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Receive the body, limited in size and time; after it, the disconnection of the client."""
        is_upload = scope["path"] == scope["root_path"] + UPLOAD_PATH
        num_left = self._limits.file_bytes + _FORM_BYTES if is_upload else self._limits.body_bytes
        seconds = self._limits.body_seconds * (2 if is_upload else 1)
        deadline = asyncio.get_running_loop().time() + seconds
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length[:20]) > num_left:
            raise _too_large()
        is_complete = False

        async def limited() -> Message:
            nonlocal num_left, is_complete
            if is_complete:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as error:
                raise Refusal("the request came too slowly", 408) from error
            num_left -= len(message.get("body", b""))
            if num_left < 0:
                raise _too_large()
            is_complete = not message.get("more_body", False)
            return message

        return limited


def refusal_response(refusal: Refusal) -> JSONResponse:
    """The response to a refused request, in LibreTranslate's format."""
    return JSONResponse({"error": refusal.message}, refusal.status, refusal.headers)


def _too_large() -> Refusal:
    return Refusal("the request is too large", 413)
