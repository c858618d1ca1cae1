"""Routes for browsers and monitoring: the page, the description of the API, health, metrics."""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePath
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from starlette.responses import HTMLResponse

from ptenmt.server.http_requests import bearer_token
from ptenmt.server.limits import Refusal
from ptenmt.server.schemas import errors
from ptenmt.server.service import SharedService
from ptenmt.trained_model import TrainedModel

router = APIRouter()
_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class PageFile:
    """A file of the page."""

    content: bytes
    media_type: str
    etag: str


class ModelAnswer(BaseModel):
    """What is known of a model."""

    name: str = Field(description="Of its run.")
    source: str
    target: str
    parameters: int
    pairs: int | None = Field(description="Of the training data.")
    step: int
    trained: str = Field(description="When: ISO 8601.")
    metric: str
    score: float | None = Field(description="In validation, by the metric; null if there was none.")
    licences: list[str] = Field(description="Of the training data, as far as known.")


def page_files() -> dict[str, PageFile]:
    """Read the page's files, by name: requests are answered from memory and never reach the disk."""
    found = {}
    for entry in (files("ptenmt.server") / "page").iterdir():
        if media_type := _MEDIA_TYPES.get(PurePath(entry.name).suffix):
            content = entry.read_bytes()
            found[entry.name] = PageFile(content, media_type, f'"{sha256(content).hexdigest()[:32]}"')
    return found


@router.get("/health", tags=["Monitoring"])
async def health() -> dict[str, str]:
    """Report that the process is alive."""
    return {"status": "ok"}


@router.get("/ready", tags=["Monitoring"])
async def ready() -> dict[str, str]:
    """Report that the server translates; during start-up and shutdown, it does not listen."""
    return {"status": "ready"}


@router.get(
    "/metrics",
    tags=["Monitoring"],
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **errors(403)},
)
async def metrics(request: Request, service: SharedService) -> Response:
    """Return metrics for Prometheus; if keys are required, a bearer token is needed."""
    if not service.keys.admit(bearer_token(request)):
        raise Refusal("a valid key is needed, as a bearer token", 403)
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/models", tags=["Introspection"])
async def models(service: SharedService) -> list[ModelAnswer]:
    """Describe the models that are loaded."""
    return [
        await anyio.to_thread.run_sync(_describe_model, each.source, each.target, each.model.trained)
        for each in service.models.directions.values()
        if each.model
    ]


@lru_cache
def _describe_model(source: str, target: str, trained: TrainedModel) -> ModelAnswer:
    facts, data = trained.run.facts(), trained.config.data
    licences = {str(corpus["licence"]) for corpus in facts.get("corpora", [])}
    if data.source == "demo":
        licences = {"Apache-2.0"}
    elif data.source == "tfds" and data.dataset.startswith("ted_hrlr_translate/"):
        licences = {"CC BY-NC-ND 4.0"}
    return ModelAnswer(
        name=trained.run.name,
        source=source,
        target=target,
        parameters=facts["parameters"],
        pairs=facts.get("data", {}).get("train", {}).get("pairs"),
        step=trained.info.step,
        trained=facts["trained"],
        metric=trained.info.metric,
        score=trained.info.score,
        licences=sorted(licences),
    )


@router.get("/", include_in_schema=False)
@router.get("/page/{name:path}", include_in_schema=False)
async def page_file(request: Request) -> Response:
    """Return a file of the page."""
    files: dict[str, PageFile] = request.app.state.page
    file = files.get(request.path_params.get("name", "index.html"))
    if file is None:
        raise Refusal("there is no such page", 404)
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """Describe the routes, without scripts."""
    return HTMLResponse("".join(_describe(request.app.openapi())))


def _describe(document: dict[str, Any]) -> Iterator[str]:
    """The OpenAPI document as a page."""
    title = html.escape(f"{document['info']['title']} {document['info']['version']}")
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
    yield f'<main><h1>{title}</h1><p>For programs: <a href="/openapi.json">openapi.json</a></p>'
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            yield f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>"
            yield f"<p>{html.escape(route.get('description', ''))}</p>"
            yield from _describe_fields(route)
    yield "</main></html>"


def _describe_fields(route: dict[str, Any]) -> Iterator[str]:
    """The fields of a route's request."""
    content = route.get("requestBody", {}).get("content", {})
    if not content:
        return
    schema = next(iter(content.values()))["schema"]
    yield f"<p>{html.escape(', '.join(content))}:</p><dl>"
    for name, field in schema["properties"].items():
        required = " (required)" if name in schema.get("required", ()) else ""
        yield f"<dt><code>{html.escape(name)}</code>{required}</dt>"
        yield f"<dd>{html.escape(field.get('description', ''))}</dd>"
    yield "</dl>"
