"""Language identification among the two languages of the run."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ptenmt.server.refusal import Refusal


@dataclass(frozen=True, kw_only=True)
class DetectedLanguage:
    """A language that a text may be in."""

    language: str
    """ISO 639-1 code."""
    confidence: float
    """In percent."""


class Detector:
    """Tells the source language from the target language.

    py3langid knows 97 languages; only those of the run are considered.

    Args:
        source: ISO 639-1 code.
        target: ISO 639-1 code.
    """

    def __init__(self, source: str, target: str) -> None:
        self._languages = (source, target)

    def detect(self, text: str) -> list[DetectedLanguage]:
        """Both languages, the more likely one first; for a text without letters, the source language.

        Raises:
            Refusal: py3langid does not know one of them.
        """
        source, target = self._languages
        if not any(char.isalpha() for char in text):
            return [
                DetectedLanguage(language=source, confidence=0.0),
                DetectedLanguage(language=target, confidence=0.0),
            ]
        ranked = self._identifier.rank(text)
        return [
            DetectedLanguage(language=str(language), confidence=round(100 * float(share), 1))
            for language, share in ranked
        ]

    @cached_property
    def _identifier(self) -> Any:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # takes 0.3 s to load

        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        try:
            identifier.set_languages(list(self._languages))
        except ValueError as error:
            one, other = self._languages
            raise Refusal(f"{one} and {other} cannot be told apart here: name the source language") from error
        return identifier
