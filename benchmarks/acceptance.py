"""Scores translations of the acceptance sets: python benchmarks/acceptance.py TSV TRANSLATIONS [--show].

A line of a set has a Portuguese sentence, an English reference, the details that a right translation must
have (alternatives separated by ``|``, details by `` ;; ``), and perhaps a kind. acceptance_templates.tsv was
written by somebody who had not seen tools/quantities/; acceptance_fillers.tsv has names and numbers that it
holds out.
"""

import argparse
import re
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

CASED_KINDS = {"names", "capitals"}
QUOTES = str.maketrans({**dict.fromkeys("“”„‟«»″", '"'), **dict.fromkeys("‘’‚‛‹›′", "'")})


class Line(NamedTuple):
    """One line of the set; every detail is the list of its accepted alternatives."""

    source: str
    details: list[list[str]]
    kind: str


def normalise(text: str) -> str:
    """Make quotation marks straight and every run of white space one space."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text).translate(QUOTES)).strip()


def read_lines(path: Path) -> list[str]:
    """Read a UTF-8 file as lines, without the end of the last one."""
    return path.read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")


def parse(row: str) -> Line:
    """Split a line of the TSV into source, details and kind."""
    source, _, details, *kinds = row.split("\t")
    kind = kinds[0] if kinds else ""
    return Line(source, [detail.split("|") for detail in details.split(" ;; ")], kind)


def found(alternative: str, text: str, kind: str) -> bool:
    """Tell whether the alternative stands in the normalised text as whole words."""
    wanted = normalise(alternative)
    cased = kind in CASED_KINDS or (kind != "" and any(char.isupper() for char in wanted[1:]))
    before, after = (r"(?<![^\W_])", r"(?![^\W_]|[.,]\d)")
    pattern = rf"{before * wanted[0].isalnum()}{re.escape(wanted)}{after * wanted[-1].isalnum()}"
    return re.search(pattern, text, 0 if cased else re.IGNORECASE) is not None


def missing(line: Line, translation: str) -> list[list[str]]:
    """List the details of the line that the translation lacks."""
    text = normalise(translation)
    return [alts for alts in line.details if not any(found(alt, text, line.kind) for alt in alts)]


def main() -> None:
    """Print the shares of right details and of right sentences, overall and per kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tsv", type=Path)
    parser.add_argument("translations", type=Path, help="one translation per line")
    parser.add_argument("--show", action="store_true", help="list what is wrong")
    args = parser.parse_args()
    lines = [parse(row) for row in read_lines(args.tsv)]
    translations = read_lines(args.translations)
    if len(lines) != len(translations):
        parser.error(f"{len(lines)} lines in the set, {len(translations)} translations")
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for number, (line, translation) in enumerate(zip(lines, translations, strict=True), 1):
        wrong, total = missing(line, translation), len(line.details)
        for kind in ("all", line.kind):
            added = (total - len(wrong), total, not wrong, 1)
            counts[kind] = [old + new for old, new in zip(counts[kind], added, strict=True)]
        if args.show and wrong:
            lacks = " ;; ".join("|".join(alts) for alts in wrong)
            print(f"{number} {line.kind}: {line.source}\n  got: {translation}\n  lacks: {lacks}")
    for kind, (details, all_details, sentences, all_sentences) in counts.items():
        print(
            f"{kind:14}details {details / all_details:6.1%} ({details}/{all_details})"
            f"  sentences {sentences / all_sentences:6.1%} ({sentences}/{all_sentences})"
        )


if __name__ == "__main__":
    main()
