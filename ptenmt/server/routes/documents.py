"""LibreTranslate's routes for documents: /translate_file and /download_file."""

import secrets
import time
from dataclasses import dataclass
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from ptenmt.server.documents import Document, read_document, translated_name
from ptenmt.server.http_requests import answer_in_time, bearer_token, read_upload
from ptenmt.server.limits import Refusal
from ptenmt.server.routes.translate import check_direction
from ptenmt.server.schemas import FileAnswer, FileRequest, body_of, errors
from ptenmt.server.service import Service, SharedService

DOWNLOAD_SECONDS = 20 * 60
MAX_DOWNLOAD_BYTES = 64_000_000
router = APIRouter(tags=["LibreTranslate"])


@dataclass(frozen=True)
class Download:
    """A translated document."""

    name: str
    content: bytes
    expires: float
    """By ``time.monotonic``."""


class Downloads:
    """Translated documents in memory, by secret tokens; the oldest make room for new ones."""

    def __init__(self) -> None:
        self._kept: dict[str, Download] = {}

    def add(self, name: str, content: bytes) -> str:
        """Keep a document; returns its token."""
        token = secrets.token_urlsafe(32)
        self._kept[token] = Download(name, content, time.monotonic() + DOWNLOAD_SECONDS)
        self._expire()
        return token

    def find(self, token: str) -> Download | None:
        """The document of a token; None if it is unknown or expired."""
        self._expire()
        return self._kept.get(token)

    def _expire(self) -> None:
        """Drop expired documents, and the oldest while there are too many bytes; the newest stays."""
        now = time.monotonic()
        num_bytes = sum(len(kept.content) for kept in self._kept.values())
        for token, kept in list(self._kept.items()):
            if kept.expires >= now and (num_bytes <= MAX_DOWNLOAD_BYTES or len(self._kept) == 1):
                break
            num_bytes -= len(kept.content)
            del self._kept[token]


@router.post(
    "/translate_file",
    openapi_extra=body_of(FileRequest, with_file=True),
    responses=errors(400, 403, 408, 413, 503),
)
async def translate_file(request: Request, service: SharedService) -> FileAnswer:
    """Translate a document: .txt, .html, .srt or .docx. Its layout is kept."""
    key = bearer_token(request)
    if key:
        service.check_key(key)
    is_authorized = service.keys.admit(key)
    uploads = service.uploads if is_authorized else service.uploads_without_key
    if uploads.locked():
        hint = "" if is_authorized else "; send the key as a bearer token"
        raise Refusal(f"too busy: other documents are being received{hint}", 503, retry_after=10)
    async with uploads:
        asked, name, content = await read_upload(request, FileRequest, service.limits.file_bytes)
        service.check_key(key or asked.api_key or "")
        if service.documents.locked():
            raise Refusal("too busy: other documents are being translated", 503, retry_after=10)
        async with service.documents:
            work = _translate_document(service, asked, name, content)
            translated = await answer_in_time(request, work, service.limits.file_seconds)
    token = request.app.state.downloads.add(translated_name(name, asked.target), translated)
    return FileAnswer(translatedFileUrl=str(request.url_for("download_file", token=token)))


@router.get(
    "/download_file/{token}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}, **errors(404)},
)
async def download_file(request: Request, token: str) -> Response:
    """Fetch a translated document."""
    found = request.app.state.downloads.find(token)
    if found is None:
        raise Refusal("no such document, or no longer: they are kept for 20 minutes", 404)
    disposition = f"attachment; filename*=UTF-8''{quote(found.name)}"
    return Response(
        found.content, media_type="application/octet-stream", headers={"Content-Disposition": disposition}
    )


async def _translate_document(service: Service, asked: FileRequest, name: str, content: bytes) -> bytes:
    document, texts = await service.aside(_parse, service, asked, name, content)
    source = asked.source
    if source == "auto":
        source = (await service.aside(service.detect, " ".join(texts)))[0].language
    if not check_direction(service, source, asked.target):
        return content
    translations = await service.run(lambda translator: translator.translate(texts), is_document=True)
    return await service.aside(document.with_texts, [translation.text for translation in translations])


def _parse(service: Service, asked: FileRequest, name: str, content: bytes) -> tuple[Document, list[str]]:
    """A document and its texts; refuses too many characters."""
    document = read_document(name, content, asked.target)
    texts = document.texts
    given, most = sum(map(len, texts)), service.limits.file_characters
    if given > most:
        raise Refusal(f"the document has {given:,} characters; {most:,} are allowed", 413)
    return document, texts
