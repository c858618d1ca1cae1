"""LibreTranslate's routes for texts: /translate, /detect, /languages, /frontend/settings."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Request

from ptenmt.languages import language_name
from ptenmt.server.detection import DetectedLanguage
from ptenmt.server.documents import FORMATS
from ptenmt.server.documents.html import Html
from ptenmt.server.http_requests import answer_in_time, read
from ptenmt.server.refusal import Refusal
from ptenmt.server.schemas import (
    Detection,
    DetectRequest,
    LanguageAnswer,
    SettingsAnswer,
    TranslateAnswer,
    TranslateRequest,
    body_of,
    errors,
)
from ptenmt.server.service import Service, SharedService
from ptenmt.translation import Translation, Translator

router = APIRouter(tags=["LibreTranslate"])
_TYPING_PAUSE = 500  # milliseconds


@router.post(
    "/translate",
    response_model=TranslateAnswer,
    response_model_exclude_unset=True,
    openapi_extra=body_of(TranslateRequest),
    responses=errors(400, 403, 408, 413, 503),
)
async def translate(request: Request, service: SharedService) -> TranslateAnswer:
    """Translate one text or several, plain or HTML; in HTML only the text is translated."""
    asked = await read(request, TranslateRequest)
    service.admit(request, asked)
    texts = _texts_of(service, asked)
    answer = await answer_in_time(request, _translate(service, asked, texts), service.limits.seconds)
    if not isinstance(asked.q, str):
        return TranslateAnswer(**answer)
    return TranslateAnswer(**{name: value[0] for name, value in answer.items()})


@router.post(
    "/detect",
    response_model=list[Detection] | list[list[Detection]],
    openapi_extra=body_of(DetectRequest),
    responses=errors(400, 403, 408, 413),
)
async def detect(request: Request, service: SharedService) -> Any:
    """Detect which of the two languages a text is in, the more likely one first."""
    asked = await read(request, DetectRequest)
    service.admit(request, asked)
    texts = _texts_of(service, asked)
    found = [[asdict(language) for language in each] for each in await _detect(service, texts)]
    return found[0] if isinstance(asked.q, str) else found


@router.get("/languages")
async def languages(service: SharedService) -> list[LanguageAnswer]:
    """List the languages, and what each can be translated to."""
    source, target = service.source_language, service.target_language
    return [
        LanguageAnswer(code=source, name=language_name(source), targets=[target]),
        LanguageAnswer(code=target, name=language_name(target), targets=[]),
    ]


@router.get("/frontend/settings")
async def settings(service: SharedService) -> SettingsAnswer:
    """Return the settings that a web page needs."""
    languages = {"source": service.source_language, "target": service.target_language}
    return SettingsAnswer.model_validate(
        {
            "charLimit": service.limits.characters,
            "sentenceLimit": service.limits.sentences,
            "frontendTimeout": _TYPING_PAUSE,
            "apiKeys": service.keys.are_required,
            "keyRequired": service.keys.are_required,
            "suggestions": False,
            "filesTranslation": True,
            "supportedFilesFormat": list(FORMATS),
            "language": {
                role: {"code": code, "name": language_name(code)} for role, code in languages.items()
            },
        }
    )


def check_direction(service: Service, source: str, target: str) -> bool:
    """Refuse what the model does not translate; returns False if source and target are the same."""
    known = (service.source_language, service.target_language)
    for language in (source, target):
        if language not in known:
            raise Refusal(
                f"{language[:35]} is not supported: this server translates {known[0]} to {known[1]}"
            )
    if (source, target) == known[::-1]:
        raise Refusal(f"this server translates {known[0]} to {known[1]}, not back")
    return source != target


def _texts_of(service: Service, asked: TranslateRequest | DetectRequest) -> list[str]:
    """The texts of a request; refuses too many characters or texts, blank ones included."""
    texts = [asked.q] if isinstance(asked.q, str) else asked.q
    service.check_length(texts)
    if len(texts) > (most := service.limits.sentences):
        raise Refusal(f"there are {len(texts):,} texts; {most:,} are allowed")
    return texts


async def _detect(service: Service, texts: list[str]) -> list[list[DetectedLanguage]]:
    return await anyio.to_thread.run_sync(lambda: list(map(service.detector.detect, texts)))


async def _translate(service: Service, asked: TranslateRequest, texts: list[str]) -> dict[str, list[Any]]:
    """The fields of the answer, with an entry for each text."""
    markups = [Html(text) if asked.format == "html" else None for text in texts]
    parts = [[text] if markup is None else markup.texts for text, markup in zip(texts, markups, strict=True)]
    answer: dict[str, list[Any]] = {}
    sources = [asked.source] * len(texts)
    if asked.source == "auto":
        detected = [ranked[0] for ranked in await _detect(service, [" ".join(each) for each in parts])]
        answer["detectedLanguage"] = [asdict(language) for language in detected]
        sources = [language.language for language in detected]
    is_translated = [check_direction(service, source, asked.target) for source in sources]
    flat = [part for of_text, wanted in zip(parts, is_translated, strict=True) if wanted for part in of_text]

    def work(translator: Translator) -> list[Translation]:
        count = 1 + asked.alternatives
        beam_size = max(translator.config.decoding.beam_size, count)
        translator = translator.with_options(num_hypotheses=count, beam_size=beam_size)
        return translator.translate(flat, max_segments=service.limits.sentences)

    translations = iter(await service.run(work))
    ranked_texts: list[list[str]] = []
    for text, markup, of_text, wanted in zip(texts, markups, parts, is_translated, strict=True):
        if wanted:
            ranked_texts.append(_rank(markup, [next(translations) for _ in of_text]))
        else:
            ranked_texts.append([text])
    answer["translatedText"] = [best for best, *_ in ranked_texts]
    if asked.alternatives:
        answer["alternatives"] = [others for _, *others in ranked_texts]
    return answer


def _rank(markup: Html | None, parts: Sequence[Translation]) -> list[str]:
    """The translations of a text from those of its parts, best first; parts with fewer repeat their last."""
    of_parts = [[part.text, *(other.text for other in part.alternatives)] for part in parts]
    ranks = range(max(map(len, of_parts), default=1))
    rows = [[ranked[min(rank, len(ranked) - 1)] for ranked in of_parts] for rank in ranks]
    return [row[0] if markup is None else markup.with_texts(row) for row in rows]
