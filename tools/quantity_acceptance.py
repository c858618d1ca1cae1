"""Sentences with fillers that the training does not have: python tools/quantity_acceptance.py NUMBER OUT.tsv.

A line has the Portuguese sentence, an English reference and what a right translation must have, found in the
reference with the patterns of tools/quantities/tables/details.tsv: alternatives are separated by ``|``,
details by `` ;; ``. Capital letters and the order of the details do not matter.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from quantities import Grammar, Writer, english_ordinal, in_english_words, read_table

NUM_SMALL_KINDS = 3
"""Kinds with fewer sentences than the others."""
_NUMBER_WORDS = {in_english_words(number): str(number) for number in range(100, 1, -1)}
_ORDINAL_WORDS = {in_english_words(number, column=3): number for number in range(99, 0, -1)}
_NUMBER_WORD = re.compile(rf"\b(?i:{'|'.join(_NUMBER_WORDS)})\b")
_ORDINAL_WORD = re.compile(rf"\b(?i:{'|'.join(_ORDINAL_WORDS)})\b")
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DETAILS = [
    (
        pattern.replace("<word>", _NUMBER_WORD.pattern)
        .replace("<ordinal>", _ORDINAL_WORD.pattern)
        .replace("<month>", f"(?:{_MONTH})")
        .replace("<number>", r"\d+(?:[.,:/-]\d+)*"),
        alternatives,
    )
    for pattern, (alternatives,) in read_table("details").items()
]
"""Regular expressions of English and what a translation must have instead of what they find."""


def details(english: str, kept: Iterable[str]) -> str:
    """What a right translation must have, of a reference and of names that stay as they are."""
    found: list[str] = []
    for name in sorted(set(kept), key=len, reverse=True):
        name = name if name in english else name.upper()
        if name in english:
            found.append(name)
            english = english.replace(name, "\n")
    for pattern, alternatives in _DETAILS:
        for match in re.finditer(pattern, english):
            found += [_variants(detail) for detail in match.expand(alternatives).split(" ;; ")]
        english = re.sub(pattern, "\n", english)
    return " ;; ".join(dict.fromkeys(found))


def _in_digits(ordinal: re.Match[str]) -> str:
    return english_ordinal(_ORDINAL_WORDS[ordinal[0].lower()])


def _variants(detail: str) -> str:
    """Alternatives with numbers in words and in digits, hours of twelve and of twenty-four."""
    variants: dict[str, None] = {}
    for text in detail.split("|"):
        text = re.sub(r"ord(\d+)", lambda match: english_ordinal(int(match[1])), text)
        variants[text] = None
        variants[_NUMBER_WORD.sub(lambda match: _NUMBER_WORDS[match[0].lower()], text)] = None
        variants[_ORDINAL_WORD.sub(_in_digits, text)] = None
        variants[re.sub(r"(?<=\d),(?=\d{3})", "", text)] = None
        if ordinal := re.fullmatch(r"(\d\d?)(?:st|nd|rd|th)", text):
            variants[in_english_words(int(ordinal[1]), column=3)] = None
        if (clock := re.fullmatch(r"(\d\d):(\d\d)", text)) and int(clock[1]) > 12:
            hour = f"{int(clock[1]) - 12}" + f":{clock[2]}" * (clock[2] != "00")
            variants |= dict.fromkeys(
                (f"{hour} p.m.", f"{hour} pm", f"{hour}pm", f"{hour} in the", f"{hour} at")
            )
    return "|".join(variants)


def main() -> None:
    """Write sentences, each with a detail at least."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("number", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    grammar = Grammar()
    writer = Writer(grammar, options.seed, held_out=True)
    most = 1 + options.number // (len(grammar.kinds) - NUM_SMALL_KINDS)
    counts: Counter[str] = Counter()
    lines: list[str] = []
    for kind, portuguese, english in writer.pairs():
        found = details(english, writer.kept)
        if found and counts[kind] < most:
            counts[kind] += 1
            lines.append(f"{portuguese}\t{english}\t{found}\n")
        if len(lines) == options.number:
            break
    options.out.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
