"""LibreTranslate's routes: texts and documents."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response

from ptenmt.languages import language_name
from ptenmt.server.detection import Detected, Detector
from ptenmt.server.documents import FORMATS, Document, read_document, translated_name
from ptenmt.server.documents.html import Html
from ptenmt.server.downloads import Downloads
from ptenmt.server.keys import Keys
from ptenmt.server.openapi import body_of, errors
from ptenmt.server.reading import answered, bearer, read, read_upload
from ptenmt.server.refusal import Refusal
from ptenmt.server.schemas import (
    Detection,
    DetectRequest,
    FileAnswer,
    FileRequest,
    Keyed,
    LanguageAnswer,
    SettingsAnswer,
    TranslateAnswer,
    TranslateRequest,
)
from ptenmt.server.service import Service
from ptenmt.server.uploads import Uploads

_TYPING_PAUSE = 500  # milliseconds


class Desk:
    """What the routes work with.

    Args:
        service: Translates.
        keys: Who may ask.
    """

    def __init__(self, service: Service, keys: Keys) -> None:
        self.service, self.keys = service, keys
        self.detector = Detector(service.source_language, service.target_language)
        self.downloads = Downloads()
        self.uploads = Uploads(service.limits.uploads, self.check_key)
        self.documents = asyncio.Semaphore(service.limits.files)

    def admit(self, request: Request, asked: Keyed) -> None:
        """Refuse who has no key, if one is needed."""
        self.check_key(asked.api_key or bearer(request))

    def check_key(self, key: str) -> None:
        """Refuse a key that is not known, if one is needed."""
        if not self.keys.admit(key):
            raise Refusal("a valid api_key is needed; ask whoever runs this server for one", 403)

    def check_length(self, texts: list[str]) -> None:
        """Refuse texts that are too long."""
        given, most = sum(map(len, texts)), self.service.limits.characters
        if given > most:
            raise Refusal(f"the text has {given:,} characters; {most:,} are allowed")

    def texts_of(self, asked: TranslateRequest | DetectRequest) -> list[str]:
        """The texts of a request; refuse what is too long, or too many, blank ones among them."""
        texts = [asked.q] if isinstance(asked.q, str) else asked.q
        self.check_length(texts)
        if len(texts) > (most := self.service.limits.sentences):
            raise Refusal(f"there are {len(texts):,} texts; {most:,} are allowed")
        return texts

    def check_direction(self, source: str, target: str) -> bool:
        """Refuse what cannot be translated; whether there is something to translate at all."""
        known = (self.service.source_language, self.service.target_language)
        for language in (source, target):
            if language not in known:
                raise Refusal(
                    f"{language[:35]} is not supported: this server translates {known[0]} to {known[1]}"
                )
        if (source, target) == known[::-1]:
            raise Refusal(f"this server translates {known[0]} to {known[1]}, not back")
        return source != target

    async def detect(self, texts: list[str]) -> list[list[Detected]]:
        """The languages that each text may be in."""
        return await asyncio.to_thread(lambda: [self.detector.detect(text) for text in texts])


async def desk_of(request: Request) -> Desk:
    """What this server's routes work with."""
    desk: Desk = request.app.state.desk
    return desk


AtDesk = Annotated[Desk, Depends(desk_of)]
router = APIRouter(tags=["LibreTranslate"])


@router.post(
    "/translate",
    response_model=TranslateAnswer,
    response_model_exclude_unset=True,
    openapi_extra=body_of(TranslateRequest),
    responses=errors(400, 403, 408, 413, 503),
)
async def translate(request: Request, desk: AtDesk) -> TranslateAnswer:
    """Translate a text or several, plain or HTML, of which only the text is translated."""
    asked = await read(request, TranslateRequest)
    desk.admit(request, asked)
    texts = desk.texts_of(asked)
    answer = await answered(request, _translated(desk, asked, texts), desk.service.limits.seconds)
    if not isinstance(asked.q, str):
        return TranslateAnswer(**answer)
    return TranslateAnswer(**{name: value[0] for name, value in answer.items()})


@router.post(
    "/detect",
    response_model=list[Detection] | list[list[Detection]],
    openapi_extra=body_of(DetectRequest),
    responses=errors(400, 403, 408, 413),
)
async def detect(request: Request, desk: AtDesk) -> Any:
    """Tell which of the two languages a text is in, the likelier one first."""
    asked = await read(request, DetectRequest)
    desk.admit(request, asked)
    texts = desk.texts_of(asked)
    found = [[asdict(language) for language in each] for each in await desk.detect(texts)]
    return found[0] if isinstance(asked.q, str) else found


@router.get("/languages")
async def languages(desk: AtDesk) -> list[LanguageAnswer]:
    """Tell the languages, and what each is translated into."""
    source, target = desk.service.source_language, desk.service.target_language
    return [
        LanguageAnswer(code=source, name=language_name(source), targets=[target]),
        LanguageAnswer(code=target, name=language_name(target), targets=[]),
    ]


@router.get("/frontend/settings")
async def settings(desk: AtDesk) -> SettingsAnswer:
    """Tell what a page has to know."""
    source, target = desk.service.source_language, desk.service.target_language
    named = {
        role: {"code": code, "name": language_name(code)}
        for role, code in (("source", source), ("target", target))
    }
    return SettingsAnswer.model_validate(
        {
            "charLimit": desk.service.limits.characters,
            "sentenceLimit": desk.service.limits.sentences,
            "frontendTimeout": _TYPING_PAUSE,
            "apiKeys": desk.keys.are_required,
            "keyRequired": desk.keys.are_required,
            "suggestions": False,
            "filesTranslation": True,
            "supportedFilesFormat": list(FORMATS),
            "language": named,
        }
    )


@router.post(
    "/translate_file",
    openapi_extra=body_of(FileRequest, with_file=True),
    responses=errors(400, 403, 408, 413, 503),
)
async def translate_file(request: Request, desk: AtDesk) -> FileAnswer:
    """Translate a document: .txt, .html, .srt or .docx. Its layout stays."""
    key = bearer(request)
    with desk.uploads.one() as upload:
        if key or not desk.keys.are_required:
            upload.admit(key)
        asked, name, content = await read_upload(request, FileRequest, desk.service.limits.file_bytes, upload)
        upload.admit(asked.api_key or key)
        if desk.documents.locked():
            raise Refusal("too busy: other documents are being translated", 503, retry_after=10)
        async with desk.documents:
            work = _translated_document(desk, asked, name, content)
            translated = await answered(request, work, desk.service.limits.file_seconds)
    token = desk.downloads.keep(translated_name(name, asked.target), translated)
    return FileAnswer(translatedFileUrl=str(request.url_for("download_file", token=token)))


@router.get(
    "/download_file/{token}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}, **errors(404)},
)
async def download_file(token: str, desk: AtDesk) -> Response:
    """Fetch a translated document."""
    found = desk.downloads.find(token)
    if found is None:
        raise Refusal("no such document, or no longer: they are kept for 20 minutes", 404)
    disposition = f"attachment; filename*=UTF-8''{quote(found.name)}"
    return Response(
        found.content, media_type="application/octet-stream", headers={"Content-Disposition": disposition}
    )


async def _translated(desk: Desk, asked: TranslateRequest, texts: list[str]) -> dict[str, list[Any]]:
    """The fields of the answer, an entry a text."""
    markups = [Html(text) if asked.format == "html" else None for text in texts]
    parts = [[text] if markup is None else markup.texts for text, markup in zip(texts, markups, strict=True)]
    answer: dict[str, list[Any]] = {}
    sources = [asked.source] * len(texts)
    if asked.source == "auto":
        found = [languages[0] for languages in await desk.detect([" ".join(each) for each in parts])]
        answer["detectedLanguage"] = [asdict(language) for language in found]
        sources = [language.language for language in found]
    wanted = [desk.check_direction(source, asked.target) for source in sources]
    flat = [part for each, is_wanted in zip(parts, wanted, strict=True) if is_wanted for part in each]
    translations = iter(await desk.service.translate(flat, alternatives=asked.alternatives))
    rows: list[list[str]] = []
    for text, markup, each, is_wanted in zip(texts, markups, parts, wanted, strict=True):
        if not is_wanted:
            rows.append([text])
            continue
        found_parts = [[one.text for one in next(translations)] for _ in each]
        ranks = range(max(map(len, found_parts), default=1))
        ranked = [[one[min(rank, len(one) - 1)] for one in found_parts] for rank in ranks]
        rows.append([row[0] if markup is None else markup.with_texts(row) for row in ranked])
    answer["translatedText"] = [row[0] for row in rows]
    if asked.alternatives:
        answer["alternatives"] = [row[1:] for row in rows]
    return answer


async def _translated_document(desk: Desk, asked: FileRequest, name: str, content: bytes) -> bytes:
    aside = desk.service.aside
    document, texts = await aside(_cut, name, content, desk.service.limits.file_characters)
    source = asked.source
    if source == "auto":
        source = (await aside(desk.detector.detect, " ".join(texts)))[0].language
    if not desk.check_direction(source, asked.target):
        return content
    translations = await desk.service.translate(texts, is_document=True)
    return await aside(document.with_texts, [found[0].text for found in translations])


def _cut(name: str, content: bytes, most: int) -> tuple[Document, list[str]]:
    """A document and its texts, unless these have too many characters."""
    document = read_document(name, content)
    texts = document.texts
    given = sum(map(len, texts))
    if given > most:
        raise Refusal(f"the document has {given:,} characters; {most:,} are allowed", 413)
    return document, texts
