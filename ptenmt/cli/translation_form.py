"""How translations are written down: a line a text, a line each of several, or JSON."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptenmt.atomic_files import json_text

if TYPE_CHECKING:
    from ptenmt.translation import Alternative, Translation


@dataclass(frozen=True, kw_only=True)
class TranslationForm:
    """How translations are written down."""

    raw: bool = False
    """Keep the spacing of the training corpus."""
    as_json: bool = False
    """A JSON object a text."""
    num_rows: int = 0
    """Above 0: so many lines a text with rank, score and translation, and tabs between them. Where there are
    fewer translations, the last lines have neither score nor translation."""

    @property
    def has_scores(self) -> bool:
        """Whether scores are written down."""
        return self.as_json or self.num_rows > 0

    def written(self, translations: Iterable["Translation"]) -> str:
        """The lines of some translations, each with its end."""
        return "".join(map(self._written, translations))

    def _written(self, translation: "Translation") -> str:
        if self.as_json:
            return json_text(_facts(translation)) + "\n"
        if self.num_rows:
            return self._rows([translation, *translation.alternatives])
        return f"{self._text(translation)}\n"

    def _rows(self, ranked: list["Alternative"]) -> str:
        rows = [f"{each.score:.4f}\t{' '.join(self._text(each).split())}" for each in ranked]
        rows += ["\t"] * (self.num_rows - len(rows))
        return "".join(f"{rank}\t{row}\n" for rank, row in enumerate(rows[: self.num_rows], start=1))

    def _text(self, translation: "Alternative") -> str:
        return translation.raw if self.raw else translation.text


def _facts(translation: "Translation") -> dict[str, Any]:
    """A translation as ``--json`` shows it."""
    return {
        "source": translation.source,
        **_ranked_facts(translation),
        "alternatives": [
            {**_ranked_facts(each), "is_complete": each.is_complete} for each in translation.alternatives
        ],
        "milliseconds": round(translation.milliseconds, 3),
        "is_complete": translation.is_complete,
        "is_split": translation.is_split,
        "unknown": translation.unknown,
    }


def _ranked_facts(translation: "Alternative") -> dict[str, Any]:
    return {
        "translation": translation.text,
        "raw": translation.raw,
        "score": translation.score,
        "tokens": translation.tokens,
    }
