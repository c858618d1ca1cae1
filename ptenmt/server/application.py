"""The application: its routes, the page, monitoring, errors, and what surrounds all requests."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ptenmt._version import __version__
from ptenmt.errors import ConfigError, DocumentError
from ptenmt.server import routes
from ptenmt.server.limits import CLIENT_GONE, Limits, Refusal, shutting_down
from ptenmt.server.schemas import ERRORS
from ptenmt.server.service import Metrics, Service, SharedService, bearer_token

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
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}
_PAGE = Path(str(files("ptenmt.server") / "page"))
router = APIRouter()


@router.get("/health", tags=["Monitoring"])
@router.get("/ready", tags=["Monitoring"])
async def health() -> dict[str, str]:
    """Report that the server translates; during start-up and shutdown, it does not listen."""
    return {"status": "ok"}


@router.get("/metrics", tags=["Monitoring"], response_class=Response)
async def metrics(request: Request, service: SharedService) -> Response:
    """Return metrics for Prometheus; if keys are required, a bearer token is needed."""
    if service.keys.are_required and service.keys.client(bearer_token(request)) is None:
        raise Refusal("a valid key is needed, as a bearer token", 403)
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return Response(service.metrics.text(), media_type=kind)


@router.get("/v1/models", tags=["Introspection"])
async def models(service: SharedService) -> list[dict[str, Any]]:
    """Describe the loaded models: their runs, sizes, scores in validation and licences of the data."""
    return [direction.model.description for direction in service.models.directions.values()]


@router.get("/", include_in_schema=False)
@router.get("/docs", include_in_schema=False)
async def page(request: Request) -> FileResponse:
    """Return the page, or the one that describes the API."""
    name = "docs.html" if request.scope["route"].path == "/docs" else "index.html"
    return FileResponse(_PAGE / name)


@router.get("/spec", include_in_schema=False)  # where LibreTranslate has it
async def spec(request: Request) -> JSONResponse:
    """Return the description of the API."""
    return JSONResponse(request.app.openapi())


def make_app(service: Service, origins: Sequence[str] = ()) -> ASGIApp:
    """Assemble the application; raises ConfigError for an origin that no browser sends.

    ``origins`` are those whose web pages may send requests (CORS): ``https://example.org``, or ``*``.
    """
    _check_origins(origins)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        service.stop()

    directions = ", ".join(direction.name for direction in service.models.directions.values())
    app = FastAPI(
        title="ptenmt",
        version=__version__,
        description=f"Translates {directions}.",
        responses=ERRORS,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        exception_handlers=dict.fromkeys(
            (HTTPException, DocumentError, ClientDisconnect, Exception), _answer_error
        ),
    )
    app.state.service, app.state.downloads = service, routes.Downloads()
    for group in (routes.router, routes.deepl_router, routes.introspection_router, router):
        app.include_router(group)
    app.mount("/page", GZipMiddleware(StaticFiles(directory=_PAGE)))
    return CORSMiddleware(  # outermost: other pages can read refusals
        RequestMiddleware(app, service.limits, service.metrics),
        allow_origins=origins,
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type"],
        expose_headers=["retry-after"],
    )


def _check_origins(origins: Sequence[str]) -> None:
    for origin in origins:
        parts = urlsplit(origin)
        if origin not in ("*", f"{parts.scheme}://{parts.netloc}".lower()):
            raise ConfigError(
                f"{origin!r} is not the origin of a web page", "write it as browsers do: https://example.org"
            )


async def _answer_error(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, HTTPException):  # a refusal, an unknown route or method, or a malformed form
        return _error(request.scope, error)
    if isinstance(error, DocumentError):
        return _error(request.scope, Refusal(error.message, 413 if error.is_too_large else 400))
    if isinstance(error, ClientDisconnect):
        return _error(request.scope, Refusal("the client is gone", CLIENT_GONE))
    # A bug: the traceback goes to the log, not to the client.
    return _error(request.scope, Refusal("internal error; the log has the reason", 500))


def _error(scope: Scope, refusal: HTTPException) -> JSONResponse:
    """The response to a refused request, in LibreTranslate's format, or in DeepL's on its routes."""
    name = "message" if scope["path"].removeprefix(scope["root_path"]).startswith("/v2/") else "error"
    return JSONResponse({name: refusal.detail}, refusal.status_code, refusal.headers)


class RequestMiddleware:
    """Limits the bodies of requests, counts, times and logs requests, and adds headers to the responses."""

    def __init__(self, app: ASGIApp, limits: Limits, metrics: Metrics) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; HEAD as GET, whose body uvicorn drops."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status: int | None = None
        started, method = time.perf_counter(), scope["method"]
        scope = {**scope, "method": "GET" if method == "HEAD" else method}
        # Where does the body end? Another request may hide in it (RFC 9112, section 6.1).
        is_ambiguous = {b"transfer-encoding", b"content-length"} <= {name for name, _ in scope["headers"]}

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if is_ambiguous:
                    headers["connection"] = "close"
            await send(message)

        try:
            await self._app(scope, self._limited(scope, receive), send_with_headers)
        except asyncio.CancelledError:  # the server stops
            if status is not None:
                raise
            await _error(scope, shutting_down())(scope, receive, send_with_headers)
        finally:
            self._record(scope, method, status or CLIENT_GONE, time.perf_counter() - started)

    def _record(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        """Count and log a request: not its URL, which may have texts and keys, or the token of a document."""
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.requests.labels(route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        client = json.dumps((scope.get("client") or "-")[0])  # it may be what a proxy says
        facts = {"client": client, "method": json.dumps(method), "route": route, "status": status}
        facts |= {"seconds": f"{seconds:.3f}", **scope["state"]}
        logger.info(" ".join(f"{name}={value}" for name, value in facts.items() if value))

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Receive the body, limited in size and time; after it, the disconnection of the client."""
        is_upload = scope["path"].removeprefix(scope["root_path"]) == _UPLOAD_PATH
        num_left = 12 * self._limits.characters + 10_000  # in JSON, a character takes at most twelve bytes
        num_left = int(self._limits.file_megabytes * 1e6) + _FORM_BYTES if is_upload else num_left
        deadline = asyncio.get_running_loop().time() + self._limits.body_seconds * (2 if is_upload else 1)
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
                raise Refusal("the request is too large", 413)
            is_complete = not message.get("more_body", False)
            return message

        return limited
