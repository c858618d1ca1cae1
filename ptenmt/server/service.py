"""The service behind all routes: the model, the limits, the keys, and the requests in progress."""

import asyncio
import functools
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Annotated, Any, TypeVar

import anyio.to_thread
from fastapi import Depends, Request

from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.server.documents.plain import is_prose
from ptenmt.server.http_requests import bearer_token, read
from ptenmt.server.keys import Keys
from ptenmt.server.limits import Limits, Refusal, shutting_down
from ptenmt.server.middleware import Metrics
from ptenmt.server.schemas import Detection, Keyed
from ptenmt.trained_model import TrainedModel
from ptenmt.translation import Translator
from ptenmt.translation.coalescing_engine import BusyError, CoalescingEngine, SentenceQueue
from ptenmt.translation.glossary import Glossary

logger = logging.getLogger("ptenmt.server")

MAX_WITHOUT_KEY = 2
"""Uploads at a time whose key is not in the header, where keys are required."""
_DOCUMENT_SENTENCES = 64
"""How many sentences of a document may wait at a time: two full batches."""
_Request = TypeVar("_Request", bound=Keyed)
_Result = TypeVar("_Result")


class Service:
    """Answers the requests of many clients with one model.

    Args:
        translator: The model, with its own engine.
        trained: The same run, for attention.
        limits: The limits of a request.
        keys: The clients' keys.
        threads: How many batches to translate in parallel.
        glossaries: Those that requests may name.

    Raises:
        ConfigError: The run samples its translations.
    """

    def __init__(
        self,
        translator: Translator,
        trained: TrainedModel,
        limits: Limits,
        keys: Keys,
        *,
        threads: int,
        glossaries: Mapping[str, Glossary] | None = None,
    ) -> None:
        if translator.config.decoding.is_sampled:
            raise ConfigError(
                "a server gives the same translation each time, but this run samples",
                "add --set decoding.top_k=1 --set decoding.top_p=1 --set decoding.temperature=1",
            )
        self.limits, self.metrics, self.keys = limits, Metrics(), keys
        self.source_language, self.target_language = translator.config.data.languages
        self.documents = asyncio.Semaphore(limits.files)
        # Uploads whose key is known only once the form is read must not occupy the places of the others.
        self.uploads = asyncio.Semaphore(limits.uploads)
        self.uploads_without_key = asyncio.Semaphore(min(limits.uploads, MAX_WITHOUT_KEY))
        self._translator = translator
        self._glossaries = dict(glossaries or {})
        self._queue = SentenceQueue(
            translator.engine, threads=threads, max_waiting=limits.queue, on_batch=self.metrics.count_batch
        )
        self.metrics.queue.set_function(lambda: self._queue.num_waiting)
        # As many threads as requests, so that a request waits nowhere but in the queue, which has a limit.
        self._limiter = anyio.CapacityLimiter(limits.requests)
        self._document_threads = ThreadPoolExecutor(limits.files)
        self._document_threads.submit(_language_identifier, self.source_language, self.target_language)
        self._trained = trained
        self._model_lock = threading.Lock()
        self._logged = ""

    def stop(self) -> None:
        """Stop the threads."""
        self._queue.close()
        self._document_threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, work: Callable[[Translator], _Result], *, is_document: bool = False) -> _Result:
        """Call a function with the translator in a worker thread; while the queue is full, refuse before.

        The sentences that it translates share batches with those of other requests. If the caller is
        cancelled, those that still wait are dropped. For a document, a few sentences are queued at a time,
        and a full queue is waited for.

        Raises:
            Refusal: The queue is full, the server is shutting down, or ``work`` raised a ``ConfigError``.
        """
        engine = CoalescingEngine(self._queue, _DOCUMENT_SENTENCES if is_document else None)
        translator = Translator(engine, self._translator.tokenizers, self._translator.config)
        try:
            if not is_document:
                # Here, since under overload the event loop competes with all threads.
                self._queue.admit(engine)
            return await anyio.to_thread.run_sync(
                work, translator, abandon_on_cancel=True, limiter=self._limiter
            )
        except BusyError as error:
            raise Refusal(error.message, 503, retry_after=error.retry_after) from error
        except CancelledError as error:
            raise shutting_down() from error
        except ConfigError as error:
            raise Refusal(error.message) from error
        finally:
            engine.cancel()

    def glossary(self, name: str | None) -> Glossary | None:
        """The glossary with a name, none for an empty one; refuses an unknown name."""
        if name and name not in self._glossaries:
            known = ", ".join(self._glossaries) or "none"
            raise Refusal(f"there is no glossary {name[:100]}; this server has: {known}")
        return self._glossaries[name] if name else None

    async def aside(self, work: Callable[..., _Result], *arguments: Any) -> _Result:
        """Call a function of a document in one of a few threads; a cancelled caller does not wait for it."""
        return await asyncio.get_running_loop().run_in_executor(self._document_threads, work, *arguments)

    def detect(self, text: str) -> list[Detection]:
        """The run's two languages, the more likely one first; the source for a text without letters.

        A text that is surely in neither has a third one, its own.
        """
        source, target = self.source_language, self.target_language
        ranked: list[tuple[str, float]] = [(source, 0.0), (target, 0.0)]
        if is_prose(text):
            (other,) = self._translator.foreign_languages([text])
            third = () if other in (None, target) else (other,)
            ranked = _language_identifier(source, target, *third).rank(text)
        return [
            Detection(language=language, confidence=round(100 * float(share), 1))
            for language, share in ranked
        ]

    def attention(self, source: list[int], target: list[int]) -> dict[str, list[Any]]:
        """The attention weights of all layers and heads, rounded; refuses if the model cannot be loaded.

        Args:
            source: The ids of a sentence.
            target: The ids fed to the decoder.
        """
        import numpy as np

        with self._model_lock:
            try:
                model: Any = self._trained.numpy_model
            except PtenmtError as error:
                if error.message != self._logged:  # repeated requests must not fill the log
                    logger.warning("attention is not available: %s (%s)", error.message, error.hint)
                self._logged = error.message
                raise Refusal("attention is not available; the server's log has the reason", 501) from error
            weights = model.attention(np.array([source]), np.array([target]))
        return {name: np.round(values[0].astype(float), 4).tolist() for name, values in weights.items()}

    async def read(self, request: Request, model: type[_Request]) -> _Request:
        """Read a request; refuse it without a valid key, if keys are required."""
        body = await read(request, model)
        self.check_key(body.api_key or bearer_token(request))
        return body

    def check_key(self, key: str) -> None:
        """Refuse an unknown key, if keys are required."""
        if not self.keys.admit(key):
            raise Refusal("a valid api_key is needed; ask the operator of this server for one", 403)

    def check_length(self, texts: list[str]) -> None:
        """Refuse texts with too many characters."""
        given, most = sum(map(len, texts)), self.limits.characters
        if given > most:
            raise Refusal(f"the text has {given:,} characters; {most:,} are allowed")


@functools.cache
def _language_identifier(source: str, target: str, *others: str) -> Any:
    """Of the 97 languages that py3langid knows, only those of the run are considered, and others named."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # takes 0.3 s to load

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    try:
        identifier.set_languages([source, target, *others])
    except ValueError as error:
        raise Refusal(f"{source} and {target} cannot be identified: name the source language") from error
    return identifier


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


SharedService = Annotated[Service, Depends(_service)]
"""The type of a route's argument that receives the app's service."""
