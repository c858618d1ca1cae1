"""Routes for people and for what watches a server: the page, the routes' description, health, figures."""

import html
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse

from ptenmt.server.keys import Keys
from ptenmt.server.metrics import CONTENT_TYPE
from ptenmt.server.openapi import errors
from ptenmt.server.pages import INDEX, PageFile
from ptenmt.server.reading import bearer
from ptenmt.server.refusal import Refusal
from ptenmt.server.schemas import StatusAnswer
from ptenmt.server.translating import AtDesk

router = APIRouter()


@router.get("/health", tags=["Watching"])
async def health() -> StatusAnswer:
    """Tell that the process lives."""
    return StatusAnswer(status="ok")


@router.get("/ready", tags=["Watching"])
async def ready() -> StatusAnswer:
    """Tell that it translates; before it does, and while it ends, nobody listens."""
    return StatusAnswer(status="ready")


@router.get(
    "/metrics",
    tags=["Watching"],
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **errors(403)},
)
async def metrics(request: Request, desk: AtDesk) -> Response:
    """Tell the figures, for Prometheus; where keys are needed, a bearer token is."""
    keys: Keys = desk.keys
    if not keys.admit(bearer(request)):
        raise Refusal("a valid key is needed, as a bearer token", 403)
    return Response(desk.service.metrics.text(), media_type=CONTENT_TYPE)


@router.get("/", include_in_schema=False)
async def index(request: Request) -> Response:
    """Show the page."""
    return _file(request, INDEX)


@router.get("/page/{name:path}", include_in_schema=False)
async def page_file(request: Request, name: str) -> Response:
    """Give a file of the page."""
    return _file(request, name)


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """Show what the routes are, without scripts."""
    return HTMLResponse("".join(_described(request.app.openapi())))


def _file(request: Request, name: str) -> Response:
    files: dict[str, PageFile] = request.app.state.page
    file = files.get(name)
    if file is None:
        raise Refusal("there is no such page", 404)
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


def _described(document: dict[str, Any]) -> Iterator[str]:
    """The OpenAPI document as a page."""
    title = html.escape(f"{document['info']['title']} {document['info']['version']}")
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
    yield f'<main><h1>{title}</h1><p>For programs: <a href="/openapi.json">openapi.json</a></p>'
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            yield f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>"
            yield f"<p>{html.escape(route.get('description', ''))}</p>"
            yield from _fields(route)
    yield "</main></html>"


def _fields(route: dict[str, Any]) -> Iterator[str]:
    """What a route's request holds."""
    content = route.get("requestBody", {}).get("content", {})
    if not content:
        return
    schema = next(iter(content.values()))["schema"]
    yield f"<p>{html.escape(', '.join(content))}:</p><dl>"
    for name, field in schema["properties"].items():
        needed = " (needed)" if name in schema.get("required", ()) else ""
        yield f"<dt><code>{html.escape(name)}</code>{needed}</dt>"
        yield f"<dd>{html.escape(field.get('description', ''))}</dd>"
    yield "</dl>"
