"""Sentences of many requests, translated together."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ptenmt.config import DecodingConfig
from ptenmt.server.batching import Batcher, Order, Search
from ptenmt.server.refusal import Refusal
from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import Found, Hypothesis

PLAIN = Search(DecodingConfig())
OTHER = Search(DecodingConfig(beam_size=7))


class RepeatingEngine:
    """Says each sentence twice, up to the limit, once its gate is open."""

    batch_sentences, batch_tokens = 4, 2048

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.batches: list[tuple[list[int], int]] = []
        """The first words of each batch's sentences, and its limit."""

    def submit(
        self, sources: Sequence[Sequence[int]], limit: int, _options: DecodingConfig, **_more: Any
    ) -> Callable[[], list[Found]]:
        self.batches.append(([ids[1] for ids in sources], limit))

        def wait() -> list[Found]:
            assert self.gate.wait(20)
            return [[Hypothesis([START, *[*ids[1:-1] * 2, END][:limit]])] for ids in sources]

        return wait


def order(word: int, length: int = 1, *, limit: int = 99, search: Search = PLAIN) -> Order:
    return Order([START, *[word] * length, END], limit, search)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.001)


def run(work: Callable[[Batcher, RepeatingEngine], Any], *, threads: int = 1, room: int = 100) -> Any:
    """Run a test with a batcher."""

    async def whole() -> Any:
        engine: Any = RepeatingEngine()
        batcher = Batcher(engine, threads=threads, room=room)
        try:
            return await work(batcher, engine)
        finally:
            engine.gate.set()
            batcher.close()

    return asyncio.run(whole())


async def occupied(batcher: Batcher, engine: RepeatingEngine, threads: int = 1) -> list[Order]:
    """Give every thread something to do until the gate opens."""
    orders = []
    for number in range(threads):
        orders.append(order(1000 + number))
        batcher.order(orders[-1:])
        await until(lambda so_far=number: len(engine.batches) > so_far)
    return orders


def test_what_waits_is_translated_together_with_what_is_like_it() -> None:
    async def work(batcher: Batcher, engine: RepeatingEngine) -> list[tuple[list[int], int]]:
        first = await occupied(batcher, engine)
        orders = [
            order(1, 5),
            order(2, 30),
            order(3, 5, search=OTHER),
            order(4, 31),
            *(order(word, 6) for word in range(5, 9)),
        ]
        batcher.order(orders)
        assert batcher.num_waiting == 8
        engine.gate.set()
        found = await asyncio.gather(*(each.found for each in first + orders))
        assert [each[0].ids[1] for each in found] == [1000, *range(1, 9)]
        assert batcher.num_waiting == 0
        return engine.batches[1:]

    batches = [words for words, _ in run(work)]
    assert batches == [[1, 5, 6, 7], [2, 4, 8], [3]]


def test_idle_threads_share_what_comes() -> None:
    async def work(batcher: Batcher, engine: RepeatingEngine) -> None:
        orders = [order(word) for word in range(4)]
        batcher.order(orders)
        await until(lambda: len(engine.batches) == 2)
        assert [len(words) for words, _ in engine.batches] == [2, 2]
        engine.gate.set()
        await asyncio.gather(*(each.found for each in orders))

    run(work, threads=2)


def test_the_first_waits_for_others_that_come_at_once() -> None:
    async def work(batcher: Batcher, engine: RepeatingEngine) -> None:
        engine.gate.set()
        orders = [order(word) for word in range(3)]
        for each in orders:
            batcher.order([each])
        await asyncio.gather(*(each.found for each in orders))
        assert [words for words, _ in engine.batches] == [[0, 1, 2]]

    run(work)


def test_no_translation_depends_on_its_company() -> None:
    async def work(batcher: Batcher, engine: RepeatingEngine) -> None:
        first = await occupied(batcher, engine)
        orders = [order(1, 5, limit=7), order(2, 5, limit=20)]
        batcher.order(orders)
        engine.gate.set()
        found = await asyncio.gather(*(each.found for each in first + orders))
        assert [len(each[0].ids) - 1 for each in found[1:]] == [7, 11]
        assert engine.batches[1:] == [([1, 2], 20), ([1], 7)]

    run(work)


def test_too_many_are_refused_and_told_when_to_come_again() -> None:
    async def work(batcher: Batcher, engine: RepeatingEngine) -> None:
        first = await occupied(batcher, engine)
        orders = [order(word) for word in range(3)]
        batcher.order(orders)
        with pytest.raises(Refusal, match="3 sentences are waiting") as refused:
            batcher.order([order(8), order(9)])
        assert refused.value.status == 503
        assert int(refused.value.headers["Retry-After"]) >= 1
        batcher.order([order(7)])
        engine.gate.set()
        await asyncio.gather(*(each.found for each in first + orders))
        batcher.order([order(word) for word in range(9)])  # more than there is room for, but nobody waits

    run(work, room=4)


def test_what_nobody_waits_for_is_not_translated() -> None:
    async def work(batcher: Batcher, engine: RepeatingEngine) -> None:
        first = await occupied(batcher, engine)
        orders = [order(word) for word in range(3)]
        batcher.order(orders)
        batcher.drop([*first, orders[1]])
        assert batcher.num_waiting == 2
        engine.gate.set()
        await asyncio.gather(orders[0].found, orders[2].found)
        assert engine.batches[1][0] == [0, 2]

    run(work)


def test_long_sentences_come_in_small_batches() -> None:
    async def work(batcher: Batcher, engine: RepeatingEngine) -> None:
        first = await occupied(batcher, engine)
        orders = [order(word, 998) for word in range(4)]
        batcher.order(orders)
        engine.gate.set()
        await asyncio.gather(*(each.found for each in first + orders))
        assert [words for words, _ in engine.batches[1:]] == [[0, 1], [2, 3]]

    run(work)
