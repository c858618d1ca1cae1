"""Documents that are zip archives: unpacked within bounds, and packed again."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from itertools import chain, islice

from ptenmt.server.documents.html import Html, check_bounds
from ptenmt.server.documents.plain import check_tags, limited
from ptenmt.server.limits import Refusal
from ptenmt.translation.markup import Fragment

MAX_FILES = 2_000
MAX_BYTES = 50_000_000
"""Of all files in a document together, unpacked."""
MAX_XML_BYTES = 8_000_000
"""Of its XML files, which take ten times as much memory when they are parsed."""
MAX_TAGS = 500_000

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compression methods of OPC, OpenDocument and EPUB; zipfile unpacks others without a bound."""


class ZippedDocument:
    """Files of which the ``parts`` are translated; refused if they have too many texts."""

    def __init__(self, files: dict[str, bytes], parts: Mapping[str, Html]) -> None:
        self._files, self._parts = files, parts
        self.texts = limited(chain.from_iterable(part.texts for part in parts.values()))

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> bytes:
        """The archive with other texts, one for each of ``texts``."""
        remaining = iter(texts)
        for name, part in self._parts.items():
            self._files[name] = part.with_texts(list(islice(remaining, len(part.texts)))).encode()
        return packed(self._files)


def unpacked(content: bytes, kind: str) -> dict[str, bytes]:
    """The files of a zip archive by name, after their sizes are checked.

    A file in a zip may unpack to more than its header states; no more than that is read.
    """
    files: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_FILES or len({entry.filename for entry in entries}) < len(entries):
                raise Refusal("the document cannot be read: too many files in it, or some twice")
            if sum(entry.file_size for entry in entries) > MAX_BYTES:
                raise _too_large()
            for entry in entries:
                if entry.compress_type not in _METHODS:
                    raise Refusal("the document cannot be read: unknown compression")
                with archive.open(entry) as file:
                    files[entry.filename] = file.read(entry.file_size)
    except Refusal:
        raise
    except Exception as error:  # zipfile raises about any of them for damaged archives
        raise unreadable(kind) from error
    xml = list(filter(_is_xml, files.values()))
    if sum(map(len, xml)) > MAX_XML_BYTES:
        raise _too_large()
    check_tags(sum(content.count(b"<") for content in xml), MAX_TAGS)
    for each in xml:
        check_bounds(each)
    return files


def packed(files: Mapping[str, bytes]) -> bytes:
    """A zip archive; as OpenDocument and EPUB prescribe, ``mimetype`` is first and not compressed."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as written:
        for name in sorted(files, key="mimetype".__ne__):
            written.writestr(name, files[name], zipfile.ZIP_STORED if name == "mimetype" else None)
    return archive.getvalue()


def decoded(files: Mapping[str, bytes], name: str, kind: str) -> str:
    """A file as text; one that is missing or not UTF-8 is refused."""
    try:
        return files[name].decode("utf-8-sig")
    except (KeyError, UnicodeDecodeError) as error:
        raise unreadable(kind) from error


def unreadable(kind: str) -> Refusal:
    """The error for a document that is not of a kind, such as ``a Word document``."""
    return Refusal(f"the file is not {kind}, or it is damaged or encrypted")


def _too_large() -> Refusal:
    return Refusal("the document is too large when it is unpacked", 413)


def _is_xml(content: bytes) -> bool:
    """Whether a parser could take it for XML: it begins with ``<`` in UTF-8, UTF-16, UTF-32 or EBCDIC."""
    return content[:1_000].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")[:1] in (b"<", b"L", b"")
