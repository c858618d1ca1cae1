"""Routes that show how the model translates: word alignments, next-token alternatives, attention."""

import json
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from fastapi import APIRouter, Request, Response

from ptenmt.server import schemas
from ptenmt.server.limits import Refusal
from ptenmt.server.models import Direction
from ptenmt.server.service import RequestModels, Service, SharedService
from ptenmt.tokenizers import END
from ptenmt.translation.single_sentence import align, next_token_alternatives

router = APIRouter(prefix="/v1", tags=["Introspection"])
_ERRORS = schemas.errors(400, 403, 408, 413, 429, 503)
_Body = TypeVar("_Body", bound=schemas.SentenceRequest)
_Result = TypeVar("_Result")


@router.post("/alignment", openapi_extra=schemas.body_of(schemas.AlignmentRequest), responses=_ERRORS)
async def alignment(request: Request, service: SharedService) -> schemas.AlignmentAnswer:
    """Translate a sentence, and return which source words each word of the translation attends to."""
    aligned = await _answer(
        request,
        service,
        schemas.AlignmentRequest,
        lambda models, direction, body: align(models.translator(direction), body.q, body.prefix).of_words(),
    )
    return schemas.AlignmentAnswer.model_validate(aligned, from_attributes=True)


@router.post("/alternatives", openapi_extra=schemas.body_of(schemas.AlternativesRequest), responses=_ERRORS)
async def alternatives(request: Request, service: SharedService) -> schemas.AlternativesAnswer:
    """Return translations that differ in the first token after a target prefix."""
    ranked = await _answer(
        request,
        service,
        schemas.AlternativesRequest,
        lambda models, direction, body: next_token_alternatives(
            models.translator(direction), body.q, body.prefix, body.count
        ),
    )
    return schemas.AlternativesAnswer.model_validate({"alternatives": ranked}, from_attributes=True)


@router.post(
    "/attention",
    response_model=schemas.AttentionAnswer,
    openapi_extra=schemas.body_of(schemas.AttentionRequest),
    responses=_ERRORS | schemas.errors(501),
)
async def attention(request: Request, service: SharedService) -> Response:
    """Return the attention weights of every layer and head."""
    weights = await _answer(request, service, schemas.AttentionRequest, partial(_attention, service))
    return Response(weights, media_type="application/json")


async def _answer(
    request: Request,
    service: Service,
    model: type[_Body],
    work: Callable[[RequestModels, Direction, _Body], _Result],
) -> _Result:
    """Read a request, and call a function with its direction, by default the first; refuses chained ones."""
    body = await service.read(request, model)
    texts = [getattr(body, name, None) or "" for name in ("q", "prefix", "translation")]
    service.check_length(request, texts)
    default = service.models.default
    route = service.models.route(body.source or default.source, body.target or default.target)
    if len(route) != 1:
        raise Refusal("this needs one model that translates from source to target")
    return await service.answer(request, lambda models: work(models, route[0], body))


def _attention(
    service: Service, models: RequestModels, direction: Direction, body: schemas.AttentionRequest
) -> str:
    """The answer in JSON: half a million numbers, which take too long to write in the event loop.

    Raises:
        ConfigError: The text is not a single sentence.
        Refusal: It, or its translation, is too long.
    """
    translator = models.translator(direction, split_sentences=False, safeguards=False)
    text, translation = body.q, body.translation
    source = list(translator.encoder.single_sentence(text).sentences[0].ids)
    if translation is None:
        best = translator.translate(text)[0]
        translation, target = best.text, best.ids
    else:
        target = translator.encoder.targets([translation])[0][0]
    target = target[:-1] if target[-1] == END else target  # the decoder is never fed [END]
    if (longest := max(len(source), len(target))) > (most := service.limits.attention_tokens):
        raise Refusal(
            f"the sentence has {longest} tokens; attention is returned for sentences of at most {most}"
        )
    return json.dumps(
        {
            "translation": translation,
            "source_pieces": translator.tokenizers.source.pieces(source),
            "target_pieces": translator.tokenizers.target.pieces(target),
            "written_pieces": translator.tokenizers.target.pieces([*target[1:], END]),
            "alignment_layer": translator.engine.alignment_layer,
            "weights": models.model(direction).attention(source, target),
        },
        ensure_ascii=False,
    )
