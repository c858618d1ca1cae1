"""Texts in another language: one in the target language stays as it is, others are reported."""

from collections.abc import Sequence
from dataclasses import replace

from ptenmt.config import Config
from ptenmt.data.languages import foreign_languages
from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.sentence import SegmentedText


class Languages(Safeguard):
    """Detects texts that are surely not in the source language."""

    def __init__(self, config: Config) -> None:
        self._source, self._target = config.data.languages

    def read(self, texts: Sequence[str], segmented: list[SegmentedText]) -> list[SegmentedText]:
        """Note the languages of foreign texts.

        One in the target language becomes a single blank sentence, unless its translation has a prefix.
        """
        rows = [
            row
            for row, text in enumerate(segmented)
            if any(not sentence.is_blank for sentence in text.sentences)
        ]
        languages = foreign_languages([texts[row] for row in rows], self._source)
        for row, language in zip(rows, languages, strict=True):
            segmented[row].detected = language
            if language == self._target and not segmented[row].sentences[0].target_prefix:
                whole = replace(segmented[row].sentences[0], original=texts[row], before="", spans=())
                whole.leave()
                segmented[row] = SegmentedText([whole], detected=language)
        return segmented
