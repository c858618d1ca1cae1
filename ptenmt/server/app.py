"""The application: all routes, and how errors are told."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp

from ptenmt import __version__
from ptenmt.server.gate import Gate
from ptenmt.server.origins import check_origins
from ptenmt.server.refusal import CLIENT_GONE, Refusal
from ptenmt.server.routes import documents, introspection, pages, translate
from ptenmt.server.service import Service


def make_app(service: Service, *, origins: Sequence[str] = ()) -> ASGIApp:
    """Put an application together.

    Args:
        service: What the routes share.
        origins: Of web pages elsewhere that may ask: ``https://example.org``, or ``*``.

    Raises:
        ConfigError: Such an origin there cannot be.
    """
    check_origins(origins)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.stop()

    app = FastAPI(
        title="ptenmt",
        version=__version__,
        description=f"Translates {service.source_language} to {service.target_language}.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service, app.state.page = service, pages.page_files()
    for routes in (translate, documents, introspection, pages):
        app.include_router(routes.router)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HTTPException, _not_found)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _failed)
    gate = Gate(app, limits=service.limits, metrics=service.metrics)
    if not origins:
        return gate
    return CORSMiddleware(  # around the gate, so that other pages can read what it refuses
        gate,
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type"],
        expose_headers=["retry-after"],
    )


async def _refused(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refusal)
    return JSONResponse(error.body, error.status, error.headers)


async def _not_found(_request: Request, error: Exception) -> JSONResponse:
    """No such route, no such method, a form that is none."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


async def _not_valid(_request: Request, _error: Exception) -> JSONResponse:
    return JSONResponse({"error": "the address is not valid"}, 400)


async def _gone(_request: Request, _error: Exception) -> JSONResponse:
    return JSONResponse({"error": "the client is gone"}, CLIENT_GONE)


async def _failed(_request: Request, _error: Exception) -> JSONResponse:
    """A bug of ours: the traceback goes to the log, and not to the client."""
    return JSONResponse({"error": "the server failed; whoever runs it finds in its log why"}, 500)
