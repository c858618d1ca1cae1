"""Sentence pairs for rare words: python tools/starter_rare_words.py FOLDER FORWARD REVERSE.

A model guesses the translation of a noun that it met a few times; the dictionary knows it. Lines of plain
text that have a noun of the dictionary are translated with the dictionary as glossary: English lines by
REVERSE, a run of the reverse direction, Portuguese ones by FORWARD. FOLDER is that of starter_data.py; a noun
that is in MAX_COUNT sources of training pairs or more is not rare. Writes into FOLDER

- rare-bt.tsv.gz: the English is plain text, the Portuguese a translation with the noun in it;
- rare-ft.tsv.gz: the Portuguese is plain text, the English a translation with the noun's translation in it.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from starter_data import WORD, read_rows, write_rows

from ptenmt import Translator
from ptenmt.translation.safeguards.glossary import Glossary

MAX_COUNT = 25
"""Occurrences in the training pairs from which on a noun counts as known."""
MAX_LINES = 12
"""Lines for each term."""
MAX_ENGLISH_COUNT = 1500
"""Lines of plain English from which on a word has too many other meanings to be translated by a rare noun."""
MAX_TRANSLATIONS = 3
MIN_WORDS, MAX_WORDS = 4, 14
"""Lines of fewer words are left out, lines of more words come last."""


def singular(word: str) -> str:
    """A word without the *s* of a plural, in both languages."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def words_of(line: str) -> dict[str, None]:
    """The distinct words of a line in the singular, in their order."""
    return dict.fromkeys(map(singular, WORD.findall(line.casefold())))


def count_words(lines: Iterable[str]) -> Counter[str]:
    """In how many lines each word is."""
    return Counter(word for line in lines for word in words_of(line))


def rare_nouns(folder: Path) -> list[tuple[str, str]]:
    """Portuguese nouns of one word that the training pairs seldom have, with each of their translations."""
    known = count_words(
        source for file in sorted((folder / "pt-en").glob("*.gz")) for source, _ in read_rows(file)
    )
    return [
        (noun, translation)
        for noun, translation, part_of_speech in read_rows(folder / "words.tsv.gz")
        if part_of_speech == "n"
        and len(noun) >= 3
        and noun.islower()
        and len(WORD.findall(noun)) == 1
        and len(translation.split()) <= 2
        and not translation.startswith(("a ", "an ", "to "))
        and known[singular(noun)] < MAX_COUNT
    ]


def lines_with_terms(lines: Iterable[str], terms: Iterable[str]) -> dict[str, list[str]]:
    """At most ``MAX_LINES`` random lines for each term that is in any."""
    by_first_word = defaultdict(list)
    for term in terms:
        by_first_word[singular(WORD.findall(term.casefold())[0])].append(term)
    chosen = defaultdict(list)
    shuffled = list(lines)
    random.Random(4).shuffle(shuffled)
    shuffled.sort(key=lambda line: len(line.split()) > MAX_WORDS)
    for line in shuffled:
        if len(line.split()) >= MIN_WORDS:
            for term in (term for word in words_of(line) for term in by_first_word.get(word, ())):
                if len(chosen[term]) < MAX_LINES:
                    chosen[term].append(line)
    return chosen


def translate(run: str, lines: Iterable[str], terms: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Lines with terms and their translations; the translations of a term take turns, line by line."""
    translations = defaultdict(list)
    for term, translation in terms:
        translations[term].append(translation)
    chosen = lines_with_terms(lines, translations)
    translator = Translator.load(run)
    pairs = []
    for turn in range(MAX_TRANSLATIONS):
        glossary = Glossary({term: each[turn % len(each)] for term, each in translations.items()})
        texts = sorted(
            {
                line
                for term, term_lines in chosen.items()
                for place, line in enumerate(term_lines)
                if place % min(len(translations[term]), MAX_TRANSLATIONS) == turn
            }
        )
        for text, result in zip(texts, translator.with_glossary(glossary).translate(texts), strict=True):
            wanted = [singular(translation.casefold()) for _, translation in glossary.find(text)]
            if wanted and all(translation in result.text.casefold() for translation in wanted):
                pairs.append((text, result.text))
    return pairs


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("forward", metavar="FORWARD")
    parser.add_argument("reverse", metavar="REVERSE")
    options = parser.parse_args()
    folder = options.folder
    plain = {
        language: [line for (line,) in read_rows(folder / f"mono.{language}.gz")] for language in ("pt", "en")
    }
    frequency = count_words(plain["en"])
    nouns = rare_nouns(folder)

    def frequency_of(english: str, place: int) -> int:
        return frequency[singular(english.casefold().split()[place])]

    unambiguous = [(english, noun) for noun, english in nouns if frequency_of(english, 0) < MAX_ENGLISH_COUNT]
    back = translate(options.reverse, plain["en"], unambiguous)
    write_rows(folder / "rare-bt.tsv.gz", [(portuguese, english) for english, portuguese in back])
    by_noun = defaultdict(list)
    for noun, english in nouns:
        by_noun[noun].append(english)
    most_specific = [
        (noun, english)
        for noun, translations in by_noun.items()
        for english in sorted(translations, key=lambda english: frequency_of(english, -1))[:2]
        if frequency_of(english, -1)
    ]
    forward = translate(options.forward, plain["pt"], most_specific)
    write_rows(folder / "rare-ft.tmp.gz", forward)
    (folder / "rare-ft.tmp.gz").replace(folder / "rare-ft.tsv.gz")


if __name__ == "__main__":
    main()
