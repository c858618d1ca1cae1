"""What the routes ask for: texts in, translations out, alignments, attention."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ptenmt.config import DecodingConfig
from ptenmt.errors import ConfigError
from ptenmt.server.attending import Attender
from ptenmt.server.batching import Order, Search
from ptenmt.server.limits import Limits
from ptenmt.server.metrics import Metrics
from ptenmt.server.refusal import Refusal
from ptenmt.server.searching import Searcher
from ptenmt.server.threads import DaemonThreads
from ptenmt.server.words import word_weights, words_of
from ptenmt.tokenizers import END
from ptenmt.translation import Translator
from ptenmt.translation.encoding import Encoding
from ptenmt.translation.engine import Found
from ptenmt.translation.results import Alternative
from ptenmt.translation.segments import Segment, Segments
from ptenmt.translation.windows import NOTHING
from ptenmt.translation.wording import Wording

if TYPE_CHECKING:
    from ptenmt.model.numpy_transformer import NumpyTransformer

_Result = TypeVar("_Result")
_SHORT_CHARACTERS = 1_000
"""Texts of so many are cut into pieces, and put into words, in half a millisecond."""
_SHORT_TEXTS = 32
"""So many at most, as a text takes time for itself, however short it is."""


@dataclass(frozen=True, kw_only=True)
class Aligned:
    """Which words of a sentence each word of its translation comes from."""

    translation: str
    source_words: list[str]
    """Joined they give the sentence."""
    target_words: list[str]
    """Joined they give the translation."""
    weights: list[list[float]]
    """A row a target word, a column a source word; a row sums to 1, to 0 if nothing is known of it."""


@dataclass(frozen=True, kw_only=True)
class Attended:
    """Who attends to whom in one sentence and its translation."""

    translation: str
    source_pieces: list[str]
    """S pieces, [START] and [END] included."""
    target_pieces: list[str]
    """The T pieces fed to the decoder: [START], and no [END]."""
    weights: dict[str, list[Any]]
    """``encoder_layer{i}`` [H][S][S], ``decoder_layer{i}_block1`` [H][T][T], ``…_block2`` [H][T][S]."""


class Service:
    """Answers many at a time with one model.

    Args:
        translator: The model.
        load_model: Loads the model in NumPy, when attention is first asked for.
        limits: What is too much.
        metrics: What is counted.
        threads: How many batches are translated at a time.

    Raises:
        ConfigError: The run draws its tokens by lot.
    """

    def __init__(
        self,
        translator: Translator,
        load_model: "Callable[[], NumpyTransformer]",
        limits: Limits,
        metrics: Metrics,
        *,
        threads: int,
    ) -> None:
        if translator.config.decoding.is_sampled:
            raise ConfigError(
                "a server gives the same translation each time; this run draws tokens",
                "add --set decoding.top_k=1 --set decoding.top_p=1 --set decoding.temperature=1",
            )
        self.limits, self.metrics = limits, metrics
        self.source_language = translator.config.data.source_language
        self.target_language = translator.config.data.target_language
        self._translator = translator
        self._searcher = Searcher(
            translator.engine,
            metrics,
            threads=threads,
            room=limits.queue,
            copies_unknown=translator.config.tokenizer.kind == "words",
        )
        self._documents: DaemonThreads | None = None
        self._options = translator.config.decoding
        self._encoding = Encoding(translator.tokenizers, translator.config)
        self._segmenter = self._encoding.segmenter()
        self._wording = Wording(translator.tokenizers, translator.config)
        self._attender = Attender(load_model)
        self._looking = asyncio.Lock()

    def start(self) -> None:
        """Start the threads; in the loop that the requests are answered in."""
        self._searcher.start()
        self._documents = DaemonThreads(self.limits.files)

    def stop(self) -> None:
        """End the threads."""
        self._searcher.stop()
        if self._documents is not None:
            self._documents.close()
            self._documents = None

    async def translate(
        self, texts: Sequence[str], *, alternatives: int = 0, is_document: bool = False
    ) -> list[list[Alternative]]:
        """Translate texts.

        Args:
            texts: Any texts; blank ones have an empty translation.
            alternatives: How many other translations of each are wanted.
            is_document: They may have any number of sentences, which are queued a few at a time, so that
                others come in between.

        Returns:
            For each its translations, best first.

        Raises:
            Refusal: There are too many sentences, or too many are waiting.
        """
        done = self.aside if is_document else _way_for(texts)
        cut = await done(self._segmenter.cut, texts)
        segments = [segment for text in cut for segment in text.segments if not segment.is_blank]
        most = self.limits.sentences
        if len(segments) > most and not is_document:
            raise Refusal(f"the text has {len(segments):,} sentences; {most:,} are allowed")
        search = Search(_with_alternatives(self._options, alternatives))
        orders = [self._order(segment, search) for segment in segments]
        find = self._searcher.found_in_waves if is_document else self._searcher.found
        found = iter(await find(orders))
        parts = [[NOTHING if segment.is_blank else next(found) for segment in text.segments] for text in cut]
        translations: list[list[Alternative]] = await done(self._wording.of_texts, cut, parts)
        return translations

    async def aside(self, work: Callable[..., _Result], *arguments: Any) -> _Result:
        """What a function makes of a document, which may take long; an end does not wait for it.

        Raises:
            Refusal: The server is ending.
        """
        if self._documents is None:
            raise Refusal("the server is ending", 503, retry_after=10)
        result: _Result = await self._documents.run(work, *arguments)
        return result

    async def align(self, text: str, prefix: str = "") -> Aligned:
        """Translate a sentence, and tell which of its words each word of the translation comes from.

        Raises:
            Refusal: It has several parts, or too many sentences are waiting.
        """
        segments, begun = self._sentence(text, prefix)
        search = Search(_with_alternatives(self._options, 0), with_attention=True)
        segment = segments.segments[0]
        found = await self._found_or_nothing(segment, search, begun)
        best = self._wording.of_texts([segments], [[found]])[0][0]
        source_words, target_words = words_of(text), words_of(best.text)
        attention = found[0].attention
        weights = (
            [[0.0] * len(source_words) for _ in target_words]
            if attention is None
            else word_weights(
                attention,
                (source_words, self._translator.tokenizers.source.pieces(segment.ids)),
                (target_words, self._translator.tokenizers.target.pieces(found[0].ids[1:])),
            )
        )
        return Aligned(
            translation=best.text, source_words=source_words, target_words=target_words, weights=weights
        )

    async def branches(self, text: str, prefix: str, count: int) -> list[Alternative]:
        """What may follow the beginning of a translation, likeliest first; a whole translation each.

        Raises:
            Refusal: The text has several parts, or too many sentences are waiting.
        """
        segments, begun = self._sentence(text, prefix)
        options = replace(self._options, num_hypotheses=1)
        search = Search(options, branches=count)
        found = await self._found_or_nothing(segments.segments[0], search, begun)
        return self._wording.of_texts([segments], [[found]])[0]

    async def attention(self, text: str, translation: str | None) -> Attended:
        """Tell who attends to whom while the model reads a sentence and writes its translation.

        Args:
            text: The sentence.
            translation: Its translation; None: the model's own.

        Raises:
            Refusal: It has several parts, or one of them is too long, or too many sentences are waiting.
        """
        segments, _ = self._sentence(text, "")
        source = segments.segments[0].ids
        if translation is None:
            search = Search(_with_alternatives(self._options, 0))
            found = await self._found_or_nothing(segments.segments[0], search, ())
            translation, target = self._wording.of_texts([segments], [[found]])[0][0].text, found[0].ids
        else:
            target = self._encoding.target(translation)
        target = target[:-1] if target[-1] == END else target
        longest = max(len(source), len(target))
        if longest > self.limits.pieces:
            raise Refusal(
                f"the sentence has {longest} pieces; attention is told of up to {self.limits.pieces}"
            )
        async with self._looking:
            weights = await asyncio.to_thread(self._attender.attention, source, target)
        return Attended(
            translation=translation,
            source_pieces=self._translator.tokenizers.source.pieces(source),
            target_pieces=self._translator.tokenizers.target.pieces(target),
            weights=weights,
        )

    def _sentence(self, text: str, prefix: str) -> tuple[Segments, list[int]]:
        """A text of one segment, and the ids of what its translation is to begin with."""
        try:
            return self._encoding.whole(text), self._encoding.prefix(prefix)
        except ConfigError as error:
            raise Refusal(error.message) from error

    def _order(self, segment: Segment, search: Search, prefix: Sequence[int] = ()) -> Order:
        limit = self._translator.limit(len(segment.ids), len(prefix))
        return Order(segment.ids, limit, search, prefix)

    async def _found_or_nothing(self, segment: Segment, search: Search, prefix: Sequence[int]) -> Found:
        if segment.is_blank:
            return NOTHING
        return (await self._searcher.found([self._order(segment, search, prefix)]))[0]


def _way_for(texts: Sequence[str]) -> Callable[..., Awaitable[Any]]:
    """How to have texts cut and worded: in another thread, to which the way takes longer than short work."""
    is_short = len(texts) <= _SHORT_TEXTS and sum(map(len, texts)) <= _SHORT_CHARACTERS
    return _at_once if is_short else asyncio.to_thread


async def _at_once(work: Callable[..., _Result], *arguments: Any) -> _Result:
    return work(*arguments)


def _with_alternatives(options: DecodingConfig, count: int) -> DecodingConfig:
    """The same search, for so many more translations; with as many beams, if there are fewer."""
    return replace(options, num_hypotheses=1 + count, beam_size=max(options.beam_size, 1 + count))
