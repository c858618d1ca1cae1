"""LibreTranslate's routes for documents: /translate_file and /download_file."""

from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from ptenmt.server.documents import Document, read_document, translated_name
from ptenmt.server.http_requests import answer_in_time, bearer_token, read_upload
from ptenmt.server.refusal import Refusal
from ptenmt.server.routes.translate import check_direction
from ptenmt.server.schemas import FileAnswer, FileRequest, body_of, errors
from ptenmt.server.service import Service, SharedService

router = APIRouter(tags=["LibreTranslate"])


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
    with service.uploads.slot(is_authorized=service.keys.admit(key)):
        asked, name, content = await read_upload(request, FileRequest, service.limits.file_bytes)
        service.check_key(key or asked.api_key or "")
        if service.documents.locked():
            raise Refusal("too busy: other documents are being translated", 503, retry_after=10)
        async with service.documents:
            work = _translate_document(service, asked, name, content)
            translated = await answer_in_time(request, work, service.limits.file_seconds)
    token = service.downloads.add(translated_name(name, asked.target), translated)
    return FileAnswer(translatedFileUrl=str(request.url_for("download_file", token=token)))


@router.get(
    "/download_file/{token}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}, **errors(404)},
)
async def download_file(token: str, service: SharedService) -> Response:
    """Fetch a translated document."""
    found = service.downloads.find(token)
    if found is None:
        raise Refusal("no such document, or no longer: they are kept for 20 minutes", 404)
    disposition = f"attachment; filename*=UTF-8''{quote(found.name)}"
    return Response(
        found.content, media_type="application/octet-stream", headers={"Content-Disposition": disposition}
    )


async def _translate_document(service: Service, asked: FileRequest, name: str, content: bytes) -> bytes:
    document, texts = await service.aside(_parse, name, content, service.limits.file_characters)
    source = asked.source
    if source == "auto":
        source = (await service.aside(service.detector.detect, " ".join(texts)))[0].language
    if not check_direction(service, source, asked.target):
        return content
    translations = await service.run(lambda translator: translator.translate(texts), is_document=True)
    return await service.aside(document.with_texts, [translation.text for translation in translations])


def _parse(name: str, content: bytes, max_characters: int) -> tuple[Document, list[str]]:
    """A document and its texts; refuses too many characters."""
    document = read_document(name, content)
    texts = document.texts
    given = sum(map(len, texts))
    if given > max_characters:
        raise Refusal(f"the document has {given:,} characters; {max_characters:,} are allowed", 413)
    return document, texts
