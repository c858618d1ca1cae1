"""The routes of LibreTranslate, for texts, documents, languages and settings, and of DeepL, for texts.

Further ones show how the model translates: word alignments, next-token alternatives, attention.
"""

import asyncio
import json
import math
import secrets
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import quote

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request, Response

from ptenmt.data.languages import language_name
from ptenmt.documents import FORMATS, other_language, read_document, translated_name
from ptenmt.documents.html import Html
from ptenmt.server import schemas
from ptenmt.server.limits import Refusal
from ptenmt.server.models import Model, Models
from ptenmt.server.service import Service, SharedService, answer_in_time, bearer_token, client_of
from ptenmt.tokenizers import END
from ptenmt.translation import Translation
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.markup import Fragment, text_of
from ptenmt.translation.single_sentence import align, next_token_alternatives
from ptenmt.translation.word_alignment import WordAlignment

DOWNLOAD_SECONDS = 20 * 60
MAX_DOWNLOAD_BYTES = 64_000_000
router = APIRouter(tags=["LibreTranslate"])
deepl_router = APIRouter(tags=["DeepL"])
introspection_router = APIRouter(prefix="/v1", tags=["Introspection"])
_SENTENCE = schemas.body_of(schemas.SentenceRequest)


@router.post("/translate", openapi_extra=schemas.body_of(schemas.TranslateRequest))
async def translate(request: Request, service: SharedService) -> dict[str, Any]:
    """Translate one text or several, plain or HTML; in HTML only the text is translated.

    The answer has ``translatedText``; with ``source=auto`` ``detectedLanguage``; if they are requested
    ``alternatives``; and ``detected``, the language of a text that is confidently in another one. For a list,
    they are lists.
    """
    body = await service.read(request, schemas.TranslateRequest)
    answers = await translate_texts(request, service, body)
    names = dict.fromkeys(name for answer in answers for name in answer)
    if not any(answer["detected"] for answer in answers):
        names.pop("detected", None)
    lists = {"translatedText": []} | {name: [answer[name] for answer in answers] for name in names}
    return lists if isinstance(body.q, list) else {name: value for name, (value,) in lists.items()}


async def translate_texts(
    request: Request, service: Service, body: schemas.TranslateRequest
) -> list[dict[str, Any]]:
    """The fields of the answer to each text; refuses too many texts."""
    service.check_texts(request, body.texts)
    glossary = service.glossary(body.glossary)
    return await service.answer(request, lambda: _translate_texts(service, body, glossary))


def _translate_texts(
    service: Service, body: schemas.TranslateRequest, glossary: Glossary | None
) -> list[dict[str, Any]]:
    """The fields of the answer to each text: parse, detect, translate those of a language together, join."""
    languages = _replaced_languages(service.models, body)
    pages = [Html(text, languages) if body.format == "html" else None for text in body.texts]
    passages: list[list[list[Fragment]]] = [
        page.texts if page else [[(text, ())]] for text, page in zip(body.texts, pages, strict=True)
    ]
    found = [service.direction(body.source, body.target, " ".join(map(text_of, each))) for each in passages]
    translated: list[list[tuple[Translation, list[list[Fragment]]]]] = [[] for _ in passages]
    directions = [direction for _, direction in found]  # a text in the target language has none
    for direction in filter(None, dict.fromkeys(directions)):
        alike = [place for place, own in enumerate(directions) if own is direction]
        translations, marked = service.translate(
            direction,
            [passage for place in alike for passage in passages[place]],
            glossary=glossary,
            max_sentences=service.limits.sentences,
            num_hypotheses=1 + body.alternatives,
        )
        pairs = zip(translations, marked, strict=True)
        for place in alike:
            translated[place] = list(islice(pairs, len(passages[place])))
    detections = (detection for detection, _ in found)
    rows = zip(body.texts, pages, detections, translated, strict=True)
    return [_answer(body, *row) for row in rows]


def _answer(
    body: schemas.TranslateRequest,
    text: str,
    page: Html | None,
    detection: schemas.Detection | None,
    translated: Sequence[tuple[Translation, Sequence[Sequence[Fragment]]]],
) -> dict[str, Any]:
    """The fields of the answer to a text.

    ``translated`` has of each passage its translation, and with their markup the translation and the
    alternatives, best first; passages with fewer repeat their last. It is empty if the text stays.
    """
    ranks = range(max((len(ranked) for _, ranked in translated), default=0))
    rows = [[ranked[min(rank, len(ranked) - 1)] for _, ranked in translated] for rank in ranks]
    texts = [page.with_texts(row) if page else text_of(row[0]) for row in rows] or [text]
    best = [translation for translation, _ in translated]
    answer: dict[str, Any] = {"translatedText": texts[0]}
    answer["detected"] = next((passage.detected for passage in best if passage.detected), None)
    if detection:
        answer["detectedLanguage"] = detection
    if body.alternatives:
        answer["alternatives"] = list(filter(str.strip, texts[1:]))
    return answer


def _replaced_languages(
    models: Models, body: schemas.TranslateRequest | schemas.FileRequest
) -> tuple[Sequence[str], str]:
    """Which languages the target replaces where a document names its own."""
    return models.languages if body.source == "auto" else (body.source,), body.target


@router.post("/detect", openapi_extra=schemas.body_of(schemas.DetectRequest))
async def detect(
    request: Request, service: SharedService
) -> list[schemas.Detection] | list[list[schemas.Detection]]:
    """Detect which of the server's languages a text is in, or another one; the likeliest first."""
    body = await service.read(request, schemas.DetectRequest)
    service.check_texts(request, body.texts)
    detections = await service.answer(request, lambda: list(map(service.detect, body.texts)))
    return detections[0] if isinstance(body.q, str) else detections


@router.post("/suggest", include_in_schema=False)
async def suggest() -> None:
    """Refuse, as LibreTranslate does where suggestions are not wanted."""
    raise Refusal("Suggestions are disabled on this server.", 403)


@router.get("/languages")
async def languages(service: SharedService) -> list[dict[str, Any]]:
    """List the languages, and what each can be translated to."""
    models = service.models
    return [
        {
            **_named(code),
            "targets": [other for other in models.languages if models.can_translate(code, other)],
        }
        for code in models.languages
    ]


@router.get("/frontend/settings")
async def settings(service: SharedService) -> dict[str, Any]:
    """Return the settings that a web page needs; the limit of sentences is not in LibreTranslate."""
    default, are_required = service.models.default, service.keys.are_required
    return {
        "charLimit": service.limits.characters,
        "sentenceLimit": service.limits.sentences,
        "frontendTimeout": 500,  # milliseconds to wait for further typing
        "apiKeys": are_required,
        "keyRequired": are_required,
        "suggestions": False,
        "filesTranslation": True,
        "supportedFilesFormat": [*FORMATS, ".htm"],
        "language": {"source": _named(default.source), "target": _named(default.target)},
    }


def _named(code: str) -> dict[str, str]:
    return {"code": code, "name": language_name(code)}


@router.post("/translate_file", openapi_extra=schemas.body_of(schemas.FileRequest, with_file=True))
async def translate_file(request: Request, service: SharedService) -> dict[str, str]:
    """Translate a document, of a format that /frontend/settings lists. Its layout is kept."""
    if key := bearer_token(request):  # before the document is received
        service.check_key(request, key)
    with service.documents.taken(client_of(request)):
        body, name, content = await schemas.read_upload(
            request, schemas.FileRequest, int(service.limits.file_megabytes * 1e6)
        )
        work = _translate_document(request, service, service.check(request, body), name, content)
        translated, detected = await answer_in_time(request, work, service.limits.file_seconds)
    token = request.app.state.downloads.add(translated_name(name, body.target), translated)
    answer = {"translatedFileUrl": str(request.url_for("download_file", token=token))}
    return answer | ({"detected": detected} if detected else {})


async def _translate_document(
    request: Request, service: Service, body: schemas.FileRequest, name: str, content: bytes
) -> tuple[bytes, str | None]:
    """The translation of a document, and its language if that is surely another one; refuses long ones."""
    glossary = service.glossary(body.glossary)
    replaced = _replaced_languages(service.models, body)
    document = await run_sync(read_document, name, content, replaced, abandon_on_cancel=True)
    texts = list(map(text_of, document.texts))
    given, most = sum(map(len, texts)), service.limits.file_characters
    if given > most:
        raise Refusal(f"the document has {given:,} characters; {most:,} are allowed", 413)
    service.count_characters(request, given)
    _, direction = await run_sync(service.direction, body.source, body.target, " ".join(texts))
    if direction is None:
        return content, None
    translations, marked = await service.run(
        request, lambda: service.translate(direction, document.texts, glossary=glossary), is_document=True
    )
    best = [ranked[0] for ranked in marked]
    content = await run_sync(document.with_texts, best, abandon_on_cancel=True)
    return content, other_language(translations)


@router.get("/download_file/{token}", response_class=Response)
async def download_file(request: Request, token: str) -> Response:
    """Fetch a translated document."""
    download = request.app.state.downloads.find(token)
    if download is None:
        raise Refusal("no such document, or no longer: they are kept for 20 minutes", 404)
    name, content = download
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "Cache-Control": "no-store",
    }
    return Response(content, media_type="application/octet-stream", headers=headers)


@deepl_router.post("/v2/translate", openapi_extra=schemas.body_of(schemas.DeepLRequest))
async def translate_as_deepl(request: Request, service: SharedService) -> dict[str, list[dict[str, Any]]]:
    """Translate texts as DeepL's API does; its options that do not affect a translation here are ignored."""
    body = await service.read(request, schemas.DeepLRequest)
    answers = await translate_texts(request, service, body)
    translations = []
    for text, answer in zip(body.texts, answers, strict=True):
        detection = answer.get("detectedLanguage")
        language = detection.language if detection else body.source
        translations.append(
            {
                "text": answer["translatedText"],
                "detected_source_language": language.upper(),
                "billed_characters": len(text),
            }
        )
    return {"translations": translations}


@deepl_router.post("/v2/languages")
@deepl_router.get("/v2/languages")
async def languages_as_deepl(request: Request, service: SharedService) -> list[dict[str, str]]:
    """List the source languages, or with ``type=target``, in the query string or a form, the target ones."""
    given = await service.read(request, schemas.DeepLLanguagesRequest)
    codes = dict.fromkeys(pair[given.type == "target"] for pair in service.models.directions)
    return [{"language": code.upper(), "name": language_name(code)} for code in codes]


@deepl_router.post("/v2/usage")
@deepl_router.get("/v2/usage")
async def usage(request: Request, service: SharedService) -> dict[str, int]:
    """Return the characters of the client's quota; without one, none of a great number are used."""
    quota = service.check_key(request, bearer_token(request)).characters
    quota.spend(0)  # what has come back meanwhile
    used = math.ceil(quota.size - quota.num_left) if quota.size else 0
    return {"character_count": used, "character_limit": quota.size or 10**12}


@introspection_router.post("/alignment", openapi_extra=_SENTENCE)
async def alignment(request: Request, service: SharedService) -> WordAlignment:
    """Translate a sentence, and return which source words each word of the translation attends to."""
    model, body = await _asked(request, service)
    return await service.answer(request, lambda: align(model.translator, body.q, body.prefix).of_words())


@introspection_router.post("/alternatives", openapi_extra=_SENTENCE)
async def alternatives(request: Request, service: SharedService) -> dict[str, list[dict[str, Any]]]:
    """Return whole translations that differ in the first token after a target prefix, the best token first.

    Each has its text, its score and the probability of that token, null if the sentence has no words.
    """
    model, body = await _asked(request, service)
    ranked = await service.answer(
        request, lambda: next_token_alternatives(model.translator, body.q, body.prefix, body.count)
    )
    facts = ("text", "score", "probability")
    return {"alternatives": [{name: getattr(each, name) for name in facts} for each in ranked]}


@introspection_router.post("/attention", response_class=Response, openapi_extra=_SENTENCE)
async def attention(request: Request, service: SharedService) -> Response:
    """Return the attention weights of every layer and head, ``weights`` [H][T][S] by layer.

    Row t of the decoder's reads ``target_pieces[t]`` and predicts ``written_pieces[t]``.
    """
    model, body = await _asked(request, service)
    most = service.limits.attention_tokens
    weights = await service.answer(request, lambda: _attention(model, body, most))
    return Response(weights, media_type="application/json")


async def _asked(request: Request, service: Service) -> tuple[Model, schemas.SentenceRequest]:
    """Read a request; returns its model, by default the first, and what it asks."""
    body = await service.read(request, schemas.SentenceRequest)
    service.check_texts(request, [body.q + body.prefix + (body.translation or "")])
    default = service.models.default
    direction = service.models.direction(body.source or default.source, body.target or default.target)
    if direction is None:
        raise Refusal("source and target are the same language")
    return direction.model, body


def _attention(model: Model, body: schemas.SentenceRequest, most: int) -> str:
    """The answer in JSON: half a million numbers, which take too long to write in the event loop.

    Raises:
        ConfigError: The text is not a single sentence.
        Refusal: It, or its translation, has more than ``most`` tokens.
    """
    translator, text, translation = model.translator, body.q, body.translation
    source = list(translator.encoder.single_sentence(text).sentences[0].ids)
    if translation is None:
        options = replace(translator.config.decoding, split_sentences=False, safeguards=False)
        best = translator.translate(text, options)[0]
        translation, target = best.text, best.ids
    else:
        target = translator.encoder.targets([translation])[0][0]
    target = target[:-1] if target[-1] == END else target  # the decoder is never fed [END]
    if (longest := max(len(source), len(target))) > most:
        raise Refusal(
            f"the sentence has {longest} tokens; attention is returned for sentences of at most {most}"
        )
    target_pieces = translator.tokenizers.target.pieces
    answer = {
        "translation": translation,
        "source_pieces": translator.tokenizers.source.pieces(source),
        "target_pieces": target_pieces(target),
        "written_pieces": target_pieces([*target[1:], END]),
        "alignment_layer": translator.engine.alignment_layer,
        "weights": model.attention(source, target),
    }
    return json.dumps(answer, ensure_ascii=False)


class Downloads:
    """Translated documents in memory, by secret tokens; the oldest make room for new ones."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, bytes]] = {}

    def add(self, name: str, content: bytes) -> str:
        """Keep a document, of whatever size; returns its token."""
        room = MAX_DOWNLOAD_BYTES - len(content)
        while self._kept and sum(len(kept) for _, kept in self._kept.values()) > room:
            del self._kept[next(iter(self._kept))]
        token = secrets.token_urlsafe(32)
        self._kept[token] = name, content
        asyncio.get_running_loop().call_later(DOWNLOAD_SECONDS, self._kept.pop, token, None)
        return token

    def find(self, token: str) -> tuple[str, bytes] | None:
        """The name and content of a token's document; None if it is unknown or expired."""
        return self._kept.get(token)
