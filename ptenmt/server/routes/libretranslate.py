"""LibreTranslate's routes: for texts, documents, languages and settings."""

import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from ptenmt.data.languages import language_name
from ptenmt.documents import FORMATS, Document, other_language, read_document, translated_name
from ptenmt.documents.html import Html
from ptenmt.documents.inline import LINE_BREAK
from ptenmt.documents.text import Parsed, plain_text
from ptenmt.server import schemas
from ptenmt.server.limits import Refusal
from ptenmt.server.models import Route
from ptenmt.server.service import (
    RequestModels,
    Service,
    SharedService,
    answer_in_time,
    bearer_token,
    client_of,
    read_upload,
)
from ptenmt.translation import Translation
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.markup import Fragment, text_of

DOWNLOAD_SECONDS = 20 * 60
MAX_DOWNLOAD_BYTES = 64_000_000
router = APIRouter(tags=["LibreTranslate"])


@router.post(
    "/translate",
    response_model=schemas.TranslateAnswer,
    response_model_exclude_unset=True,
    openapi_extra=schemas.body_of(schemas.TranslateRequest),
    responses=schemas.errors(400, 403, 408, 413, 429, 503),
)
async def translate(request: Request, service: SharedService) -> schemas.TranslateAnswer:
    """Translate one text or several, plain or HTML; in HTML only the text is translated."""
    body = await service.read(request, schemas.TranslateRequest)
    _, answer = await translate_texts(request, service, body)
    if not isinstance(body.q, str):
        return schemas.TranslateAnswer(**answer)
    return schemas.TranslateAnswer(**{name: value[0] for name, value in answer.items()})


@router.post(
    "/detect",
    response_model=list[schemas.Detection] | list[list[schemas.Detection]],
    openapi_extra=schemas.body_of(schemas.DetectRequest),
    responses=schemas.errors(400, 403, 408, 413, 429, 503),
)
async def detect(request: Request, service: SharedService) -> Any:
    """Detect which of the server's languages a text is in, or another one; the likeliest first."""
    body = await service.read(request, schemas.DetectRequest)
    texts = _texts_of(request, service, body)
    detections = await service.answer(request, lambda _models: list(map(service.detect, texts)))
    return detections[0] if isinstance(body.q, str) else detections


@router.post("/suggest", include_in_schema=False)
async def suggest() -> None:
    """Refuse, as LibreTranslate does where suggestions are not wanted."""
    raise Refusal("Suggestions are disabled on this server.", 403)


@router.get("/languages")
async def languages(service: SharedService) -> list[schemas.LanguageAnswer]:
    """List the languages, and what each can be translated to."""
    return [
        schemas.LanguageAnswer(code=code, name=language_name(code), targets=service.models.targets(code))
        for code in service.models.languages
    ]


@router.get("/frontend/settings")
async def settings(service: SharedService) -> schemas.SettingsAnswer:
    """Return the settings that a web page needs."""
    languages = {"source": service.models.default.source, "target": service.models.default.target}
    return schemas.SettingsAnswer(
        charLimit=service.limits.characters,
        sentenceLimit=service.limits.sentences,
        apiKeys=service.keys.are_required,
        keyRequired=service.keys.are_required,
        supportedFilesFormat=[*FORMATS, ".htm"],
        language={
            role: schemas.NamedLanguage(code=code, name=language_name(code))
            for role, code in languages.items()
        },
    )


def _texts_of(request: Request, service: Service, body: schemas.DetectRequest) -> list[str]:
    """The texts of a request; refuses too many characters or texts, blank ones included."""
    texts = [body.q] if isinstance(body.q, str) else body.q
    service.check_length(request, texts)
    if len(texts) > (most := service.limits.sentences):
        raise Refusal(f"there are {len(texts):,} texts; {most:,} are allowed")
    return texts


async def translate_texts(
    request: Request, service: Service, body: schemas.TranslateRequest, *, split_sentences: bool = True
) -> tuple[list[str], dict[str, list[Any]]]:
    """The texts, and the fields of the answer with an entry for each text; refuses too many of them."""
    texts = _texts_of(request, service, body)
    options = TextOptions(split_sentences, service.glossary(body.glossary))
    return texts, await service.answer(
        request, lambda models: _translate(service, models, body, options, texts)
    )


@dataclass(frozen=True)
class TextOptions:
    """How the texts of a request are translated."""

    split_sentences: bool
    """Whether lines are split into sentences."""
    glossary: Glossary | None


@dataclass
class _Text:
    """A text of a request on its way to its translation."""

    source: str
    markup: Parsed | None
    """None for plain text."""
    parts: list[list[Fragment]]
    """What is translated: the whole of a plain text, the passages of HTML."""
    language: schemas.Detection | None = None
    """Detected, if the request asks for it."""
    route: Route = ()
    """Empty if the text is in the target language."""
    translations: list[Translation] = field(default_factory=list)
    """A translation of each part; none without a route."""
    marked: list[list[list[Fragment]]] = field(default_factory=list)
    """Of each part its translation and the alternatives, best first, with their markup."""

    @property
    def ranked(self) -> list[str]:
        """The translations of the text, best first; parts with fewer repeat their last."""
        if not self.route:
            return [self.source]
        ranks = range(max(map(len, self.marked), default=1))
        rows = ([ranked[min(rank, len(ranked) - 1)] for ranked in self.marked] for rank in ranks)
        return [text_of(row[0]) if self.markup is None else self.markup.with_texts(row) for row in rows]

    @property
    def detected(self) -> str | None:
        """The other language that the translator has found the text to be in."""
        return next((part.detected for part in self.translations if part.detected), None)

    @property
    def confidence(self) -> float | None:
        """The mean of its parts."""
        known = [part.confidence for part in self.translations if part.confidence is not None]
        return round(fmean(known), 4) if known else None

    @property
    def sentences(self) -> list[dict[str, Any]]:
        """The translated sentences with their confidence."""
        return [
            {"translation": sentence.text, "confidence": sentence.confidence}
            for part in self.translations
            for sentence in part.sentences
        ]


def _translate(
    service: Service,
    models: RequestModels,
    body: schemas.TranslateRequest,
    options: TextOptions,
    sources: list[str],
) -> dict[str, list[Any]]:
    """The fields of the answer, with an entry for each text."""
    texts = [_read_text(service, body, source) for source in sources]
    if body.source == "auto":
        for text in texts:
            text.language = service.detect_source(" ".join(map(text_of, text.parts)), body.target)
            text.route = service.route(text.language.language, body.target)
    else:
        route = service.models.route(body.source, body.target)
        for text in texts:
            text.route = route
    for route in filter(None, dict.fromkeys(text.route for text in texts)):
        alike = [text for text in texts if text.route == route]
        _translate_by_route(service, models, body, options, route, alike)
    return _answer(body, texts)


def _read_text(service: Service, body: schemas.TranslateRequest, source: str) -> _Text:
    if body.format == "text" and not LINE_BREAK.search(source):
        return _Text(source, None, [[(source, ())]])
    markup = plain_text(source) if body.format == "text" else Html(source, _languages(service, body))
    return _Text(source, markup, markup.texts)


def _translate_by_route(
    service: Service,
    models: RequestModels,
    body: schemas.TranslateRequest,
    options: TextOptions,
    route: Route,
    texts: list[_Text],
) -> None:
    translations, marked = models.translate(
        route,
        [part for text in texts for part in text.parts],
        glossary=options.glossary,
        max_sentences=service.limits.sentences,
        count=1 + body.alternatives,
        with_confidence=body.confidence,
        split_sentences=options.split_sentences,
    )
    first = 0
    for text in texts:
        last = first + len(text.parts)
        text.translations, text.marked = translations[first:last], marked[first:last]
        first = last


def _answer(body: schemas.TranslateRequest, texts: list[_Text]) -> dict[str, list[Any]]:
    answer: dict[str, list[Any]] = {}
    if body.source == "auto":
        answer["detectedLanguage"] = [text.language for text in texts]
    detected = [text.detected for text in texts]
    if any(detected):
        answer["detected"] = detected
    if body.confidence:
        answer["confidence"] = [text.confidence for text in texts]
        answer["sentences"] = [text.sentences for text in texts]
        answer["words"] = [[word for part in text.translations for word in part.words] for text in texts]
    ranked = [text.ranked for text in texts]
    answer["translatedText"] = [best for best, *_ in ranked]
    if body.alternatives:
        answer["alternatives"] = [list(filter(str.strip, others)) for _, *others in ranked]
    return answer


def _languages(
    service: Service, body: schemas.TranslateRequest | schemas.FileRequest
) -> tuple[Sequence[str], str]:
    """Which languages the target replaces where a document names its own."""
    return service.models.languages if body.source == "auto" else (body.source,), body.target


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
    response_model_exclude_none=True,
    openapi_extra=schemas.body_of(schemas.FileRequest, with_file=True),
    responses=schemas.errors(400, 403, 408, 413, 429, 503),
)
async def translate_file(request: Request, service: SharedService) -> schemas.FileAnswer:
    """Translate a document, of a format that /frontend/settings lists. Its layout is kept."""
    async with _receiving(request, service) as (body, name, content):
        with service.documents.taken(client_of(request)):
            work = _translate_document(request, service, body, name, content)
            translated, detected = await answer_in_time(request, work, service.limits.file_seconds)
    token = request.app.state.downloads.add(translated_name(name, body.target), translated)
    url = str(request.url_for("download_file", token=token))
    return schemas.FileAnswer(translatedFileUrl=url, detected=detected)


@asynccontextmanager
async def _receiving(
    request: Request, service: Service
) -> AsyncIterator[tuple[schemas.FileRequest, str, bytes]]:
    """Receive an upload, and keep its place until it is translated; refuses if there is none."""
    key = bearer_token(request)
    if key:
        service.check_key(request, key)
    is_authorized = service.keys.owner(key) is not None
    uploads = service.uploads if is_authorized else service.uploads_without_key
    hint = "" if is_authorized else "; send the key as a bearer token"
    with uploads.taken(client_of(request), hint):
        body, name, content = await read_upload(request, schemas.FileRequest, service.limits.file_bytes)
        yield service.check(request, body), name, content


@router.get(
    "/download_file/{token}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}, **schemas.errors(404)},
)
async def download_file(request: Request, token: str) -> Response:
    """Fetch a translated document."""
    download = request.app.state.downloads.find(token)
    if download is None:
        raise Refusal("no such document, or no longer: they are kept for 20 minutes", 404)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(download.name)}"}
    return Response(download.content, media_type="application/octet-stream", headers=headers)


async def _translate_document(
    request: Request, service: Service, body: schemas.FileRequest, name: str, content: bytes
) -> tuple[bytes, str | None]:
    """The translation of a document, and its language if the translator has found another one."""
    glossary = service.glossary(body.glossary)
    document, texts = await service.in_document_thread(_parse, service, body, name, content)
    service.count_characters(request, sum(map(len, texts)))
    if body.source == "auto":
        detected = await service.in_document_thread(service.detect_source, " ".join(texts), body.target)
        route = service.route(detected.language, body.target)
    else:
        route = service.models.route(body.source, body.target)
    if not route:
        return content, None
    translations, moved = await service.run(
        request,
        lambda models: models.translate(route, document.texts, glossary=glossary),
        is_document=True,
    )
    content = await service.in_document_thread(document.with_texts, [best for best, *_ in moved])
    return content, other_language(translations)


def _parse(
    service: Service, body: schemas.FileRequest, name: str, content: bytes
) -> tuple[Document, list[str]]:
    """A document and its texts; refuses too many characters."""
    document = read_document(name, content, _languages(service, body))
    texts = list(map(text_of, document.texts))
    given, most = sum(map(len, texts)), service.limits.file_characters
    if given > most:
        raise Refusal(f"the document has {given:,} characters; {most:,} are allowed", 413)
    return document, texts
