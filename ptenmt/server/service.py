"""The service behind all routes: models, limits, keys and metrics; how requests are answered in time."""

import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from typing import Annotated, Any, TypeVar

import anyio.to_thread
import prometheus_client as prom
from fastapi import Depends, Request

from ptenmt.data.languages import foreign_language, language_check
from ptenmt.documents.inline import is_prose
from ptenmt.errors import ConfigError
from ptenmt.server.limits import CLIENT_GONE, Client, Keys, Limits, Places, Refusal, shutting_down
from ptenmt.server.models import Direction, Models
from ptenmt.server.queue import QueuedRequest, SentenceQueue
from ptenmt.server.schemas import Detection, WithKey, read
from ptenmt.translation import Translation
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.markup import Fragment, move_markup, text_of

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SENTENCES = (1, 2, 4, 8, 16, 32)
_Request = TypeVar("_Request", bound=WithKey)
_Result = TypeVar("_Result")


class Metrics:
    """The metrics of one server, for Prometheus; ``num_waiting`` counts the sentences in the queue."""

    def __init__(self, num_waiting: Callable[[], int]) -> None:
        prom.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = prom.CollectorRegistry()
        own: Any = {"registry": self._registry}
        prom.ProcessCollector(**own)
        prom.Gauge("ptenmt_queue_sentences", "Sentences waiting", **own).set_function(num_waiting)
        answers = "Requests answered, by route and status"
        self.requests = prom.Counter("ptenmt_requests", answers, ["route", "status"], **own)
        duration = "From a request's head to the end of its answer"
        self.seconds = prom.Histogram("ptenmt_request_seconds", duration, ["route"], buckets=_SECONDS, **own)
        own["labelnames"] = ["pair"]
        self.characters = prom.Counter("ptenmt_characters", "Characters of texts to translate", **own)
        size, wait = "Sentences in a batch", "How long a sentence waited for its batch"
        self._batch_sentences = prom.Histogram("ptenmt_batch_sentences", size, buckets=_SENTENCES, **own)
        self._queue_seconds = prom.Histogram("ptenmt_queue_seconds", wait, buckets=_SECONDS, **own)

    def count_batch(self, pair: str, waits: Sequence[float]) -> None:
        """Count a translated batch: its languages, and the seconds that each sentence waited."""
        self._batch_sentences.labels(pair).observe(len(waits))
        for seconds in waits:
            self._queue_seconds.labels(pair).observe(seconds)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return prom.generate_latest(self._registry)


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
        self.models, self.limits, self.keys = models, limits, keys
        self.documents = Places(limits.files)
        self._glossaries = dict(glossaries or {})
        self.metrics = Metrics(lambda: self._queue.num_waiting)
        self._queue = SentenceQueue(
            threads=threads, max_waiting=limits.queue, on_batch=self.metrics.count_batch
        )
        # As many threads as requests, so that a request waits nowhere but in the queue, which has a limit.
        self._limiter = anyio.CapacityLimiter(math.inf)
        ThreadPoolExecutor(1).submit(self.detect, "a")  # loads the languages

    def reload(self, on_warning: Callable[[str], None]) -> None:
        """Read keys and models again; those that cannot be read stay as they are."""
        try:
            self.keys.read()
        except ConfigError as error:
            on_warning(f"the keys stay as they are: {error.message}")
        self.models.reload()

    def stop(self) -> None:
        """Stop the threads."""
        self._queue.close()

    async def answer(self, request: Request, work: Callable[[], _Result]) -> _Result:
        """Like ``run``, in the time of a request; refuses if it takes longer or the client disconnects."""
        return await answer_in_time(request, self.run(request, work), self.limits.seconds)

    async def run(
        self, request: Request, work: Callable[[], _Result], *, is_document: bool = False
    ) -> _Result:
        """Call a function that translates in a worker thread; while the queue is full, refuse before.

        The sentences that it translates share batches with those of other requests. If the caller is
        cancelled, those that still wait are dropped. Of a document, a few sentences are queued at a time,
        also in a full queue.

        Raises:
            Refusal: The queue is full, the server is shutting down, or ``work`` raised a ``ConfigError``.
        """
        queued = QueuedRequest(self._queue, client_of(request), is_document=is_document)
        try:
            if not is_document:
                # Here, since under overload the event loop competes with all threads.
                self._queue.admit(queued)
            return await anyio.to_thread.run_sync(
                queued.run, work, abandon_on_cancel=True, limiter=self._limiter
            )
        except CancelledError as error:
            raise shutting_down() from error
        except ConfigError as error:
            raise Refusal(error.message) from error
        finally:
            self._queue.drop(queued)

    def translate(
        self,
        direction: Direction,
        texts: Sequence[Sequence[Fragment]],
        *,
        glossary: Glossary | None,
        max_sentences: int | None = None,
        num_hypotheses: int = 1,
    ) -> tuple[list[Translation], list[list[list[Fragment]]]]:
        """Translate texts in a direction, within ``run``.

        Returns:
            The translations, and with their markup the text of each and the texts of its alternatives.
        """
        translator = direction.model.translator
        self.metrics.characters.labels(direction.name).inc(sum(len(text_of(text)) for text in texts))
        beam_size = max(translator.config.decoding.beam_size, num_hypotheses)
        decoding = replace(translator.config.decoding, num_hypotheses=num_hypotheses, beam_size=beam_size)
        translations = translator.translate(
            map(text_of, texts), decoding, glossary=glossary, max_sentences=max_sentences
        )
        return translations, move_markup(translator, translations, texts)

    def glossary(self, name: str | None) -> Glossary | None:
        """The glossary with a name, none for an empty one; refuses an unknown name."""
        if name and name not in self._glossaries:
            known = ", ".join(self._glossaries) or "none"
            raise Refusal(f"there is no glossary {name[:100]}; this server has: {known}")
        return self._glossaries[name] if name else None

    def detect(self, text: str) -> list[Detection]:
        """The languages of the server, the likeliest first; in their order for a text without letters.

        A text that is confidently identified as in none of them has a further one, its own.
        """
        languages, source = self.models.languages, self.models.default.source
        ranked: list[tuple[str, float]] = [(language, 0.0) for language in languages]
        try:
            if is_prose(text):
                foreign = foreign_language(text, source)
                others = [foreign] if foreign and foreign not in languages else []
                ranked = language_check((), None).ranked(text, [*languages, *others])
        except ValueError as error:
            raise Refusal(
                f"the languages {', '.join(languages)} cannot be identified: name the source"
            ) from error
        return [Detection(language=code, confidence=round(100 * float(share), 1)) for code, share in ranked]

    def direction(self, source: str, target: str, text: str) -> tuple[Detection | None, Direction | None]:
        """How to translate a text; if the source is ``auto``, also its language.

        It is then translated from there, or else as good as possible. A doubtful target language is the
        source only if there is no other.
        """
        models = self.models
        if source != "auto":
            return None, models.direction(source, target)
        best, *others = self.detect(text)
        if best.language == target and 0 < best.confidence < 90:
            best = next((each for each in others if (each.language, target) in models.directions), best)
        into_target = (pair[0] for pair in models.directions if pair[1] == target)
        known = (code for code in (best.language, *into_target) if code in models.languages)
        source = next((code for code in known if models.can_translate(code, target)), models.default.source)
        return best, models.direction(source, target)

    async def read(self, request: Request, model: type[_Request]) -> _Request:
        """Read a request as ``check`` returns it; refuse it if it is malformed."""
        return self.check(request, await read(request, model))

    def check(self, request: Request, body: _Request) -> _Request:
        """The same request with the server's codes of its languages; refused without a valid key."""
        self.check_key(request, body.api_key or bearer_token(request))
        given = {name: getattr(body, name, None) for name in ("source", "target")}
        codes = {name: self.models.code(code) for name, code in given.items() if code}
        return body.model_copy(update=codes)

    def check_key(self, request: Request, key: str) -> Client:
        """The client of a request, which counts once; refuses an unknown key, and too many requests."""
        client = self.keys.client(key, client_of(request))
        if client is None:
            raise Refusal("a valid api_key is needed; ask the operator of this server for one", 403)
        if "ptenmt.client" not in request.scope:
            request.scope["ptenmt.client"] = client
            request.state.key = client.name if self.keys.are_required else ""
            if seconds := client.requests.spend(1):
                most = client.requests.size
                raise Refusal(f"{most} requests a minute are allowed", 429, retry_after=seconds)
        return client

    def check_texts(self, request: Request, texts: Sequence[str]) -> None:
        """Refuse too many characters or texts, blank ones included."""
        limits, given = self.limits, sum(map(len, texts))
        if given > limits.characters:
            raise Refusal(f"the text has {given:,} characters; {limits.characters:,} are allowed")
        self.count_characters(request, given)
        if len(texts) > limits.sentences:
            raise Refusal(f"there are {len(texts):,} texts; {limits.sentences:,} are allowed")

    def count_characters(self, request: Request, num: int) -> None:
        """Count the characters of a request; refuse those beyond the quota of its client."""
        request.state.characters = num
        quota = request.scope["ptenmt.client"].characters
        if seconds := quota.spend(num):
            raise Refusal(f"{quota.size:,} characters a day are allowed", 429, retry_after=seconds)


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


SharedService = Annotated[Service, Depends(_service)]
"""The type of a route's argument that receives the app's service."""


def client_of(request: Request) -> str:
    """Who sends a request: the owner of its key, if that is known, else the address that its proxy says."""
    client = request.scope.get("ptenmt.client")
    return client.name if client else request.client.host if request.client else ""


def bearer_token(request: Request) -> str:
    """The key in the Authorization header, else in the query string; empty without one."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() in ("bearer", "deepl-auth-key"):
        return key.strip()
    return request.query_params.get("api_key", "")


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
