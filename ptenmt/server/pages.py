"""The page's files, read once: what a request names is looked up among them, never on the disk."""

from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePath

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
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
    """The page's files by name."""
    folder = files("ptenmt.server") / "page"
    kinds = {entry: _TYPES.get(PurePath(entry.name).suffix) for entry in folder.iterdir()}
    return {entry.name: _read(entry.read_bytes(), kind) for entry, kind in kinds.items() if kind}


def _read(content: bytes, media_type: str) -> PageFile:
    return PageFile(content, media_type, f'"{sha256(content).hexdigest()[:32]}"')
