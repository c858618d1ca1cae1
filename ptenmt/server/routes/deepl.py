"""DeepL's routes, and Immersive Translate's list format, which has nearly the same fields."""

from typing import Any

from fastapi import APIRouter, Request

from ptenmt.data.text import language_name
from ptenmt.server import schemas
from ptenmt.server.http_requests import bearer_token
from ptenmt.server.routes.libretranslate import translate_texts
from ptenmt.server.service import SharedService

router = APIRouter(tags=["DeepL"])


@router.post("/immersive", include_in_schema=False)
@router.post(
    "/v2/translate",
    openapi_extra=schemas.body_of(schemas.DeepLRequest),
    responses=schemas.errors(400, 403, 408, 413, 503),
)
async def translate(request: Request, service: SharedService) -> dict[str, list[dict[str, Any]]]:
    """Translate texts as DeepL's API does; with ``tag_handling`` they are HTML. Other options are ignored."""
    given = await service.read(request, schemas.DeepLRequest)
    texts = [given.text] if isinstance(given.text, str) else given.text
    asked = {
        "q": texts,
        "source": given.source_lang or "auto",
        "target": given.target_lang,
        "format": "html" if given.tag_handling else "text",
        "glossary": given.glossary_id,
    }
    body = service.with_known_codes(schemas.TranslateRequest.model_validate(asked))
    answer = await translate_texts(request, service, body)
    detected = [each.language for each in answer.get("detectedLanguage", [])] or [body.source] * len(texts)
    translations = [
        {
            "text": translation,
            "detected_source_language": language.upper(),
            "detected_source_lang": language,  # for Immersive Translate
            "billed_characters": len(text),
        }
        for text, translation, language in zip(texts, answer["translatedText"], detected, strict=True)
    ]
    return {"translations": translations}


@router.get("/v2/languages", responses=schemas.errors(400, 403))
async def languages(request: Request, service: SharedService) -> list[dict[str, str]]:
    """List the source languages, or with ``type=target``, in the query string or a form, the target ones."""
    given = await service.read(request, schemas.DeepLLanguagesRequest)
    codes = dict.fromkeys(pair[given.type == "target"] for pair in service.models.directions)
    return [{"language": code.upper(), "name": language_name(code)} for code in codes]


@router.get("/v2/usage", responses=schemas.errors(403))
async def usage(request: Request, service: SharedService) -> dict[str, int]:
    """Return the characters of all requests since the start; there is no limit."""
    service.check_key(bearer_token(request))
    return {"character_count": service.num_characters, "character_limit": 10**12}
