"""What all routes share: the model, the limits, the keys, and the requests in progress."""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import anyio.to_thread
from fastapi import Depends, Request

from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.server.detection import Detector
from ptenmt.server.http_requests import bearer_token
from ptenmt.server.keys import Keys
from ptenmt.server.limits import Limits
from ptenmt.server.metrics import Metrics
from ptenmt.server.refusal import Refusal, shutting_down
from ptenmt.server.schemas import Keyed
from ptenmt.server.transfers import Downloads, UploadSlots
from ptenmt.translation import Translator
from ptenmt.translation.coalescing_engine import BusyError, CoalescingEngine, SentenceQueue

if TYPE_CHECKING:
    from ptenmt.model.numpy_transformer import NumpyTransformer

logger = logging.getLogger("ptenmt.server")

_DOCUMENT_SENTENCES = 64
"""How many sentences of a document may wait at a time: two full batches."""
_Result = TypeVar("_Result")


class Service:
    """Answers the requests of many clients with one model.

    Args:
        translator: The model, with its own engine.
        load_model: Loads the same model in NumPy; called when attention is first requested.
        limits: The limits of a request.
        keys: The clients' keys.
        threads: How many batches to translate in parallel.

    Raises:
        ConfigError: The run samples its translations.
    """

    def __init__(
        self,
        translator: Translator,
        load_model: "Callable[[], NumpyTransformer]",
        limits: Limits,
        keys: Keys,
        *,
        threads: int,
    ) -> None:
        if translator.config.decoding.is_sampled:
            raise ConfigError(
                "a server gives the same translation each time, but this run samples",
                "add --set decoding.top_k=1 --set decoding.top_p=1 --set decoding.temperature=1",
            )
        self.limits, self.metrics, self.keys = limits, Metrics(), keys
        self.source_language = translator.config.data.source_language
        self.target_language = translator.config.data.target_language
        self.detector = Detector(self.source_language, self.target_language)
        self.downloads = Downloads()
        self.uploads = UploadSlots(limits.uploads)
        self.documents = asyncio.Semaphore(limits.files)
        self._translator, self._num_threads = translator, threads
        self._load_model = load_model
        self._model: NumpyTransformer | None = None
        self._model_lock = threading.Lock()
        self._logged = ""
        self._queue: SentenceQueue | None = None
        self._document_threads = ThreadPoolExecutor(limits.files)

    def start(self) -> None:
        """Start the threads, in the event loop that answers the requests."""
        engine, metrics = self._translator.engine, self.metrics

        def count(num_sentences: int, num_source_tokens: int, num_target_tokens: int) -> None:
            metrics.batch_sentences.observe(num_sentences)
            metrics.sentences.inc(num_sentences)
            metrics.source_tokens.inc(num_source_tokens)
            metrics.target_tokens.inc(num_target_tokens)

        queue = SentenceQueue(
            engine, threads=self._num_threads, max_waiting=self.limits.queue, on_batch=count
        )
        metrics.queue.set_function(lambda: queue.num_waiting)
        # Each waiting sentence keeps at most one thread, so it is the queue that fills up first.
        self._limiter = anyio.CapacityLimiter(self.limits.queue + self._num_threads * engine.batch_sentences)
        self._queue = queue

    def stop(self) -> None:
        """Stop the threads."""
        if self._queue is not None:
            self._queue.close()
            self._queue = None
        self._document_threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, work: Callable[[Translator], _Result], *, is_document: bool = False) -> _Result:
        """Call a function with the translator in a worker thread.

        The sentences that it translates share batches with those of other requests. If the caller is
        cancelled, those that still wait are dropped.

        Args:
            work: The function.
            is_document: It translates many sentences: queue a few of them at a time, and wait if the queue is
                full instead of refusing.

        Raises:
            Refusal: The queue is full, the server is shutting down, or ``work`` raised a ``ConfigError``.
        """
        if self._queue is None:
            raise shutting_down()
        engine = CoalescingEngine(self._queue, _DOCUMENT_SENTENCES if is_document else None)
        translator = Translator(engine, self._translator.tokenizers, self._translator.config)
        try:
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

    async def aside(self, work: Callable[..., _Result], *arguments: Any) -> _Result:
        """Call a function of a document in one of a few threads; a cancelled caller does not wait for it."""
        return await asyncio.get_running_loop().run_in_executor(self._document_threads, work, *arguments)

    def attention(self, source: list[int], target: list[int]) -> dict[str, list[Any]]:
        """The attention weights of all layers and heads, rounded; one thread at a time.

        Args:
            source: The ids of a sentence.
            target: The ids fed to the decoder.

        Raises:
            Refusal: The model cannot be loaded.
        """
        import numpy as np

        with self._model_lock:
            try:
                self._model = self._model or self._load_model()
            except PtenmtError as error:
                if error.message != self._logged:  # repeated requests must not fill the log
                    logger.warning("attention is not available: %s (%s)", error.message, error.hint)
                self._logged = error.message
                raise Refusal("attention is not available; the server's log has the reason", 501) from error
            weights = self._model.attention(np.array([source]), np.array([target]))
        return {name: np.round(values[0].astype(float), 4).tolist() for name, values in weights.items()}

    def admit(self, request: Request, asked: Keyed) -> None:
        """Refuse a request without a valid key, if keys are required."""
        self.check_key(asked.api_key or bearer_token(request))

    def check_key(self, key: str) -> None:
        """Refuse an unknown key, if keys are required."""
        if not self.keys.admit(key):
            raise Refusal("a valid api_key is needed; ask the operator of this server for one", 403)

    def check_length(self, texts: list[str]) -> None:
        """Refuse texts with too many characters."""
        given, most = sum(map(len, texts)), self.limits.characters
        if given > most:
            raise Refusal(f"the text has {given:,} characters; {most:,} are allowed")


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


SharedService = Annotated[Service, Depends(_service)]
"""The type of a route's argument that receives the app's service."""
