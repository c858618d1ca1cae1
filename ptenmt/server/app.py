"""The application: all routes, and the responses to errors."""

import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp

from ptenmt import __version__
from ptenmt.errors import ConfigError
from ptenmt.server.limits import CLIENT_GONE, Refusal
from ptenmt.server.middleware import LimitsMiddleware, MetricsMiddleware, refusal_response
from ptenmt.server.routes import deepl, introspection, libretranslate, pages
from ptenmt.server.service import Service

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::\d{1,5})?")


def make_app(service: Service, *, origins: Sequence[str] = (), prefix: str = "") -> ASGIApp:
    """Assemble the application.

    Args:
        service: The models and the state that the routes share.
        prefix: The path below which clients see the server, such as ``/pt``.
        origins: Origins whose web pages may send requests (CORS): ``https://example.org``, or ``*``.

    Raises:
        ConfigError: An origin is not one that browsers send.
    """
    check_origins(origins)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        service.stop()

    app = FastAPI(
        title="ptenmt",
        version=__version__,
        description=f"Translates {', '.join(each.name for each in service.models.directions.values())}.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        exception_handlers={
            Refusal: _refused,
            HTTPException: _not_found,
            RequestValidationError: _answer("the URL is not valid", 400),
            ClientDisconnect: _answer("the client is gone", CLIENT_GONE),
            # A bug: the traceback goes to the log, not to the client.
            Exception: _answer("internal error; the server's log has the reason", 500),
        },
    )
    app.state.service, app.state.page = service, pages.page_files()
    app.state.downloads = libretranslate.Downloads()
    for routes in (libretranslate, deepl, introspection, pages):
        app.include_router(routes.router)
    app.add_api_route("/spec", app.openapi, include_in_schema=False)  # where LibreTranslate has it
    limited = MetricsMiddleware(LimitsMiddleware(app, service.limits), service.metrics, prefix)
    if not origins:
        return limited
    return CORSMiddleware(  # outermost, so that other pages can read refusals
        limited,
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type"],
        expose_headers=["retry-after"],
    )


def check_origins(origins: Iterable[str]) -> None:
    """Check that browsers can send these origins; others would match nothing.

    Raises:
        ConfigError: One is neither an origin as in RFC 6454, in ASCII, nor ``*``.
    """
    for origin in origins:
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise ConfigError(
                f"{origin!r} is not the origin of a web page",
                "write it as browsers do, in lower case, without a path: https://example.org or "
                "http://localhost:8080; or * for all",
            )


async def _refused(_request: Request, error: Refusal) -> JSONResponse:
    return refusal_response(error)


async def _not_found(_request: Request, error: HTTPException) -> JSONResponse:
    """Unknown route or method, or a malformed form."""
    return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


def _answer(message: str, status: int) -> Callable[[Request, Exception], Coroutine[Any, Any, JSONResponse]]:
    async def handle(_request: Request, _error: Exception) -> JSONResponse:
        return JSONResponse({"error": message}, status)

    return handle
