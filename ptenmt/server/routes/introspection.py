"""Routes that show how the model translates: word alignments, next-token alternatives, attention."""

import json
from dataclasses import asdict

from fastapi import APIRouter, Request, Response

from ptenmt.server import schemas
from ptenmt.server.http_requests import answer_in_time
from ptenmt.server.limits import Refusal
from ptenmt.server.models import Direction
from ptenmt.server.service import RequestModels, Service, SharedService
from ptenmt.tokenizers import END

router = APIRouter(prefix="/v1", tags=["Introspection"])
_ERRORS = schemas.errors(400, 403, 408, 413, 503)


@router.post("/alignment", openapi_extra=schemas.body_of(schemas.AlignmentRequest), responses=_ERRORS)
async def alignment(request: Request, service: SharedService) -> schemas.AlignmentAnswer:
    """Translate a sentence, and return which source words each word of the translation attends to."""
    body = await service.read(request, schemas.AlignmentRequest)
    service.check_length([body.q, body.prefix])
    direction = _direction(service, body)
    work = service.run(lambda models: models.translator(direction).align(body.q, body.prefix).of_words())
    return schemas.AlignmentAnswer(**asdict(await answer_in_time(request, work, service.limits.seconds)))


@router.post("/alternatives", openapi_extra=schemas.body_of(schemas.AlternativesRequest), responses=_ERRORS)
async def alternatives(request: Request, service: SharedService) -> schemas.AlternativesAnswer:
    """Return translations that differ in the first token after a target prefix."""
    body = await service.read(request, schemas.AlternativesRequest)
    service.check_length([body.q, body.prefix])
    direction = _direction(service, body)
    found = await answer_in_time(
        request,
        service.run(
            lambda models: models.translator(direction).next_token_alternatives(
                body.q, body.prefix, body.count
            )
        ),
        service.limits.seconds,
    )
    return schemas.AlternativesAnswer(
        alternatives=[
            schemas.AlternativeTranslation(text=each.text, score=each.score, probability=each.probability)
            for each in found
        ]
    )


@router.post(
    "/attention",
    response_model=schemas.AttentionAnswer,
    openapi_extra=schemas.body_of(schemas.AttentionRequest),
    responses=_ERRORS | schemas.errors(501),
)
async def attention(request: Request, service: SharedService) -> Response:
    """Return the attention weights of every layer and head."""
    body = await service.read(request, schemas.AttentionRequest)
    service.check_length([body.q, body.translation or ""])
    direction = _direction(service, body)
    work = service.run(lambda models: _attention(service, models, direction, body.q, body.translation))
    return Response(
        await answer_in_time(request, work, service.limits.seconds), media_type="application/json"
    )


def _direction(service: Service, body: schemas.SentenceRequest) -> Direction:
    """The direction of a request, by default the first; refuses chained ones."""
    default = service.models.default
    route = service.models.route(body.source or default.source, body.target or default.target)
    if len(route) != 1:
        raise Refusal("this needs one model that translates from source to target")
    return route[0]


def _attention(
    service: Service, models: RequestModels, direction: Direction, text: str, translation: str | None
) -> str:
    """The answer in JSON: half a million numbers, which take too long to write in the event loop.

    Raises:
        ConfigError: The text is not a single sentence.
        Refusal: It, or its translation, is too long.
    """
    translator = models.translator(direction)
    source = translator.encoder.segment_single([text])[0].segments[0].ids
    if translation is None:
        best = translator.with_options(split_sentences=False, safeguards=False).translate(text)[0]
        translation, target = best.text, best.ids
    else:
        target = translator.encoder.targets([translation])[0][0]
    target = target[:-1] if target[-1] == END else target  # the decoder is never fed [END]
    most = service.limits.attention_tokens
    if (longest := max(len(source), len(target))) > most:
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
            "weights": service.models.attention(models.model(direction), source, target),
        },
        ensure_ascii=False,
    )
