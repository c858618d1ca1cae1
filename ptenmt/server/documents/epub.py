"""Electronic books (.epub): their pages, titles and tables of contents are translated."""

import posixpath
from collections.abc import Collection
from typing import Any
from urllib.parse import unquote

from ptenmt.server.documents.archive import ZippedDocument, decoded, unpacked, unreadable
from ptenmt.server.documents.html import Html

_KIND = "an EPUB"
_DC = "{http://purl.org/dc/elements/1.1/}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"


def epub(content: bytes, languages: tuple[Collection[str], str] | None = None) -> ZippedDocument:
    """Read an EPUB; ``languages`` are those of ``Html``, and the second becomes the book's."""
    files = unpacked(content, _KIND)
    container = Html(decoded(files, "META-INF/container.xml", _KIND), roles=_roles)
    parts: dict[str, Html] = {}
    for path in {root.get("full-path", ""): None for root in container.root.iter("{*}rootfile")}:
        parts[path] = package = Html(decoded(files, path, _KIND), roles=_roles)
        if languages:
            for language in package.root.iter(f"{_DC}language"):
                language.text = languages[1]
        for item in package.root.iter("{*}item"):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(item.get("href", ""))))
            kind = item.get("media-type") if name in files and name not in parts else None
            if kind == "application/xhtml+xml":
                parts[name] = Html(decoded(files, name, _KIND), languages, is_xhtml=True)
            elif kind == "application/x-dtbncx+xml":
                parts[name] = Html(decoded(files, name, _KIND), roles=_roles)
    if len(parts) < 2:  # no package, or no page
        raise unreadable(_KIND)
    return ZippedDocument(files, parts)


def _roles(root: Any) -> dict[Any, str]:
    """The role of each node, as of HTML: titles, and what contains those of pages, are translated."""
    titles = {*root.iter(f"{_DC}title")}
    titles.update(*root.iter(f"{_NCX}docTitle", f"{_NCX}navLabel"))
    return {node: "block" if node in titles else "untranslated" for node in root.iter()}
