"""Routes for browsers and monitoring: the page, the description of the API, health, metrics."""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePath

import anyio.to_thread
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

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
_STYLE = re.compile(r'<link rel="stylesheet" href="page/(.+?)">\s*')
_IMPORT = re.compile(r'^import (\{[^}]+\}|\* as \w+) from "\./([\w-]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:class|const|function) (\w+))", re.MULTILINE)


@dataclass(frozen=True)
class PageFile:
    """A file of the page."""

    content: bytes
    media_type: str
    etag: str
    is_immutable: bool = False
    """Whether its name changes with its content."""

    @cached_property
    def compressed(self) -> bytes:
        """The content, compressed."""
        return gzip.compress(self.content)


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
    """Read the page's files, by name: requests are answered from memory and never reach the disk.

    The page loads all scripts as one file and all styles as another, which browsers keep: their names have
    their checksums.
    """
    texts = {entry.name: entry.read_text("utf-8") for entry in (files("ptenmt.server") / "page").iterdir()}
    index, hashed = texts["index.html"], list[str]()
    styles = "".join(texts[name] for name in _STYLE.findall(index))
    for suffix, text in ((".css", styles), (".js", _bundle(texts, "app", set()))):
        hashed.append(sha256(text.encode()).hexdigest()[:16] + suffix)
        texts[hashed[-1]] = text
    link = f'<link rel="stylesheet" href="page/{hashed[0]}">\n    <script'
    texts["index.html"] = (
        _STYLE.sub("", index).replace("<script", link).replace("page/app.js", f"page/{hashed[1]}")
    )
    found = {}
    for name, text in texts.items():
        media_type, etag = _MEDIA_TYPES[PurePath(name).suffix], sha256(text.encode()).hexdigest()[:32]
        found[name] = PageFile(text.encode(), media_type, f'W/"{etag}"', name in hashed)
    return found


def _bundle(texts: Mapping[str, str], name: str, known: set[str]) -> str:
    """A module, and before it those that it imports unless they are known, each in a scope of its own."""
    known.add(name)
    text = texts[f"{name}.js"]
    others = (each for _, each in _IMPORT.findall(text) if each not in known)
    imported = "".join(_bundle(texts, each, known) for each in others)
    text = _IMPORT.sub(lambda it: f"const {it[1].removeprefix('* as ')} = {_variable(it[2])};", text)
    if names := [name for _, name in _EXPORT.findall(text)]:
        text = _EXPORT.sub(r"\1", text) + f"return {{ {', '.join(names)} }};\n"
        text = f"const {_variable(name)} = (() => {{\n{text}}})();\n"
    return imported + text


def _variable(module: str) -> str:
    return "$" + module.replace("-", "_")


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
@router.get("/docs", include_in_schema=False)
@router.get("/page/{name:path}", include_in_schema=False)
async def page_file(request: Request) -> Response:
    """Return a file of the page, or of the description of the API."""
    files: dict[str, PageFile] = request.app.state.page
    default = "docs.html" if request.scope["route"].path == "/docs" else "index.html"
    file = files.get(request.path_params.get("name", default))
    if file is None:
        raise Refusal("there is no such page", 404)
    caching = "public, max-age=31536000, immutable" if file.is_immutable else "no-cache"
    headers = {"ETag": file.etag, "Cache-Control": caching, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    is_compressed = "gzip" in request.headers.get("accept-encoding", "")
    if is_compressed:
        headers["Content-Encoding"] = "gzip"
    content = file.compressed if is_compressed else file.content
    return Response(content, media_type=file.media_type, headers=headers)
