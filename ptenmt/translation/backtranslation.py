"""Back-translation (Sennrich et al. 2016): synthetic sources for text in a future model's target language.

A run of the reverse direction translates each line of the text. A pair is the translation, the line and the
translation's score, ready for ``data.train``; lines that would teach nothing are left out and counted.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ptenmt._version import __version__
from ptenmt.data.languages import language_check
from ptenmt.data.readers import tsv_line
from ptenmt.data.text import spacing
from ptenmt.errors import DataError
from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import mean_log_probability
from ptenmt.translation.postprocessing import Translation
from ptenmt.translation.resumable_output import OutputChunk
from ptenmt.translation.translator import BUFFER_SIZE, Translator

MAX_WORDS = 100
"""Longer lines are left out."""
PAIRS = "pairs"
EMPTY = "empty"
FOREIGN = "in another language"
"""Counts: lines that were not left out, and two of the reasons, by which the other counts are named."""


def left_out(counts: Counter[str]) -> str:
    """Describe the lines that were left out; raises DataError if there is no pair."""
    described = ", ".join(f"{count:,} {reason}" for reason, count in counts.items() if reason != PAIRS)
    if not counts[PAIRS]:
        hint = "give text in the language from which the run translates" if counts[FOREIGN] else ""
        raise DataError(f"no line gives a pair: {described or 'the text is empty'}", hint)
    return described


@dataclass(frozen=True, kw_only=True)
class BackTranslation:
    """Makes pairs of the translation of a line and the line itself."""

    translator: Translator
    """Of a run that translates from the language of the text."""
    weights: str
    on_warning: Callable[[str], None]
    """Called with a message if the language of the lines is not checked."""

    def facts(self) -> dict[str, Any]:
        """Facts that the pairs depend on, besides the lines."""
        return {
            "ptenmt": __version__,
            "weights": self.weights,
            "engine": self.translator.engine.identity,
            **asdict(self.translator.config.decoding),
        }

    def chunks(
        self,
        texts: Iterable[str],
        on_progress: Callable[[int], None] = lambda _num_bytes: None,
        num_done: int = 0,  # noqa: ARG002 — lines have no numbers
    ) -> Iterator[OutputChunk]:
        """Translate lines, a buffer at a time, to lines of two sentences and a score, separated by tabs."""
        read: deque[tuple[str, str]] = deque()  # lines that are being translated, with reasons to leave out

        def usable() -> Iterator[str]:
            for line, reason in self._read(texts):
                read.append((line, reason))
                yield "" if reason else line

        buffers = self.translator.translate_buffers(
            usable(), buffer_size=BUFFER_SIZE, on_progress=on_progress
        )
        for translations in buffers:
            rows = [(*read.popleft(), translation) for translation in translations]
            reasons = [reason or self._reason(translation) for _, reason, translation in rows]
            pairs = [self._pair(row[0], row[2]) for row, out in zip(rows, reasons, strict=True) if not out]
            counts = Counter(reason or PAIRS for reason in reasons)
            unknown = [word for translation in translations for word in translation.unknown]
            yield OutputChunk([line for line, *_ in rows], "".join(pairs), counts, unknown=unknown)

    def _read(self, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Lines, each with the reason why it is left out, or an empty one."""
        languages, check = self.translator.config.data.languages, None
        try:
            check = language_check(languages)
        except DataError as error:
            self.on_warning(f"{error.message}: the language of the lines is not checked")
        for line in texts:
            num_words, reason = len(line.split()), ""
            if not num_words:
                reason = EMPTY
            elif num_words > MAX_WORDS:
                reason = "too long"
            elif check is not None and check.foreign(line, languages[0]) is not None:
                reason = FOREIGN
            yield line, reason

    def _reason(self, translation: Translation) -> str:
        """Why a translation is of no use; empty if it is."""
        if set(translation.ids) <= {START, END}:
            return "without words"
        if translation.is_split:
            return "too long"
        return "" if translation.is_complete else "translation truncated"

    def _pair(self, line: str, translation: Translation) -> str:
        """A line of the file, as a config like the run's own reads it."""
        source = translation.text
        if spacing(self.translator.config.data) == "given":
            source, line = translation.raw, self.translator.encoder.prepare_source(line)
        penalty = self.translator.config.decoding.length_penalty
        score = mean_log_probability(translation.ids, translation.score, penalty)
        return tsv_line(source.strip(), line.strip(), f"{score:.4f}")
