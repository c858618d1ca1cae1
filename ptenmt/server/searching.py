"""What of the requests' sentences reaches the engine, and when."""

import asyncio
from collections.abc import Sequence

from ptenmt.server.batching import Batcher, Order
from ptenmt.server.metrics import Metrics
from ptenmt.server.refusal import Refusal
from ptenmt.translation.engine import Engine, Found
from ptenmt.translation.windows import has_unknown

_WAVE_SENTENCES = 64
"""How many sentences of a document wait at a time: two full batches."""


class Searcher:
    """Has sentences translated, those of many requests together.

    Args:
        engine: Translates batches.
        metrics: What is counted.
        threads: How many batches are translated at a time.
        room: How many sentences may wait.
        copies_unknown: Whether attention is needed where a hypothesis has [UNK]: such sentences are searched
            for again with attention, as in ``translation/windows.py``.
    """

    def __init__(
        self, engine: Engine, metrics: Metrics, *, threads: int, room: int, copies_unknown: bool
    ) -> None:
        self._engine, self._metrics, self._copies_unknown = engine, metrics, copies_unknown
        self._threads, self._room = threads, room
        self._batcher: Batcher | None = None

    def start(self) -> None:
        """Start the threads that translate; in the loop that the requests are answered in."""
        self._batcher = Batcher(
            self._engine,
            threads=self._threads,
            room=self._room,
            on_batch=self._metrics.batch_sentences.observe,
        )
        self._metrics.queue.set_function(lambda: self._batcher.num_waiting if self._batcher else 0)

    def stop(self) -> None:
        """End the threads."""
        if self._batcher is not None:
            self._batcher.close()
            self._batcher = None

    @property
    def is_ready(self) -> bool:
        """Whether the threads are there."""
        return self._batcher is not None

    async def found(self, orders: Sequence[Order]) -> list[Found]:
        """Have sentences translated.

        Raises:
            Refusal: Too many are waiting, or the server is ending.
        """
        found = await self._searched(orders)
        if self._copies_unknown:
            unknown = [place for place, each in enumerate(found) if _lacks_attention(each)]
            again = await self._searched([orders[place].with_attention() for place in unknown])
            for place, each in zip(unknown, again, strict=True):
                found[place] = each
        self._metrics.sentences.inc(len(orders))
        self._metrics.source_tokens.inc(sum(len(order.ids) for order in orders))
        self._metrics.target_tokens.inc(sum(len(each[0].ids) - 1 for each in found))
        return found

    async def found_in_waves(self, orders: Sequence[Order]) -> list[Found]:
        """Have many sentences translated; where others are waiting, wait as well.

        Raises:
            Refusal: The server is ending.
        """
        found: list[Found] = []
        while len(found) < len(orders):
            wave = orders[len(found) : len(found) + _WAVE_SENTENCES]
            try:
                found += await self.found(wave)
            except Refusal as refusal:
                if not self.is_ready:
                    raise
                await asyncio.sleep(refusal.retry_after or 1.0)
        return found

    async def _searched(self, orders: Sequence[Order]) -> list[Found]:
        """What is found; if nobody waits for it any more, what is still in the queue is dropped."""
        if self._batcher is None:
            raise Refusal("the server is ending", 503, retry_after=10)
        if not orders:
            return []
        self._batcher.order(orders)
        try:
            return await asyncio.gather(*(order.found for order in orders))
        except asyncio.CancelledError:
            self._batcher.drop(orders)
            raise


def _lacks_attention(found: Found) -> bool:
    return has_unknown(found) and found[0].attention is None
