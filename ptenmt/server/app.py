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

from ptenmt._version import __version__
from ptenmt.errors import ConfigError, DocumentError
from ptenmt.server.limits import CLIENT_GONE, Refusal
from ptenmt.server.middleware import RequestMiddleware, error_response
from ptenmt.server.routes import deepl, introspection, libretranslate, pages
from ptenmt.server.service import Service

Handler = Callable[[Request, Exception], Coroutine[Any, Any, JSONResponse]]
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::\d{1,5})?")


def make_app(
    service: Service, *, origins: Sequence[str] = (), hosts: Sequence[str] = (), prefix: str = ""
) -> ASGIApp:
    """Assemble the application; raises ConfigError as ``check_origins`` does.

    ``origins`` are those whose web pages may send requests (CORS): ``https://example.org``, or ``*``;
    ``hosts`` those that requests may name, empty for any; ``prefix`` the path below which clients see the
    server, such as ``/pt``.
    """
    check_origins(origins)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        service.stop()

    directions = ", ".join(direction.name for direction in service.models.directions.values())
    app = FastAPI(
        title="ptenmt",
        version=__version__,
        description=f"Translates {directions}.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        exception_handlers=_error_handlers(),
    )
    app.state.service, app.state.page = service, pages.page_files()
    app.state.downloads = libretranslate.Downloads()
    for routes in (libretranslate, deepl, introspection, pages):
        app.include_router(routes.router)

    @app.get("/spec", include_in_schema=False)  # where LibreTranslate has it
    async def spec() -> JSONResponse:
        return JSONResponse(app.openapi())

    limited = RequestMiddleware(app, service.limits, service.metrics, service.keys, prefix, hosts)
    return _with_origins(limited, origins) if origins else limited  # outermost: other pages can read refusals


def _with_origins(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Let web pages of other origins send requests (CORS)."""
    return CORSMiddleware(
        app,
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type"],
        expose_headers=["retry-after"],
    )


def _error_handlers() -> dict[Any, Any]:
    """What an exception is answered with, by its class."""
    return {
        Refusal: _error_handler(lambda error: error),
        DocumentError: _error_handler(
            lambda error: Refusal(error.message, 413 if error.is_too_large else 400)
        ),
        # Unknown route or method, or a malformed form.
        HTTPException: _error_handler(
            lambda error: Refusal(str(error.detail), error.status_code, headers=error.headers)
        ),
        # Only parameters of URLs are declared, and their values may be any text.
        RequestValidationError: _error_handler(
            lambda error: Refusal(f"Invalid request: missing {error.errors()[0]['loc'][-1]} parameter")
        ),
        ClientDisconnect: _error_handler(lambda _error: Refusal("the client is gone", CLIENT_GONE)),
        # A bug: the traceback goes to the log, not to the client.
        Exception: _error_handler(lambda _error: Refusal("internal error; the log has the reason", 500)),
    }


def check_origins(origins: Iterable[str]) -> None:
    """Raise ConfigError for an origin that is neither ``*`` nor as browsers send it (RFC 6454, in ASCII)."""
    for origin in origins:
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise ConfigError(
                f"{origin!r} is not the origin of a web page",
                "write it as browsers do, in lower case, without a path: https://example.org or "
                "http://localhost:8080; or * for all",
            )


def _error_handler(refusal: Callable[[Any], Refusal]) -> Handler:
    async def handle(request: Request, error: Exception) -> JSONResponse:
        return error_response(request.scope, refusal(error))

    return handle
