"""The output formats of ``ptenmt translate``: plain lines, Moses' n-best lists, JSON lines."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ptenmt.atomic_files import json_text
from ptenmt.config import DecodingConfig
from ptenmt.translation import Translation

_SHOWN_IN_JSON = ("is_complete", "is_retried", "is_split", "detected", "unknown")


class OutputFormat(ABC):
    """How the translation of a text is written."""

    name: ClassVar[str]
    has_scores: ClassVar[bool] = True

    @abstractmethod
    def handle(self, number: int, translation: Translation) -> str:
        """The lines of a translation with their line ends; ``number`` is that of its text, from 0."""


class PlainLines(OutputFormat):
    """A line for each text."""

    name = "lines"
    has_scores = False

    def handle(self, number: int, translation: Translation) -> str:  # noqa: ARG002
        """The best translation alone."""
        return f"{translation.text}\n"


class NBestLists(OutputFormat):
    """A line for each hypothesis, as Moses writes it: number, translation and score, between ``|||``."""

    name = "n-best lists"

    def handle(self, number: int, translation: Translation) -> str:
        """All hypotheses, the best one first."""
        return "".join(
            f"{number} ||| {' '.join(each.text.split())} ||| {each.score:.4f}\n"
            for each in (translation, *translation.alternatives)
        )


class JsonLines(OutputFormat):
    """A JSON object for each text, on a line."""

    name = "JSON"

    def handle(self, number: int, translation: Translation) -> str:  # noqa: ARG002
        """The source, its translation, alternatives and problems, without a carriage return at the end."""
        others = [{**self._ranked(it), "is_complete": it.is_complete} for it in translation.alternatives]
        facts = {
            "source": translation.source.removesuffix("\r"),
            **self._ranked(translation),
            "alternatives": others,
            **{name: getattr(translation, name) for name in _SHOWN_IN_JSON},
            "sentences": [{"translation": sentence.text} for sentence in translation.sentences],
        }
        return f"{json_text(facts)}\n"

    @staticmethod
    def _ranked(hypothesis: Translation) -> dict[str, Any]:
        return {
            "translation": hypothesis.text.removesuffix("\r"),
            "raw": hypothesis.raw,
            "score": hypothesis.score,
            "tokens": hypothesis.tokens,
        }


def output_format(options: DecodingConfig, *, as_json: bool) -> OutputFormat:
    """JSON lines if asked for, else n-best lists for several hypotheses, plain lines for one."""
    if as_json:
        return JsonLines()
    return NBestLists() if options.num_hypotheses > 1 else PlainLines()
