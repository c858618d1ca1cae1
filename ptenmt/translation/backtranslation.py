"""Back-translation (Sennrich et al. 2016): synthetic sources for text in a future model's target language.

A run of the reverse direction translates each line of the text. A pair is the translation, the line and the
translation's score, ready for ``data.train``; lines that would teach nothing are left out and counted.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from ptenmt import __version__
from ptenmt.config.schema import require
from ptenmt.data.language_identification import LanguageCheck
from ptenmt.data.text import language_name, spacing
from ptenmt.errors import DataError
from ptenmt.tokenizers import END, START
from ptenmt.translation.postprocessing import Translation, mean_log_probability
from ptenmt.translation.resumable_output import OutputChunk
from ptenmt.translation.translator import BUFFER_SIZE, Translator

PAIRS = "pairs"
"""The count of lines that were not left out; the other counts are named by the reason."""


@dataclass(frozen=True, kw_only=True)
class BackTranslation:
    """Makes pairs of the translation of a line and the line itself.

    Args:
        translator: Of a run that translates from the language of the text.
        weights: The identity of its weights.
        max_words: Leave out lines of more words.
        min_score: Leave out lines whose translation has a lower ``mean_log_probability``.
        on_warning: Called with a message if the text is mostly in another language.

    Raises:
        ConfigError: ``max_words`` or ``min_score`` would leave out everything.
    """

    translator: Translator
    weights: str
    max_words: int
    min_score: float | None
    on_warning: Callable[[str], None]

    def __post_init__(self) -> None:
        require(self.max_words >= 1, f"max_words={self.max_words} must be 1 or more")
        require(
            self.min_score is None or self.min_score <= 0,
            f"min_score={self.min_score} must be at most 0: it is a mean log-probability",
        )

    def facts(self) -> dict[str, Any]:
        """Facts that the pairs depend on, besides the lines."""
        return {
            "ptenmt": __version__,
            "weights": self.weights,
            "engine": self.translator.engine.identity,
            "max_words": self.max_words,
            "min_score": self.min_score,
            **asdict(self.translator.config.decoding),
        }

    def chunks(
        self,
        texts: Iterable[str],
        on_done: Callable[[Collection[Translation]], None],
        has_more: Callable[[float], bool] | None = None,  # noqa: ARG002 — a file has
    ) -> Iterator[OutputChunk]:
        """Translate lines, a buffer at a time, to lines of two sentences and a score, separated by tabs."""
        read: deque[tuple[str, str]] = deque()  # lines that are being translated, with reasons to leave out

        def usable() -> Iterator[str]:
            for line, reason in self._read(iter(texts)):
                read.append((line, reason))
                yield "" if reason else line

        def report(translations: Collection[Translation]) -> None:
            on_done([each for each in translations if each.source])

        for translations in self.translator.translate_buffers(
            usable(), buffer_size=BUFFER_SIZE, on_done=report
        ):
            lines: list[str] = []
            pairs: list[str] = []
            left_out: list[Translation] = []
            counts = Counter[str]()
            for translation in translations:
                line, reason = read.popleft()
                lines.append(line)
                if reason:
                    left_out.append(replace(translation, source=line))
                elif not (reason := self._reason(translation)):
                    pairs.append(self._pair(line, translation))
                counts[reason or PAIRS] += 1
            on_done(left_out)
            yield OutputChunk(lines, "".join(pairs), counts)

    def _read(self, texts: Iterator[str]) -> Iterator[tuple[str, str]]:
        """Lines, each with the reason why it is left out, or an empty one."""
        is_warned = False
        while lines := list(islice(texts, BUFFER_SIZE)):
            foreign = self._in_other_language(lines)
            if 2 * sum(foreign) > sum(bool(line.strip()) for line in lines) and not is_warned:
                is_warned = True
                name = language_name(self._language)
                self.on_warning(f"most lines are not in {name}, from which the run translates")
            for line, is_foreign in zip(lines, foreign, strict=True):
                if not line.strip():
                    yield line, "empty"
                elif len(line.split()) > self.max_words:
                    yield line, "too long"
                else:
                    yield line, "in another language" if is_foreign else ""

    def _reason(self, translation: Translation) -> str:
        """Why a translation is of no use; empty if it is."""
        if set(translation.ids) <= {START, END}:
            return "without words"
        if translation.is_split:
            return "too long"
        if not translation.is_complete:
            return "translation truncated"
        too_low = self.min_score is not None and self._score(translation) < self.min_score
        return "score too low" if too_low else ""

    def _pair(self, line: str, translation: Translation) -> str:
        """A line of the file, as a config like the run's own reads it."""
        source = translation.text
        if spacing(self.translator.config.data) == "given":
            source, line = translation.raw, self.translator.encoder.prepare_source(line)
        score = self._score(translation)
        return f"{' '.join(source.split())}\t{' '.join(line.split())}\t{score:.4f}\n"

    def _score(self, translation: Translation) -> float:
        return mean_log_probability(translation, self.translator.config.decoding.length_penalty)

    @property
    def _language(self) -> str:
        return self.translator.config.data.languages[0]

    @cached_property
    def _languages(self) -> LanguageCheck | None:
        try:
            return LanguageCheck(self.translator.config.data.languages)
        except DataError as error:
            self.on_warning(f"{error.message}: the language of the lines is not checked")
            return None

    def _in_other_language(self, lines: Sequence[str]) -> list[bool]:
        if self._languages is None:
            return [False] * len(lines)
        return [not accepted for accepted in self._languages.accepts(lines, self._language).tolist()]
