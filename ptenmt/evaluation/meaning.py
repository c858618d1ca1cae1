"""Portuguese sentences with quantities, marks or code, and what has to stand in their translations."""

import re
from functools import cache
from importlib import resources
from typing import NamedTuple

_QUOTES = '"“”«»‹›'


class MeaningCase(NamedTuple):
    """A sentence, and what has to stand in its translation."""

    source: str
    expected: list[list[str]]
    """Of each list one form, as whole words; ``…`` is any text without quotation marks."""

    def is_kept(self, translation: str) -> bool:
        """Whether a translation has what is expected, and as many quotation marks as the sentence."""
        if _num_quotes(translation) != _num_quotes(self.source):
            return False
        return all(any(_pattern(form).search(translation) for form in forms) for forms in self.expected)


@cache
def meaning_cases() -> dict[str, list[MeaningCase]]:
    """The shipped sentences by the name of their check."""
    text = resources.files(__package__).joinpath("meaning.tsv").read_text(encoding="utf-8")
    cases: dict[str, list[MeaningCase]] = {}
    for line in text.splitlines()[1:]:
        name, source, *expected = line.split("\t")
        cases.setdefault(name, []).append(MeaningCase(source, [forms.split("|") for forms in expected]))
    return cases


def _num_quotes(text: str) -> int:
    return sum(map(text.count, _QUOTES))


def _pattern(form: str) -> re.Pattern[str]:
    literal = re.escape(form).replace("…", f"[^{_QUOTES}]+")
    begin = r"(?<!\w)" if form[0].isalnum() else ""
    end = r"(?!\w)" if form[-1].isalnum() else ""
    return re.compile(f"{begin}{literal}{end}")
