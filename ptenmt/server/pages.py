"""The page's files, read once: what a request names is looked up among them, never on the disk."""

from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "webmanifest": "application/manifest+json",
    "woff2": "font/woff2",
}
INDEX = "index.html"


@dataclass(frozen=True)
class PageFile:
    """A file of the page."""

    content: bytes
    media_type: str
    tag: str
    """Changes when the content does."""


def page_files() -> dict[str, PageFile]:
    """The page's files by name, with the folders below the page's in it."""
    folder = files("ptenmt.server") / "page"
    return dict(_found(folder, "")) if folder.is_dir() else {}


def _found(folder: Traversable, prefix: str) -> list[tuple[str, PageFile]]:
    found: list[tuple[str, PageFile]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _found(entry, f"{prefix}{entry.name}/")
            continue
        media_type = _TYPES.get(entry.name.rpartition(".")[2])
        if media_type:
            content = entry.read_bytes()
            tag = f'"{sha256(content).hexdigest()[:32]}"'
            found.append((prefix + entry.name, PageFile(content, media_type, tag)))
    return found
