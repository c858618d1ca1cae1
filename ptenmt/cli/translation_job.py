"""Texts in, translations out."""

import gc
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ptenmt import __version__
from ptenmt.cli.destination import Destination, Sink
from ptenmt.cli.translation_form import TranslationForm
from ptenmt.cli.translation_view import TranslationView
from ptenmt.errors import PtenmtError

if TYPE_CHECKING:
    from ptenmt.translation import Translation, Translator

_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Translating leaves no cycles of objects behind; looking for them after every 700 takes a tenth of the main
thread's time, which the engine's threads then lack."""


@dataclass(frozen=True, kw_only=True)
class TranslationJob:
    """How texts are translated, and written down.

    Raises:
        PtenmtError: More alternatives are wanted than there are tokens.
    """

    translator: "Translator"
    weights: str
    """A name for the weights that translate."""
    form: TranslationForm
    prefix: str
    """What every translation begins with."""
    alternatives: int | None
    """If given: so many different tokens after the prefix, and how each goes on."""

    def __post_init__(self) -> None:
        size = self.translator.tokenizers.target.vocabulary_size
        if self.alternatives is not None and self.alternatives > size:
            raise PtenmtError(f"--alternatives {self.alternatives}: the vocabulary has {size:,} tokens")

    def translate(self, text: str) -> "Translation":
        """Translate one text."""
        ((translation,),) = self._windows(iter([text]), lambda _done: None)
        return translation

    def run(
        self,
        texts: Iterable[str],
        destination: Destination,
        view: TranslationView,
        *,
        line_by_line: bool,
    ) -> None:
        """Translate it all.

        Args:
            texts: What is translated.
            destination: Where the translations go.
            view: Shows how far it is.
            line_by_line: Translate each text before the next is read.

        Raises:
            OutputError: The output cannot be written or gone on with.
            DataError: A text cannot be read.
        """
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        stream = iter(texts)
        window = {"buffer_size": 1} if line_by_line else {}
        is_repeatable = not self.translator.config.decoding.is_sampled
        sink: Sink | None = None
        try:
            with (
                destination.opened(stream, self._facts(), is_repeatable=is_repeatable) as sink,
                view.showing(sink.num_kept or 0),
            ):
                if destination.resume and not sink.num_kept:
                    view.tell_beginning(destination.file)
                for translations in self._windows(stream, view.show, **window):
                    sink.append([each.source for each in translations], self.form.written(translations))
        except BaseException as error:
            if sink is not None and sink.num_kept:
                view.tell_how_to_go_on(sink.num_kept, destination.command_to_resume)
            elif sink is not None and sink.num_kept == 0 and not isinstance(error, Exception):
                view.tell_nothing_is_kept()
            raise
        view.tell_end()

    def _windows(
        self, texts: Iterator[str], show: Callable[[Collection["Translation"]], None], **window: int
    ) -> Iterator[list["Translation"]]:
        if self.alternatives is None:
            yield from self.translator.translate_buffers(
                texts, prefix=self.prefix, with_scores=self.form.has_scores, on_done=show, **window
            )
            return
        for text in texts:
            branched = [self._branched(text, self.alternatives)]
            show(branched)
            yield branched

    def _branched(self, text: str, count: int) -> "Translation":
        """A text's alternatives, the likeliest of which is its translation."""
        from ptenmt.translation import Translation

        if not text.strip():
            return self.translator.translate(text)[0]
        began = time.perf_counter()
        best, *others = self.translator.alternatives(text, self.prefix, count)
        milliseconds = 1000 * (time.perf_counter() - began)
        return Translation(**vars(best), source=text, alternatives=others, milliseconds=milliseconds)

    def _facts(self) -> dict[str, Any]:
        """What translations depend on, by name."""
        return {
            "ptenmt": __version__,
            "weights": self.weights,
            "engine": self.translator.engine.identity,
            "prefix": self.prefix,
            "alternatives": self.alternatives,
            **asdict(self.form),
            **asdict(self.translator.config.decoding),
        }
