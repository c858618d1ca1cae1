"""Plain text (.txt): each line with a letter in it is a text."""

import re
from collections.abc import Sequence

from ptenmt.server.documents.texts import is_prose, limited

_LINE = re.compile(r"[^\r\n]+")


class PlainText:
    """Plain text whose line ends and blank lines stay.

    Args:
        source: The file's text.

    Raises:
        Refusal: It has too many lines.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._spans = limited(line.span() for line in _LINE.finditer(source) if is_prose(line[0]))

    @property
    def texts(self) -> list[str]:
        """The lines to translate."""
        return [self._source[begin:end] for begin, end in self._spans]

    def with_texts(self, translations: Sequence[str]) -> str:
        """The file with other texts, one for each of ``texts``."""
        parts, behind = [], 0
        for (begin, end), translation in zip(self._spans, translations, strict=True):
            parts += [self._source[behind:begin], translation]
            behind = end
        return "".join([*parts, self._source[behind:]])
