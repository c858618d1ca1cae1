"""Which of the two languages a text is in."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ptenmt.server.refusal import Refusal


@dataclass(frozen=True, kw_only=True)
class Detected:
    """A language that a text may be in."""

    language: str
    """ISO 639-1 code."""
    confidence: float
    """In per cent."""


class Detector:
    """Tells the source language from the target language.

    py3langid knows 97 languages; what a server cannot translate is no answer here.

    Args:
        source: ISO 639-1 code.
        target: ISO 639-1 code.
    """

    def __init__(self, source: str, target: str) -> None:
        self._languages = (source, target)

    def detect(self, text: str) -> list[Detected]:
        """Both languages, the likelier one first; of a text without a letter, the source language.

        Raises:
            Refusal: One of them is unknown to py3langid.
        """
        source, target = self._languages
        if not any(char.isalpha() for char in text):
            return [Detected(language=source, confidence=0.0), Detected(language=target, confidence=0.0)]
        ranked = self._identifier.rank(text)
        return [
            Detected(language=str(language), confidence=round(100 * float(share), 1))
            for language, share in ranked
        ]

    @cached_property
    def _identifier(self) -> Any:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # 0.3 s, for who wants it

        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        try:
            identifier.set_languages(list(self._languages))
        except ValueError as error:
            one, other = self._languages
            raise Refusal(f"{one} and {other} cannot be told apart here: name the source language") from error
        return identifier
