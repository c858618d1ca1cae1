"""Middleware around all routes: limits, security headers, metrics for Prometheus, the log of requests."""

import asyncio
import logging
import platform
import re
import time
from collections.abc import Sequence
from typing import Any

import prometheus_client as prom
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ptenmt._version import __version__
from ptenmt.server.limits import CLIENT_GONE, Keys, Limits, Refusal, shutting_down
from ptenmt.server.schemas import ModelAnswer

logger = logging.getLogger("ptenmt.server.access")

_UPLOAD_PATH = "/translate_file"
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
_MODEL_FACTS = {"name", "step", "trained", "metric", "score"}
_PROBES = ("/health", "/ready")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""Any other is counted as other."""
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SENTENCES = (1, 2, 4, 8, 16, 32)


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        prom.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = prom.CollectorRegistry()
        own: Any = {"registry": self._registry}
        prom.ProcessCollector(**own)
        build = prom.Info("ptenmt_build", "Versions of the server", **own)
        build.info({"version": __version__, "python": platform.python_version()})
        answers = "Requests answered, by route, method and status"
        self.requests = prom.Counter("ptenmt_requests", answers, ["route", "method", "status"], **own)
        duration = "From a request's head to the end of its answer"
        self.seconds = prom.Histogram("ptenmt_request_seconds", duration, ["route"], buckets=_SECONDS, **own)
        self.queue = prom.Gauge("ptenmt_queue_sentences", "Sentences waiting", **own)
        self.active = prom.Gauge("ptenmt_active_requests", "Requests in progress", **own)
        own["labelnames"] = ["pair"]
        self._models = prom.Info("ptenmt_model", "Loaded models", **own)
        self.characters = prom.Counter("ptenmt_characters", "Characters of texts to translate", **own)
        self.sentences = prom.Counter("ptenmt_sentences", "Sentences translated", **own)
        self.source_tokens = prom.Counter("ptenmt_source_tokens", "Source tokens", **own)
        self.target_tokens = prom.Counter("ptenmt_target_tokens", "Target tokens", **own)
        size, wait = "Sentences in a batch", "How long a sentence waited for its batch"
        self.batch_sentences = prom.Histogram("ptenmt_batch_sentences", size, buckets=_SENTENCES, **own)
        self.queue_seconds = prom.Histogram("ptenmt_queue_seconds", wait, buckets=_SECONDS, **own)
        self.model_bytes = prom.Gauge("ptenmt_model_bytes", "Weights that translate, in memory", **own)

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

    @property
    def num_characters(self) -> int:
        """Those of all pairs."""
        return int(sum(sample.value for metric in self.characters.collect() for sample in metric.samples))

    def text(self, models: Sequence[ModelAnswer]) -> bytes:
        """All metrics in Prometheus' text format, with the models that are loaded now."""
        self._models.clear()
        for model in models:
            facts = model.model_dump(include=_MODEL_FACTS, exclude_none=True)
            info = self._models.labels(f"{model.source}-{model.target}")
            info.info({name: str(value) for name, value in facts.items()})
        return prom.generate_latest(self._registry)


class RequestMiddleware:
    """Limits, counts, times and logs requests, and adds security headers to the responses.

    Clients see the server below the path ``prefix``; requests may name these ``hosts``, or any if none.
    Probes, and ``/metrics`` if it needs a key, answer for any: Prometheus names a pod by its address.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics,
        keys: Keys,
        prefix: str = "",
        hosts: Sequence[str] = (),
    ) -> None:
        self._app, self._limits, self._metrics, self._keys = app, limits, metrics, keys
        self._prefix = prefix
        self._hosts = {host.lower() for host in hosts}
        self._num_active, self._gate = 0, asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status: int | None = None
        started, seen = time.perf_counter(), _as_seen_by_clients(scope, self._prefix)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.update(_closing(scope))
            await send(message)

        self._num_active += 1
        self._metrics.active.inc()
        try:
            self._check(scope)
            if scope["path"] not in _PROBES:
                async with self._gate:  # one in each iteration of the event loop: probes overtake the others
                    await asyncio.sleep(0)
            await self._app(seen, self._limited(seen, receive), send_with_headers)
        except Refusal as refusal:
            if status is None:
                await error_response(seen, refusal)(seen, receive, send_with_headers)
        except asyncio.CancelledError:  # the server stops
            if status is not None:
                raise
            await error_response(seen, shutting_down())(seen, receive, send_with_headers)
        finally:
            self._num_active -= 1
            self._metrics.active.dec()
            self._record(seen, scope["method"], status or CLIENT_GONE, time.perf_counter() - started)

    def _check(self, scope: Scope) -> None:
        """Refuse a request that is too many, or names a host that is not allowed, except that of a probe."""
        if self._num_active > self._limits.requests:
            raise Refusal("too busy: too many requests at a time", 503, retry_after=1)
        host = re.sub(r":\d*$", "", Headers(scope=scope).get("host", "")).lower()
        is_open = scope["path"] in _PROBES or (scope["path"] == "/metrics" and self._keys.are_required)
        if self._hosts and host not in self._hosts and not is_open:
            raise Refusal("this server does not answer requests for this host; see --allowed-host")

    def _record(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        """Count and log a request: not its URL, which may have texts and keys, or the token of a document."""
        method = method if method in _METHODS else "other"
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.requests.labels(route, method, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        client = (scope.get("client") or ("-",))[0]
        facts = {"client": client, "method": method, "route": route, "status": status}
        facts |= {"seconds": round(seconds, 4), **scope["state"]}
        logger.info('%s "%s %s" %s %.3f s', client, method, route, status, seconds, extra={"request": facts})

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Receive the body, limited in size and time; after it, the disconnection of the client."""
        is_upload = scope["path"].removeprefix(scope["root_path"]) == _UPLOAD_PATH
        num_left = 12 * self._limits.characters + 10_000  # in JSON, a character takes at most twelve bytes
        num_left = self._limits.file_bytes + _FORM_BYTES if is_upload else num_left
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
    return {**scope, "method": method, "root_path": prefix, "path": path, "headers": raw, "state": {}}


def error_response(scope: Scope, refusal: Refusal) -> JSONResponse:
    """The response to a refused request, in LibreTranslate's format, or in DeepL's on its routes."""
    path = scope["path"].removeprefix(scope["root_path"])
    name = "message" if path.startswith("/v2/") else "error"
    return JSONResponse({name: refusal.message}, refusal.status, refusal.headers)


def _closing(scope: Scope) -> dict[str, str]:
    """The header after a request whose end is ambiguous: another may hide in it (RFC 9112, section 6.1)."""
    headers = Headers(scope=scope)
    is_ambiguous = "transfer-encoding" in headers and "content-length" in headers
    return {"connection": "close"} if is_ambiguous else {}


def _too_large() -> Refusal:
    return Refusal("the request is too large", 413)
