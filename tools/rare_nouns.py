"""How many of 200 rare everyday nouns a run translates: python tools/rare_nouns.py [RUN].

tests/rare_nouns.tsv has a sentence, its translation, a noun of it, and the noun's acceptable translations,
separated by |. A noun is right if the translation of the sentence has one of them as words of their own, in
the singular or the plural. The starter was trained without these sentences; the others are printed.
"""

import argparse
import re
from pathlib import Path

import ptenmt

SENTENCES = Path(__file__).parents[1] / "tests" / "rare_nouns.tsv"
PLURAL = "(?:s|es|'s)?"


def has_word(text: str, accepted: str) -> bool:
    """Whether a text has one of the words, which | separates."""
    words = "|".join(re.escape(word) for word in accepted.split("|"))
    return re.search(rf"\b(?:{words}){PLURAL}\b", text, re.IGNORECASE) is not None


def main() -> None:
    """Translate the sentences and print the wrong nouns and the share of right ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", nargs="?", default="starter", metavar="RUN")
    translator = ptenmt.Translator.load(parser.parse_args().run)
    rows = [line.split("\t") for line in SENTENCES.read_text(encoding="utf-8").splitlines()]
    translations = translator.translate([sentence for sentence, *_ in rows])
    num_right = 0
    for (sentence, _, noun, accepted), translation in zip(rows, translations, strict=True):
        if has_word(translation.text, accepted):
            num_right += 1
        else:
            print(noun, sentence, translation.text, sep="\t")
    print(f"{num_right} of {len(rows)} nouns are right ({num_right / len(rows):.1%})")


if __name__ == "__main__":
    main()
