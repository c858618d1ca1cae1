"""Reading texts a window at a time, and giving them to an engine in batches of similar length."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ptenmt.config import DecodingConfig
from ptenmt.tokenizers import END, START, UNK
from ptenmt.translation.engine import Engine, Found, Hypothesis
from ptenmt.translation.results import Translation
from ptenmt.translation.segments import Segment, Segments

BATCH_SENTENCES = 32
BATCH_TOKENS = 512
"""Source tokens, padding included. CTranslate2 is fastest with such batches, if by little: with everything
ready it takes 3 to 4 % longer with 32 sentences of any length, and 10 to 25 % longer with 128 of them or
with 4,096 tokens (benchmarks/translation.md)."""
WINDOW_CHARACTERS = 250_000
"""Of windows of long texts: some seconds' work, after which what is done can be kept and shown."""
NOTHING = [Hypothesis([START, END])]
"""What is found for a segment in which there is nothing to translate."""


@dataclass
class Window:
    """Some texts that follow each other in a stream."""

    texts: list[str]
    cut: list[Segments]
    failure: Exception | None = None
    """The error that ended the stream behind these texts, if one did."""
    found: list[list[Found]] = field(init=False)
    """What was found for each segment of each text; an empty list for those that are not translated yet."""
    milliseconds: list[float] = field(init=False)
    """What each text has cost so far."""
    translations: dict[int, Translation] = field(default_factory=dict)
    """Those that are done, by row."""

    def __post_init__(self) -> None:
        self.found = [[NOTHING if part.is_blank else [] for part in text.segments] for text in self.cut]
        self.milliseconds = [0.0] * len(self.texts)

    @property
    def blank_rows(self) -> list[int]:
        """The texts in which there is nothing to translate."""
        return [row for row, text in enumerate(self.cut) if all(part.is_blank for part in text.segments)]

    @property
    def is_done(self) -> bool:
        """Whether all texts are translated."""
        return len(self.translations) == len(self.texts)

    def in_order(self) -> list[Translation]:
        """The translations of a window that is done."""
        return [self.translations[row] for row in range(len(self.texts))]

    def batches(
        self, limit: Callable[[int], int], sentences: int = BATCH_SENTENCES, tokens: int = BATCH_TOKENS
    ) -> Iterator["Batch"]:
        """The segments, the longest first: what comes last keeps no thread waiting for another for long.

        Args:
            limit: Gives the most tokens of a translation for the number of the source's.
            sentences: The most of a batch.
            tokens: The most of a batch, padding included, unless a single segment has more.
        """
        places = [
            (row, number)
            for row, text in enumerate(self.cut)
            for number, segment in enumerate(text.segments)
            if not segment.is_blank
        ]
        places.sort(key=lambda place: -len(self.segment(place).ids))
        for length, group in groupby(places, key=lambda place: limit(len(self.segment(place).ids))):
            alike = list(group)
            while alike:
                size = max(1, min(sentences, tokens // len(self.segment(alike[0]).ids)))
                yield Batch(self, alike[:size], length)
                del alike[:size]

    def segment(self, place: tuple[int, int]) -> Segment:
        """The segment of this number in the text of this row."""
        row, number = place
        return self.cut[row].segments[number]


@dataclass
class Batch:
    """Segments of similar length, which are translated together."""

    window: Window
    places: list[tuple[int, int]]
    """Row of the text, number of the segment."""
    limit: int
    """The most tokens of each translation."""

    def prefixes(self, prefix: Sequence[int]) -> list[Sequence[int]]:
        """What the translation of each segment begins with, if that of each text begins with ``prefix``."""
        return [prefix if number == 0 else () for _, number in self.places] if prefix else []

    @property
    def sources(self) -> list[list[int]]:
        """The ids of each segment."""
        return [self.window.segment(place).ids for place in self.places]

    def part(self, rows: Sequence[int]) -> "Batch":
        """Some of its segments."""
        return Batch(self.window, [self.places[row] for row in rows], self.limit)

    def put(self, found: Sequence[Found], milliseconds: float) -> list[int]:
        """Note what was found for the segments; gives the rows of the texts that are done by that."""
        for (row, number), hypotheses in zip(self.places, found, strict=True):
            self.window.found[row][number] = hypotheses
            self.window.milliseconds[row] += milliseconds / len(self.places)
        return [row for row in dict(self.places) if all(self.window.found[row])]


def windows(
    texts: Iterable[str], size: int, cut: Callable[[Sequence[str]], list[Segments]]
) -> Iterator[Window]:
    """Read a stream; if that fails, the last window holds the error.

    Args:
        texts: The stream.
        size: The most texts of a window; where they are long, it has fewer.
        cut: Cuts texts into segments.
    """
    stream = iter(texts)
    while True:
        taken, failure = _take(stream, size)
        if taken or failure is not None:
            yield Window(taken, cut(taken), failure)
        if not taken or failure is not None:
            return


def search(
    engine: Engine,
    batches: Iterable[Batch | None],
    options: DecodingConfig,
    *,
    prefix: Sequence[int],
    copies_unknown: bool,
    with_scores: bool,
) -> Iterator[tuple[Batch, list[int]] | None]:
    """Have batches translated, as many at a time as the engine wants.

    Args:
        engine: Translates them.
        batches: None among them means: finish what was begun before going on.
        options: How to search.
        prefix: Ids that the translation of every text begins with.
        copies_unknown: Whether attention is needed where a hypothesis has [UNK]: such sentences are searched
            for again with attention, which costs much more than a second search of the few that have it.
        with_scores: Whether scores are.

    Yields:
        Each batch when it is translated, with the rows of the texts that are done by that; None for None.
    """
    begun: deque[tuple[Batch, Callable[[], list[Found]], float]] = deque()
    last = 0.0

    def submit(batch: Batch, with_attention: bool = False) -> Callable[[], list[Found]]:
        return engine.submit(
            batch.sources,
            batch.limit,
            options,
            prefixes=batch.prefixes(prefix),
            with_attention=with_attention,
            with_scores=with_scores,
        )

    def finish() -> tuple[Batch, list[int]]:
        nonlocal last
        batch, wait, started = begun.popleft()
        found = wait()
        unknown = [row for row, each in enumerate(found) if copies_unknown and has_unknown(each)]
        if unknown:
            again = dict(zip(unknown, submit(batch.part(unknown), with_attention=True)(), strict=True))
            found = [again.get(row, each) for row, each in enumerate(found)]
        started, last = max(started, last), time.perf_counter()
        return batch, batch.put(found, 1000 * (last - started))

    for batch in batches:
        if batch is not None:
            started = time.perf_counter()
            begun.append((batch, submit(batch), started))
        while begun and (batch is None or len(begun) > engine.queue):
            yield finish()
        if batch is None:
            yield None
    while begun:
        yield finish()


def has_unknown(found: Found) -> bool:
    """Whether any hypothesis has a word that the vocabulary lacks."""
    return any(UNK in hypothesis.ids for hypothesis in found)


def _take(stream: Iterator[str], size: int) -> tuple[list[str], Exception | None]:
    """The next texts, and the error that cut them short, if one did."""
    taken: list[str] = []
    characters = 0
    try:
        while len(taken) < size and characters < WINDOW_CHARACTERS:
            taken.append(next(stream))
            characters += len(taken[-1])
    except StopIteration:
        pass
    except Exception as error:  # whatever it is: it is raised once what came before is translated
        return taken, error
    return taken, None
