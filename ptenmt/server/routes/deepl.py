"""DeepL's routes, and Immersive Translate's list format, which has nearly the same fields."""

import asyncio
import logging
import math
import secrets
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request, Response

from ptenmt.data.text import language_name
from ptenmt.documents import translated_name
from ptenmt.documents.html import xml_roles
from ptenmt.errors import DocumentError
from ptenmt.server import schemas
from ptenmt.server.limits import Refusal
from ptenmt.server.routes.libretranslate import (
    DOWNLOAD_SECONDS,
    Downloads,
    TextOptions,
    download_file,
    receiving,
    translate_document,
    translate_texts,
)
from ptenmt.server.service import Service, SharedService, bearer_token

logger = logging.getLogger("ptenmt.server")
MAX_JOBS = 500
"""Documents, most of them translated, whose status is known."""
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
    roles = partial(
        xml_roles,
        ignored=body.ignore_tags,
        splitting=body.splitting_tags,
        inline=body.non_splitting_tags,
        has_outline=body.outline_detection,
    )
    options = TextOptions(roles if body.format == "xml" else None, body.split_sentences != "0")
    texts, answer = await translate_texts(request, service, body, options)
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


@dataclass(eq=False)
class DocumentJob:
    """A document that is translated, or was."""

    owner: str
    """Of the key, or the client's address."""
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    status: str = "queued"
    error: str = ""
    characters: int = 0
    expires: float = math.inf
    """By ``time.monotonic``, once it is translated."""
    started: float = 0.0
    done: int = 0
    total: int = 0
    """Bytes of text."""

    @property
    def is_finished(self) -> bool:
        """Whether it is translated, or cannot be."""
        return self.status in ("done", "error")

    def progress(self, done: int, total: int) -> None:
        """Note how much is translated."""
        self.done, self.total = done, total

    def describe(self) -> dict[str, Any]:
        """Its status, as DeepL writes it, with the share that is done."""
        facts: dict[str, Any] = {"status": self.status}
        if self.status == "error":
            facts |= {"error_message": self.error, "message": self.error}
        if self.status == "done":
            facts["billed_characters"] = self.characters
        if self.status == "translating":
            left = (time.monotonic() - self.started) * (self.total / self.done - 1) if self.done else 1
            facts |= {"seconds_remaining": math.ceil(left), "progress": self.done / max(self.total, 1)}
        return facts


class DocumentJobs:
    """The documents that are translated in the background, by id; of a client half of the places at most."""

    def __init__(self, max_unfinished: int) -> None:
        self._max_unfinished = max_unfinished
        self._jobs: dict[str, DocumentJob] = {}
        self._tasks = set[asyncio.Task[None]]()

    def add(self, owner: str) -> tuple[str, DocumentJob]:
        """A new one, with its id; refuses if the client has too many that are not translated."""
        unfinished = [job.owner for job in self._jobs.values() if not job.is_finished]
        if unfinished.count(owner) >= max(1, self._max_unfinished // 2):
            raise Refusal("too many documents at a time", 429, retry_after=10)
        now = time.monotonic()
        over = len(self._jobs) - MAX_JOBS + 1
        for number, job in list(self._jobs.items()):
            if job.expires < now or (over > 0 and job.is_finished):
                del self._jobs[number]
                over -= 1
        number, job = secrets.token_urlsafe(32), DocumentJob(owner)
        self._jobs[number] = job
        return number, job

    def start(self, work: Any) -> None:
        """Run a coroutine."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def find(self, number: str, key: str) -> DocumentJob:
        """The one with an id and a key; refuses an unknown one."""
        job = self._jobs.get(number)
        if job is None or not secrets.compare_digest(job.key.encode(), key.encode()):
            raise Refusal("no such document, or no longer", 404)
        return job

    def remove(self, number: str) -> None:
        """Forget one."""
        self._jobs.pop(number, None)


@router.post("/v2/document", openapi_extra=schemas.body_of(schemas.DeepLFileRequest, with_file=True))
async def upload_document(request: Request, service: SharedService) -> dict[str, str]:
    """Translate a document in the background; its id and key are for its status and its translation."""
    jobs: DocumentJobs = request.app.state.jobs
    async with AsyncExitStack() as stack:
        body, name, content = await stack.enter_async_context(
            receiving(request, service, schemas.DeepLFileRequest)
        )
        name = body.filename or name
        if body.output_format and body.output_format.lower() != PurePath(name).suffix.lower()[1:]:
            raise Refusal("'output_format' is not supported for this document")
        service.glossary(request, body.glossary)
        if body.source != "auto":
            service.models.route(body.source, body.target)
        number, job = jobs.add(service.client(request))
        work = partial(translate_document, request, service, body, name, content, job.progress)
        file_name = translated_name(name, body.target)
        jobs.start(_finish(request, service, job, work, number, file_name, stack.pop_all()))
    return {"document_id": number, "document_key": job.key}


async def _finish(
    request: Request,
    service: Service,
    job: DocumentJob,
    work: Any,
    number: str,
    name: str,
    place: AsyncExitStack,
) -> None:
    """Translate a document once there is a thread for it, and keep the translation."""
    downloads: Downloads = request.app.state.downloads
    try:
        async with place, service.documents:
            job.status, job.started = "translating", time.monotonic()
            translated = await asyncio.wait_for(work(), service.limits.file_seconds)
        downloads.add(name, translated, number)
        job.characters, job.status = request.state.characters, "done"
    except (Refusal, DocumentError) as refusal:
        job.error, job.status = refusal.message, "error"
    except TimeoutError:
        job.error, job.status = f"not done within {service.limits.file_seconds:g} seconds", "error"
    except Exception:  # a bug: the client has to be told, too
        logger.exception("a document was not translated")
        job.error, job.status = "internal error; the log has the reason", "error"
    finally:
        job.expires = time.monotonic() + DOWNLOAD_SECONDS


@router.post(
    "/v2/document/{number}",
    openapi_extra=schemas.body_of(schemas.DocumentRequest),
    responses=schemas.errors(404, model=schemas.DeepLErrorAnswer),
)
async def document_status(request: Request, service: SharedService, number: str) -> dict[str, Any]:
    """Return how far the translation of a document is."""
    given = await service.read(request, schemas.DocumentRequest)
    jobs: DocumentJobs = request.app.state.jobs
    return {"document_id": number, **jobs.find(number, given.document_key).describe()}


@router.post(
    "/v2/document/{number}/result",
    response_class=Response,
    openapi_extra=schemas.body_of(schemas.DocumentRequest),
    responses={
        200: {"content": {"application/octet-stream": {}}},
        **schemas.errors(404, model=schemas.DeepLErrorAnswer),
    },
)
async def document_result(request: Request, service: SharedService, number: str) -> Response:
    """Fetch the translation of a document, once: it is deleted then."""
    given = await service.read(request, schemas.DocumentRequest)
    jobs: DocumentJobs = request.app.state.jobs
    if not jobs.find(number, given.document_key).is_finished:
        raise Refusal("the document is not translated yet", 503, retry_after=1)
    response = await download_file(request, number)
    request.app.state.downloads.remove(number)
    jobs.remove(number)
    return response
