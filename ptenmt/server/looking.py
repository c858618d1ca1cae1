"""Routes that look inside: what words come from, how else a translation may go on, who attends to whom."""

import asyncio
import json
from dataclasses import asdict

from fastapi import APIRouter, Request, Response

from ptenmt.server.openapi import body_of, errors
from ptenmt.server.reading import answered, read
from ptenmt.server.schemas import (
    AlignmentAnswer,
    AlignmentRequest,
    AttentionAnswer,
    AttentionRequest,
    Branch,
    BranchesAnswer,
    BranchesRequest,
)
from ptenmt.server.translating import AtDesk

router = APIRouter(prefix="/v1", tags=["Looking inside"])
_ERRORS = errors(400, 403, 408, 413, 503)


@router.post("/alignment", openapi_extra=body_of(AlignmentRequest), responses=_ERRORS)
async def alignment(request: Request, desk: AtDesk) -> AlignmentAnswer:
    """Translate a sentence, and tell which of its words each word of the translation comes from."""
    asked = await read(request, AlignmentRequest)
    desk.admit(request, asked)
    desk.check_length([asked.q, asked.prefix])
    found = await answered(request, desk.service.align(asked.q, asked.prefix), desk.service.limits.seconds)
    return AlignmentAnswer(**asdict(found))


@router.post("/branches", openapi_extra=body_of(BranchesRequest), responses=_ERRORS)
async def branches(request: Request, desk: AtDesk) -> BranchesAnswer:
    """Tell how the beginning of a translation may go on."""
    asked = await read(request, BranchesRequest)
    desk.admit(request, asked)
    desk.check_length([asked.q, asked.prefix])
    work = desk.service.branches(asked.q, asked.prefix, asked.count)
    found = await answered(request, work, desk.service.limits.seconds)
    return BranchesAnswer(branches=[Branch(text=each.text, score=each.score) for each in found])


@router.post(
    "/attention",
    response_model=AttentionAnswer,
    openapi_extra=body_of(AttentionRequest),
    responses=_ERRORS | errors(501),
)
async def attention(request: Request, desk: AtDesk) -> Response:
    """Tell who attends to whom, in every layer and head."""
    asked = await read(request, AttentionRequest)
    desk.admit(request, asked)
    desk.check_length([asked.q, asked.translation or ""])
    work = desk.service.attention(asked.q, asked.translation)
    found = await answered(request, work, desk.service.limits.seconds)
    # Half a million numbers are written beside the loop, not in it.
    body = await asyncio.to_thread(json.dumps, vars(found), ensure_ascii=False)
    return Response(body, media_type="application/json")
