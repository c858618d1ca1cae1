"""Sentences with unknown words are searched for again, with attention; no others are."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from ptenmt.config import DecodingConfig
from ptenmt.server.batching import Order, Search
from ptenmt.server.metrics import Metrics
from ptenmt.server.searching import Searcher
from ptenmt.tokenizers import END, START, UNK
from ptenmt.translation.engine import Found, Hypothesis

KNOWN, STRANGE = [START, 7, END], [START, UNK, END]


class RepeatingEngine:
    """Says what it is told, and notes whether attention was asked for."""

    batch_sentences, batch_tokens = 8, 100

    def __init__(self) -> None:
        self.asked: list[tuple[list[list[int]], bool]] = []

    def submit(
        self, sources: Sequence[list[int]], *_: Any, with_attention: bool, **_more: Any
    ) -> Callable[[], list[Found]]:
        self.asked.append((list(sources), with_attention))
        attention = np.eye(2, 3) if with_attention else None
        return lambda: [[Hypothesis(list(ids), attention=attention)] for ids in sources]


@pytest.mark.parametrize(
    ("copies_unknown", "with_attention", "expected"),
    [
        (True, False, [([KNOWN, STRANGE], False), ([STRANGE], True)]),
        (True, True, [([KNOWN, STRANGE], True)]),
        (False, False, [([KNOWN, STRANGE], False)]),
    ],
)
def test_attention_is_asked_for_where_words_are_to_be_copied(
    copies_unknown: bool, with_attention: bool, expected: object
) -> None:
    engine: Any = RepeatingEngine()
    searcher = Searcher(engine, Metrics(), threads=1, room=10, copies_unknown=copies_unknown)
    search = Search(DecodingConfig(), with_attention=with_attention)

    async def work() -> list[Found]:
        searcher.start()
        try:
            return await searcher.found([Order(ids, 9, search) for ids in (KNOWN, STRANGE)])
        finally:
            searcher.stop()

    found = asyncio.run(work())
    assert engine.asked == expected
    assert [each[0].ids for each in found] == [KNOWN, STRANGE]
    assert (found[1][0].attention is not None) == (copies_unknown or with_attention)
