"""DeepL's routes, and Immersive Translate's list format, which has nearly the same fields."""

import math
from typing import Any

from fastapi import APIRouter, Request

from ptenmt.data.languages import language_name
from ptenmt.server import schemas
from ptenmt.server.limits import Refusal
from ptenmt.server.routes.libretranslate import translate_texts
from ptenmt.server.service import SharedService, bearer_token

router = APIRouter(
    tags=["DeepL"], responses=schemas.errors(400, 403, 408, 413, 429, 503, model=schemas.DeepLErrorAnswer)
)


@router.post("/immersive", include_in_schema=False)
@router.post("/v2/translate", openapi_extra=schemas.body_of(schemas.DeepLRequest))
async def translate(request: Request, service: SharedService) -> dict[str, list[dict[str, Any]]]:
    """Translate texts as DeepL's API does; its options that do not affect a translation here are ignored."""
    body = await service.read(request, schemas.DeepLRequest)
    _refuse_unsupported(body)
    if body.split_sentences == "nonewlines" and body.format == "text":
        texts = [body.q] if isinstance(body.q, str) else body.q
        body = body.model_copy(update={"q": [text.replace("\n", " ") for text in texts]})
    texts, answer = await translate_texts(request, service, body, split_sentences=body.split_sentences != "0")
    detected = [detection.language for detection in answer.get("detectedLanguage", [])]
    if not detected:
        detected = [body.source] * len(texts)
    translations = [
        {
            "text": translation,
            "detected_source_language": language.upper(),
            "detected_source_lang": language,  # for Immersive Translate
            "billed_characters": len(text),
            **({"model_type_used": "latency_optimized"} if body.model_type else {}),
        }
        for text, translation, language in zip(texts, answer["translatedText"], detected, strict=True)
    ]
    return {"translations": translations}


def _refuse_unsupported(body: schemas.DeepLRequest) -> None:
    """Refuse what these models cannot do, as DeepL does for languages in which it cannot do it."""
    given = {"style_id": body.style_id, "custom_instructions": body.custom_instructions}
    given["formality"] = body.formality if body.formality in ("more", "less") else None
    given["model_type"] = body.model_type if body.model_type == "quality_optimized" else None
    for name, value in given.items():
        if value:
            raise Refusal(f"'{name}' is not supported for given 'target_lang'")


@router.post("/v2/languages")
@router.get("/v2/languages")
async def languages(request: Request, service: SharedService) -> list[dict[str, str]]:
    """List the source languages, or with ``type=target``, in the query string or a form, the target ones."""
    given = await service.read(request, schemas.DeepLLanguagesRequest)
    codes = dict.fromkeys(pair[given.type == "target"] for pair in service.models.directions)
    return [{"language": code.upper(), "name": language_name(code)} for code in codes]


@router.post("/v2/usage")
@router.get("/v2/usage")
async def usage(request: Request, service: SharedService) -> dict[str, int]:
    """Return the characters of the key's quota, or without one those translated since the start."""
    service.check_key(request, bearer_token(request))
    quota = request.scope["owner"].characters
    if quota.size:
        quota.spend(0)  # what has come back meanwhile
        return {"character_count": math.ceil(quota.size - quota.num_left), "character_limit": quota.size}
    return {"character_count": service.metrics.num_characters, "character_limit": 10**12}
