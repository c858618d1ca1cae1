"""Routes that show how the model translates: word alignments, next-token alternatives, attention."""

import json
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response

from ptenmt.server import schemas
from ptenmt.server.limits import Refusal
from ptenmt.server.models import Model
from ptenmt.server.service import Service, SharedService
from ptenmt.tokenizers import END
from ptenmt.translation.single_sentence import align, next_token_alternatives
from ptenmt.translation.word_alignment import WordAlignment

router = APIRouter(prefix="/v1", tags=["Introspection"])
_REQUEST = schemas.body_of(schemas.SentenceRequest)


@router.post("/alignment", openapi_extra=_REQUEST)
async def alignment(request: Request, service: SharedService) -> WordAlignment:
    """Translate a sentence, and return which source words each word of the translation attends to."""
    model, body = await _asked(request, service)
    return await service.answer(request, lambda: align(model.translator, body.q, body.prefix).of_words())


@router.post("/alternatives", openapi_extra=_REQUEST)
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


@router.post("/attention", response_class=Response, openapi_extra=_REQUEST)
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
