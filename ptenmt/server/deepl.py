"""DeepL's routes for texts."""

import math
from typing import Any

from fastapi import APIRouter, Request

from ptenmt.data.languages import language_name
from ptenmt.server import schemas
from ptenmt.server.libretranslate import translate_texts
from ptenmt.server.service import SharedService, bearer_token

router = APIRouter(tags=["DeepL"], responses=schemas.ERRORS)


@router.post("/v2/translate", openapi_extra=schemas.body_of(schemas.DeepLRequest))
async def translate(request: Request, service: SharedService) -> dict[str, list[dict[str, Any]]]:
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
    quota = service.check_key(request, bearer_token(request)).characters
    if quota.size:
        quota.spend(0)  # what has come back meanwhile
        return {"character_count": math.ceil(quota.size - quota.num_left), "character_limit": quota.size}
    return {"character_count": service.metrics.num_characters, "character_limit": 10**12}
