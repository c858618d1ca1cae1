"""Routes for browsers and monitoring: the page, the description of the API, health, metrics."""

import gzip
import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePath

from fastapi import APIRouter, Request, Response

from ptenmt.server.limits import Refusal
from ptenmt.server.schemas import ModelAnswer, errors
from ptenmt.server.service import SharedService, header_key

router = APIRouter()
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
"""In Accept-Encoding, unless its weight is 0."""
_MODULE_SYNTAX = re.compile(r"^import .*\n|^export ", re.MULTILINE)
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
    is_immutable: bool = False
    """Whether its name changes with its content."""

    @cached_property
    def compressed(self) -> bytes:
        """The content, compressed."""
        return gzip.compress(self.content)


def page_files() -> dict[str, PageFile]:
    """Read the page's files, by name: requests are answered from memory and never reach the disk.

    Scripts and styles are in a folder whose name is the checksum of all files, so that browsers keep them.
    The modules of ``app.js`` are put before it in one file, for one round trip: no two may share a name.
    """
    texts = {entry.name: entry.read_text("utf-8") for entry in (files("ptenmt.server") / "page").iterdir()}
    folder = sha256("".join(text for _, text in sorted(texts.items())).encode()).hexdigest()[:16]
    modules = sorted(name for name in texts if name.endswith(".js") and name not in ("app.js", "docs.js"))
    texts["app.js"] = _MODULE_SYNTAX.sub("", "".join(texts[name] for name in [*modules, "app.js"]))
    served = {}
    for name, text in texts.items():
        is_kept = not name.endswith(".html")
        content = (text if is_kept else text.replace('="page/', f'="page/{folder}/')).encode()
        etag = f'W/"{sha256(content).hexdigest()[:32]}"'
        served[f"{folder}/{name}" if is_kept else name] = PageFile(
            content, _MEDIA_TYPES[PurePath(name).suffix], etag, is_kept
        )
    return served


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
    if not service.keys.may_read_metrics(header_key(request)):
        raise Refusal("a valid key is needed, as a bearer token", 403)
    text = service.metrics.text(await models(service))
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/models", tags=["Introspection"])
async def models(service: SharedService) -> list[ModelAnswer]:
    """Describe the models that are loaded."""
    return [direction.model.description for direction in service.models.directions.values()]


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
    if not _GZIP.search(request.headers.get("accept-encoding", "")):
        return Response(file.content, media_type=file.media_type, headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(file.compressed, media_type=file.media_type, headers=headers)
