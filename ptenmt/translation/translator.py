"""The translator: text in, text out."""

import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptenmt.config import Config
from ptenmt.config.schema import MAX_ALTERNATIVES, require
from ptenmt.runs import Choice, Run, find_run
from ptenmt.tokenizers import TokenizerPair, forbidden, load_tokenizers
from ptenmt.translation.encoding import Encoding
from ptenmt.translation.engine import Engine, Found
from ptenmt.translation.loading import EngineName, Loader
from ptenmt.translation.results import Alignment, Alternative, Translation
from ptenmt.translation.segments import Segment
from ptenmt.translation.windows import Batch, Window, search, windows
from ptenmt.translation.wording import Wording

if TYPE_CHECKING:
    from ptenmt.model import Transformer

WINDOW_TEXTS = 2048
"""So that batches of similar length are full: with half as many, twice as much of them is padding."""


class Translator:
    """Translates sentences with a trained model.

    Args:
        engine: Translates ids to ids.
        tokenizers: Of both languages.
        config: The run's options.
    """

    def __init__(self, engine: Engine, tokenizers: TokenizerPair, config: Config) -> None:
        self.engine = engine
        self.tokenizers = tokenizers
        self.config = config
        self._encoding = Encoding(tokenizers, config)
        self._wording = Wording(tokenizers, config)

    @classmethod
    def load(
        cls,
        run: str | Path | Run | None = None,
        on_warning: Callable[[str], None] = warnings.warn,
        checkpoint: Choice = "best",
        *,
        engine: EngineName = "auto",
        device: str = "cpu",
        threads: int | None = None,
        on_tensorflow: Callable[[], None] = lambda: None,
    ) -> "Translator":
        """Load a trained run.

        Args:
            run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
            on_warning: Told, in a sentence, of a damaged checkpoint that was passed over, or an old export.
            checkpoint: ``best``: the weights that scored best in validation; ``latest``: the newest.
            engine: ``ctranslate2``, the fast one; ``keras``, the reference; or ``auto``: the fast one, unless
                it cannot express the model.
            device: What CTranslate2 computes on: ``cpu``, ``cuda`` or ``auto``.
            threads: How many batches CTranslate2 translates at a time; by default one a core.
            on_tensorflow: Called before TensorFlow is imported, if it has to be, which takes seconds.

        Raises:
            RunError: There is no such run, or it does not translate.
            CheckpointError: It has no checkpoint that can be read.
            ExportError: CTranslate2 cannot express the model, or cannot use its export.
            ConfigError: This machine has no such device.
        """
        run = run if isinstance(run, Run) else find_run(run)
        config = run.config()
        tokenizers = load_tokenizers(run.tokenizer_folder)
        loader = Loader(run, config, tokenizers, checkpoint, on_warning, on_tensorflow)
        return cls(loader.engine(engine, device=device, threads=threads), tokenizers, config)

    @classmethod
    def from_model(cls, model: "Transformer", tokenizers: TokenizerPair, config: Config) -> "Translator":
        """Translate with a live model, whose weights may go on changing."""
        from ptenmt.translation.keras_engine import KerasEngine

        return cls(KerasEngine(model, forbidden(config.tokenizer)), tokenizers, config)

    def with_options(self, **changes: Any) -> "Translator":
        """The same translator with other options of the section ``decoding``, such as ``beam_size=1``.

        Raises:
            ConfigError: They do not go together.
        """
        config = replace(self.config, decoding=replace(self.config.decoding, **changes))
        return Translator(self.engine, self.tokenizers, config)

    def translate(self, texts: str | Iterable[str], *, prefix: str = "") -> list[Translation]:
        """Translate a text, or any number of them, in order.

        Empty and blank texts have an empty translation. Long ones are translated sentence by sentence.

        Args:
            texts: The texts.
            prefix: What every translation is to begin with.
        """
        return list(self.translate_iterable([texts] if isinstance(texts, str) else texts, prefix=prefix))

    def translate_iterable(
        self, texts: Iterable[str], *, prefix: str = "", window: int = WINDOW_TEXTS
    ) -> Iterator[Translation]:
        """Translate a stream of texts in constant memory.

        Args:
            texts: They are read ``window`` at a time (fewer if they are long) and batched by length.
                If reading fails, those before are still translated, then the error is raised.
            prefix: What every translation is to begin with.
            window: How many texts are read before the first is translated. With 1, each is translated before
                the next is read; otherwise the next window is read while the engine is at work.

        Yields:
            A translation a text, in order.
        """
        return chain.from_iterable(self.translate_windows(texts, prefix=prefix, window=window))

    def translate_windows(
        self,
        texts: Iterable[str],
        *,
        prefix: str = "",
        window: int = WINDOW_TEXTS,
        with_scores: bool = True,
        on_done: Callable[[Collection[Translation]], None] = lambda _some: None,
    ) -> Iterator[list[Translation]]:
        """Translate a stream of texts in constant memory; see ``translate_iterable``.

        What is translated together, and so the last digit of every number, depends on the texts of a window
        alone: a stream that begins behind a window of another goes on like that.

        Args:
            texts: See ``translate_iterable``, as for ``prefix`` and ``window``.
            with_scores: Greedy search takes some 4 % less time without scores, which are not a number then.
            on_done: Given translations as soon as they are there, in no order, all of a window before that
                is yielded.

        Yields:
            The translations of a window at a time.
        """
        require(window >= 1, f"window={window} must be 1 or more")
        segmenter, begun = self._encoding.segmenter(), self._encoding.prefix(prefix)
        opened: deque[Window] = deque()
        failure: Exception | None = None

        def batches() -> Iterator[Batch | None]:
            nonlocal failure
            for read in windows(texts, window, segmenter.cut):
                failure = read.failure
                opened.append(read)
                on_done(self._finish(read, read.blank_rows).values())
                yield from self._batches(read, lambda length: self.limit(length, len(begun)))
                if window == 1 or read.is_done:  # or blank lines would pile up
                    yield None

        for done in self._translated(batches(), begun, with_scores=with_scores):
            on_done(done.values())
            while opened and opened[0].is_done:
                yield opened.popleft().in_order()
        while opened:
            yield opened.popleft().in_order()
        if failure is not None:
            raise failure

    def translate_prepared(
        self, sources: Sequence[str], *, with_scores: bool = True
    ) -> Iterator[dict[int, Translation]]:
        """Translate sentences that are as the training corpus is, e.g. the corpus itself.

        Args:
            sources: The sentences.
            with_scores: See ``translate_windows``.

        Yields:
            The translations of some of them by their number, until all are done.
        """
        window = Window(list(sources), self._encoding.segmenter(is_corpus=True).cut(sources))
        yield self._finish(window, window.blank_rows)
        yield from self._translated(self._batches(window, self.limit), (), with_scores=with_scores)

    def branches(self, text: str, prefix: str, count: int) -> list[Alternative]:
        """What may follow the beginning of a translation: so many different next tokens, likeliest first.

        Args:
            text: A sentence.
            prefix: The beginning of its translation; empty for different first tokens.
            count: How many, 1 to ``MAX_ALTERNATIVES``; a small vocabulary has fewer.

        Returns:
            A whole translation for each; none of a text without words.

        Raises:
            ConfigError: The engine cannot do that, or so many, or not read the text at once.
        """
        require(1 <= count <= MAX_ALTERNATIVES, f"{count} alternatives: give 1 to {MAX_ALTERNATIVES:,}")
        if not text.strip():
            return []
        most = self.tokenizers.target.vocabulary_size - len(forbidden(self.config.tokenizer)) - 1  # [END]
        cut = self._encoding.whole(text)
        found = self._found(cut.segments[0], prefix, branches=min(count, most))
        return self._wording.of_texts([cut], [[found]])[0]

    def align(self, text: str, prefix: str = "") -> Alignment:
        """Translate a sentence, and tell which of its pieces each piece of the translation comes from.

        Args:
            text: A sentence.
            prefix: The beginning of its translation.

        Raises:
            ConfigError: The text is too long to be translated at once.
        """
        segment = self._encoding.whole(text).segments[0]
        best = self._found(segment, prefix)[0]
        assert best.attention is not None
        return Alignment(
            source_pieces=self.tokenizers.source.pieces(segment.ids),
            target_pieces=self.tokenizers.target.pieces(best.ids[1:]),
            weights=best.attention,
        )

    def best(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Translate a batch of sentences to the ids of their best translations.

        Args:
            sources: The ids of each, [START] and [END] included.

        Returns:
            Of each sentence ids, [START] first, and [END] last if it was reached.
        """
        limit = self.limit(max(map(len, sources)))
        wait = self._engine().submit(sources, limit, self.config.decoding)
        return [found[0].ids for found in wait()]

    def limit(self, num_source_tokens: int, num_prefix_tokens: int = 0) -> int:
        """The most tokens a translation may have, [END] and what it is to begin with counted.

        See ``DecodingConfig.limit``; never more than the model has positions.
        """
        length: int = self.config.decoding.limit(num_source_tokens)
        return min(length + num_prefix_tokens, self.config.model.max_positions)

    def _found(self, segment: Segment, prefix: str, branches: int = 0) -> Found:
        """What is found for one segment, with attention."""
        options, begun = self.config.decoding, self._encoding.prefix(prefix)
        limit = self.limit(len(segment.ids), len(begun))
        wait = self._engine().submit(
            [segment.ids], limit, options, prefixes=[begun], branches=branches, with_attention=True
        )
        return wait()[0]

    def _engine(self) -> Engine:
        """The engine; where tokens are drawn, at the beginning of its random numbers."""
        options = self.config.decoding
        return self.engine.seeded(options.seed) if options.is_sampled else self.engine

    def _batches(self, window: Window, limit: Callable[[int], int]) -> Iterator[Batch]:
        return window.batches(limit, self.engine.batch_sentences, self.engine.batch_tokens)

    def _translated(
        self, batches: Iterable[Batch | None], prefix: Sequence[int], *, with_scores: bool
    ) -> Iterator[dict[int, Translation]]:
        """Have batches translated; when one or what was begun is done, the texts that are done by that."""
        copies = self.config.tokenizer.kind == "words"
        for done in search(
            self._engine(),
            batches,
            self.config.decoding,
            prefix=prefix,
            copies_unknown=copies,
            with_scores=with_scores,
        ):
            yield {} if done is None else self._finish(done[0].window, done[1])

    def _finish(self, window: Window, rows: Sequence[int]) -> dict[int, Translation]:
        """Word the texts of these rows, for which all is found."""
        cut = [window.cut[row] for row in rows]
        worded = self._wording.of_texts(cut, [window.found[row] for row in rows])
        done = {
            row: Translation(
                **vars(best),
                source=window.texts[row],
                alternatives=others,
                is_split=text.is_split,
                unknown=self._wording.unknown(text),
                milliseconds=window.milliseconds[row],
            )
            for row, text, (best, *others) in zip(rows, cut, worded, strict=True)
        }
        window.translations.update(done)
        return done
