"""The service behind all routes: models, limits, keys, and how requests are read and answered in time."""

import asyncio
import codecs
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

import anyio.to_thread
from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import UploadFile

from ptenmt.data.languages import foreign_languages, language_check
from ptenmt.documents.inline import is_prose
from ptenmt.errors import ConfigError
from ptenmt.server.limits import CLIENT_GONE, METRICS, Keys, Limits, Places, Refusal, shutting_down
from ptenmt.server.middleware import Metrics
from ptenmt.server.models import Direction, Model, Models, Route
from ptenmt.server.queue import CoalescingEngine, QueuedRequest, SentenceQueue
from ptenmt.server.schemas import Detection, WithKey
from ptenmt.translation import Translation, Translator
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.markup import Fragment, move_markup, text_of
from ptenmt.translation.scoring import with_confidence as translations_with_confidence

MAX_WITHOUT_KEY = 4
"""Uploads at a time whose key is not in the header, where keys are required."""
_DOCUMENT_SENTENCES = 64
"""How many sentences of a document may wait at a time: two full batches."""
_Request = TypeVar("_Request", bound=WithKey)
_Result = TypeVar("_Result")
_MAX_FIELDS = 1_000
_MULTIPART, _URL_ENCODED = "multipart/form-data", "application/x-www-form-urlencoded"
_Model = TypeVar("_Model", bound=BaseModel)


class RequestModels:
    """One request's models; its sentences share batches with those of other requests."""

    def __init__(self, request: QueuedRequest, metrics: Metrics) -> None:
        self._request, self._metrics = request, metrics
        self._used: dict[Direction, Model] = {}

    def model(self, direction: Direction) -> Model:
        """The model of a direction, the same for the whole request."""
        if direction not in self._used:
            self._used[direction] = direction.model
        return self._used[direction]

    def translator(self, direction: Direction, **options: bool) -> Translator:
        """The translator of a direction; ``options`` change those of the section decoding."""
        shared = self.model(direction).translator
        engine = CoalescingEngine(self._request, shared.engine, direction.name)
        config = replace(shared.config, decoding=replace(shared.config.decoding, **options))
        return Translator(engine, shared.tokenizers, config)

    def translate(
        self,
        route: Route,
        texts: Sequence[Sequence[Fragment]],
        *,
        glossary: Glossary | None = None,
        max_sentences: int | None = None,
        count: int = 1,
        with_confidence: bool = False,
        split_sentences: bool = True,
    ) -> tuple[list[Translation], list[list[list[Fragment]]]]:
        """Translate texts by a route, each with ``count`` - 1 alternatives; two models have no confidence.

        Returns the translations, and with their markup the text of each and the texts of its alternatives.
        """
        options = {} if split_sentences else {"split_sentences": False}
        *earlier, last = (self.translator(direction, **options) for direction in route)
        self._metrics.characters.labels(route[0].name).inc(sum(len(text_of(text)) for text in texts))
        if earlier and glossary:
            raise Refusal("a glossary needs a model of both languages, and here two models are chained")
        detected: list[str | None] = []
        for translator in earlier:
            between = translator.translate(map(text_of, texts), max_sentences=max_sentences)
            texts = [best for best, *_ in move_markup(translator, between, texts)]
            detected = [translation.detected for translation in between]
        beam_size = max(last.config.decoding.beam_size, count)
        search = replace(last.config.decoding, num_hypotheses=count, beam_size=beam_size)
        typed = map(text_of, texts)
        translations = last.translate(typed, search, glossary=glossary, max_sentences=max_sentences)
        moved = move_markup(last, translations, texts)
        if with_confidence and not earlier:
            translations = translations_with_confidence(self.model(route[-1]).translator, translations)
        if earlier:  # what another language is, the first model knows
            translations = [
                replace(translation, detected=language)
                for translation, language in zip(translations, detected, strict=True)
            ]
        return translations, moved


class Service:
    """Answers the requests of many clients; ``threads`` batches are translated in parallel."""

    def __init__(
        self,
        models: Models,
        limits: Limits,
        keys: Keys,
        *,
        threads: int,
        glossaries: Mapping[str, Glossary] | None = None,
    ) -> None:
        self.models, self.limits, self.metrics, self.keys = models, limits, Metrics(), keys
        self.documents = Places(limits.files, "translated")
        # Uploads whose key is known only once the form is read must not occupy the places of the others.
        self.uploads = Places(limits.uploads, "received")
        self.uploads_without_key = Places(MAX_WITHOUT_KEY, "received")
        self._glossaries = dict(glossaries or {})
        self._queue = SentenceQueue(
            threads=threads,
            max_waiting=limits.queue,
            on_batch=self.metrics.count_batch,
        )
        self.metrics.queue.set_function(lambda: self._queue.num_waiting)
        for direction in models.directions.values():
            self.metrics.model_bytes.labels(direction.name).set_function(direction.num_bytes)
        # As many threads as requests, so that a request waits nowhere but in the queue, which has a limit.
        self._limiter = anyio.CapacityLimiter(limits.requests)
        self._document_threads = ThreadPoolExecutor(limits.files)
        self._document_threads.submit(self.detect, "a")  # loads the languages

    def stop(self) -> None:
        """Stop the threads."""
        self._queue.close()
        self._document_threads.shutdown(wait=False, cancel_futures=True)

    async def answer(self, request: Request, work: Callable[[RequestModels], _Result]) -> _Result:
        """Like ``run``, in the time of a request; refuses if it takes longer or the client disconnects."""
        return await answer_in_time(request, self.run(request, work), self.limits.seconds)

    async def run(
        self, request: Request, work: Callable[[RequestModels], _Result], *, is_document: bool = False
    ) -> _Result:
        """Call a function with the models in a worker thread; while the queue is full, refuse before.

        The sentences that it translates share batches with those of other requests. If the caller is
        cancelled, those that still wait are dropped. Of a document, a few sentences are queued at a time,
        also in a full queue.

        Raises:
            Refusal: The queue is full, the server is shutting down, or ``work`` raised a ``ConfigError``.
        """
        most = _DOCUMENT_SENTENCES if is_document else None
        queued = QueuedRequest(self._queue, most, client_of(request))

        def in_turn() -> _Result:
            with queued.turn:
                return work(RequestModels(queued, self.metrics))

        try:
            if not is_document:
                # Here, since under overload the event loop competes with all threads.
                self._queue.admit(queued)
            return await anyio.to_thread.run_sync(in_turn, abandon_on_cancel=True, limiter=self._limiter)
        except CancelledError as error:
            raise shutting_down() from error
        except ConfigError as error:
            raise Refusal(error.message) from error
        finally:
            queued.cancel()

    def glossary(self, name: str | None) -> Glossary | None:
        """The glossary with a name, none for an empty one; refuses an unknown name."""
        if name and name not in self._glossaries:
            known = ", ".join(self._glossaries) or "none"
            raise Refusal(f"there is no glossary {name[:100]}; this server has: {known}")
        return self._glossaries[name] if name else None

    async def in_document_thread(self, work: Callable[..., _Result], *arguments: Any) -> _Result:
        """Call a function of a document in one of a few threads; a cancelled caller does not wait for it."""
        return await asyncio.get_running_loop().run_in_executor(self._document_threads, work, *arguments)

    def detect(self, text: str) -> list[Detection]:
        """The languages of the server, the likeliest first; in their order for a text without letters.

        A text that is confidently identified as in none of them has a further one, its own.
        """
        languages, source = self.models.languages, self.models.default.source
        ranked: list[tuple[str, float]] = [(language, 0.0) for language in languages]
        try:
            if is_prose(text):
                foreign = foreign_languages([text], source)
                others = [language for language in foreign if language and language not in languages]
                ranked = language_check((), None).ranked(text, [*languages, *others])
        except ValueError as error:
            raise Refusal(
                f"the languages {', '.join(languages)} cannot be identified: name the source"
            ) from error
        return [Detection(language=code, confidence=round(100 * float(share), 1)) for code, share in ranked]

    def detect_source(self, text: str, target: str) -> Detection:
        """The language to translate a text from; a doubtful target language only if there is no other."""
        best, *others = self.detect(text)
        if best.language != target or not 0 < best.confidence < 90:
            return best
        return next((detection for detection in others if self.models.find(detection.language, target)), best)

    def route(self, detected: str, target: str) -> Route:
        """The route from a detected language, or as good as possible for a text in none of the server's."""
        models = self.models
        codes = (
            detected,
            *(direction.source for direction in models.directions.values() if direction.target == target),
        )
        known = (code for code in codes if code in models.languages and models.find(code, target) is not None)
        return models.route(next(known, models.default.source), target)

    async def read(self, request: Request, model: type[_Request]) -> _Request:
        """Read a request as ``check`` returns it; refuse it if it is malformed."""
        return self.check(request, await read(request, model))

    def check(self, request: Request, body: _Request) -> _Request:
        """The same request with the server's codes of its languages; refused without a valid key."""
        self.check_key(request, body.api_key or bearer_token(request))
        given = {name: getattr(body, name, None) for name in ("source", "target")}
        codes = {name: self.models.code(code) for name, code in given.items() if code}
        if codes and {*codes.values()} <= {"auto", *self.models.languages}:
            request.state.pair = "-".join(codes.values())
        return body.model_copy(update=codes)

    def check_key(self, request: Request, key: str) -> None:
        """Refuse an unknown key, if keys are required, and too many requests; a request counts once."""
        owner = self.keys.owner(key, client_address(request))
        if owner is None or owner.name == METRICS:
            raise Refusal("a valid api_key is needed; ask the operator of this server for one", 403)
        if not hasattr(request.state, "key"):
            request.state.key = owner.name
            request.scope["owner"] = owner
            if seconds := owner.requests.spend(1):
                most = owner.requests.size
                raise Refusal(f"{most} requests a minute are allowed", 429, retry_after=seconds)

    def count_characters(self, request: Request, num: int) -> None:
        """Count the characters of a request; refuse those beyond the quota of its key."""
        request.state.characters = num
        quota = request.scope["owner"].characters
        if seconds := quota.spend(num):
            raise Refusal(f"{quota.size:,} characters a day are allowed", 429, retry_after=seconds)

    def check_length(self, request: Request, texts: list[str]) -> None:
        """Refuse texts with too many characters."""
        request.state.characters = given = sum(map(len, texts))
        if given > (most := self.limits.characters):
            raise Refusal(f"the text has {given:,} characters; {most:,} are allowed")
        self.count_characters(request, given)


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


SharedService = Annotated[Service, Depends(_service)]
"""The type of a route's argument that receives the app's service."""


async def read(request: Request, model: type[_Model]) -> _Model:
    """Read a request: JSON, a form, or the query string, which some clients use; refuses invalid fields."""
    content_type = _content_type(request)
    if content_type == _MULTIPART:
        async with request.form(max_files=1, max_fields=_MAX_FIELDS) as form:
            return _validated(form.multi_items(), model)
    body = await request.body()
    if content_type == _URL_ENCODED or not body:
        try:  # unlike Starlette's parser, it takes letters that are not percent-encoded
            text = b"&".join(filter(None, (request.scope["query_string"], body))).decode()
            fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
        except ValueError as error:
            raise Refusal("the form or the query string is not UTF-8, or has too many fields") from error
        return _validated(fields, model)
    try:
        return model.model_validate_json(body.removeprefix(codecs.BOM_UTF8))
    except ValidationError as error:
        if error.errors()[0]["type"] == "json_invalid" and "json" not in content_type:
            raise Refusal(
                f"the body is {content_type or 'of no type'}: send application/json or a form"
            ) from error
        raise Refusal(_first_error(error)) from error


async def read_upload(request: Request, model: type[_Model], max_bytes: int) -> tuple[_Model, str, bytes]:
    """Read a form: its fields, and the name and content of its document; refuses as ``read`` does."""
    if _content_type(request) != _MULTIPART:
        raise Refusal(f"file is missing: send a document in a form of type {_MULTIPART}")
    async with request.form(max_files=1, max_fields=_MAX_FIELDS) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise Refusal("file is missing: a document with a file name")
        content = await file.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise Refusal(f"the document is larger than {max_bytes:,} bytes", 413)
        return _validated(form.multi_items(), model), file.filename, content


def client_of(request: Request) -> str:
    """Who has sent a request: the owner of its key, if that is known, else an address."""
    return getattr(request.state, "key", "") or client_address(request)


def client_address(request: Request) -> str:
    """The address of a client, as its proxy says; empty at a socket of the file system."""
    return request.client.host if request.client else ""


def bearer_token(request: Request) -> str:
    """The key in the Authorization header, else in the query string; empty without one."""
    return header_key(request) or request.query_params.get("api_key", "")


def header_key(request: Request) -> str:
    """The key in the Authorization header; empty without one."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() in ("bearer", "deepl-auth-key") else ""


async def answer_in_time(request: Request, work: Coroutine[Any, Any, _Result], seconds: float) -> _Result:
    """Await work; refuse it if it takes too long or the client, whose body is read, disconnects."""

    async def disconnection() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, disconnected = asyncio.ensure_future(work), asyncio.ensure_future(disconnection())
    try:
        await asyncio.wait({task, disconnected}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if disconnected.done():
            raise Refusal("the client is gone", CLIENT_GONE)
        raise Refusal(f"not done within {seconds:g} seconds", 503, retry_after=seconds)
    finally:
        disconnected.cancel()
        task.cancel()
        await asyncio.gather(task, disconnected, return_exceptions=True)


def _content_type(request: Request) -> str:
    """The media type of the body; refuses forms not in UTF-8, whose encoding could fail to decode."""
    name, options = parse_options_header(request.headers.get("content-type"))
    content_type = name.decode("latin-1")
    charset = options.get(b"charset", b"utf-8").lower()
    if content_type in (_MULTIPART, _URL_ENCODED) and charset not in (b"utf-8", b"utf8"):
        raise Refusal("a form must be in UTF-8")
    return content_type


def _validated(items: list[tuple[str, Any]], model: type[_Model]) -> _Model:
    """The fields of a form; a field that occurs several times is a list."""
    fields: dict[str, Any] = {}
    for name, value in items:
        if isinstance(value, str):
            fields.setdefault(name, []).append(value.replace("\r\n", "\n"))  # browsers send CRLF
    try:
        given = {name: values[0] if len(values) == 1 else values for name, values in fields.items()}
        return model.model_validate(given)
    except ValidationError as error:
        raise Refusal(_first_error(error)) from error


def _first_error(error: ValidationError) -> str:
    """The first of the errors, in one line."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"][:1])
    if first["type"] == "missing":
        return f"Invalid request: missing {field} parameter"  # LibreTranslate's words
    if field == "q" and len(first["loc"]) > 1:
        return "q: Input should be a text or a list of texts"
    return f"{field}: {first['msg']}" if field else first["msg"]
