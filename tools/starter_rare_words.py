"""Sentence pairs for rare words: python tools/starter_rare_words.py FOLDER (--forward | --reverse) RUN.

A model guesses the translation of a word that it met a few times; the dictionary knows it. Lines of plain
text that have a noun, an adjective, an adverb or a number of the dictionary are translated with the
dictionary as glossary. FOLDER is that of starter_data.py; a word that is in MAX_COUNT sources of training
pairs or more is not rare. Writes into FOLDER

- with --forward, rare-ft.tsv.gz: the Portuguese is plain text, the English a translation with the word's
  translation in it;
- with --reverse and a run of the reverse direction, rare-bt.tsv.gz: the English is plain text, the Portuguese
  a translation with the word in it.

A word without an article in the translation, where its own sentence has one, is left out.
"""

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from starter_data import WORD, read_rows, write_rows

from ptenmt import Translator
from ptenmt.translation.glossary import Glossary

PARTS_OF_SPEECH = {"n", "adj", "adv", "num"}
MAX_COUNT = 400
"""Occurrences in the training pairs from which on a word counts as known."""
MAX_LINES = 12
"""Lines for each term."""
MAX_ENGLISH_COUNT = 1500
"""Lines of plain English from which on a word has too many other meanings to be translated by a rare one."""
MAX_TRANSLATIONS = 3
DETERMINER = re.compile(
    r"\b(?:a|an|the|my|your|his|her|its|our|their|this|that|these|those|some|any|no|each|every"
    r"|[oa]s?|uma?|[dnp]el[oa]s?|[dn][oa]s?|num|numa|ao|aos|à|às|meu|minha|seu|sua|ess[ea]|est[ea])\b",
    re.IGNORECASE,
)
"""Articles and their like, of both languages."""
MIN_WORDS, MAX_WORDS = 4, 14
"""Lines of fewer words are left out, lines of more words come last."""


def singular(word: str) -> str:
    """A word without the *s* of a plural, in both languages."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def plural(noun: str) -> str:
    """The plural of a noun of either language, as most have it."""
    if noun.endswith("ão"):
        return noun.removesuffix("ão") + "ões"
    if noun.endswith("man"):
        return noun.removesuffix("man") + "men"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun.removesuffix("y") + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def words_of(line: str) -> dict[str, None]:
    """The distinct words of a line in the singular, in their order."""
    return dict.fromkeys(map(singular, WORD.findall(line.casefold())))


def count_words(lines: Iterable[str]) -> Counter[str]:
    """In how many lines each word is."""
    return Counter(word for line in lines for word in words_of(line))


def rare_words(folder: Path) -> list[tuple[str, str, str]]:
    """Portuguese words that the training pairs seldom have, with a translation and the part of speech.

    One row for each translation, and others for the feminine of an adjective.
    """
    known = count_words(
        source for file in sorted((folder / "pt-en").glob("*.gz")) for source, _ in read_rows(file)
    )
    rows = []
    for lemma, translation, part_of_speech in read_rows(folder / "words.tsv.gz"):
        if (
            part_of_speech in PARTS_OF_SPEECH
            and len(lemma) >= 3
            and lemma.islower()
            and len(WORD.findall(lemma)) == 1
            and len(translation.split()) <= 2
            and not translation.startswith(("a ", "an ", "to "))
        ):
            forms = [lemma]
            if part_of_speech == "adj" and lemma.endswith("o"):
                forms.append(lemma.removesuffix("o") + "a")
            rows += [
                (form, translation, part_of_speech) for form in forms if known[singular(form)] < MAX_COUNT
            ]
    return rows


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


def is_well_placed(text: str, place: tuple[int, int], translation: str, translated: str) -> bool:
    """Whether a translated text has the translation of a term, with an article where the term has one."""
    begin = translated.casefold().find(translation.casefold())
    has_article = any(map(DETERMINER.fullmatch, text[: place[0]].split()[-1:]))
    is_kept = any(map(DETERMINER.fullmatch, translated[: max(begin, 0)].split()[-2:]))
    return begin >= 0 and (is_kept or not has_article)


def translate(run: str, lines: Iterable[str], terms: Iterable[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Lines with terms that the run by itself translates otherwise, with translations that have them.

    The translations of a term take turns, line by line.
    """
    translations = defaultdict(list)
    nouns = set()
    for term, translation, part_of_speech in terms:
        translations[term].append(translation)
        if part_of_speech == "n":
            nouns.add((term, translation))
    chosen = lines_with_terms(lines, translations)
    translator = Translator.load(run)
    texts = sorted({line for term_lines in chosen.values() for line in term_lines})
    by_itself = {
        text: words_of(result.text) for text, result in zip(texts, translator.translate(texts), strict=True)
    }
    texts_of_turns: list[set[str]] = [set() for _ in range(MAX_TRANSLATIONS)]
    for term, term_lines in chosen.items():
        expected = [words_of(translation) for translation in translations[term]]
        for place, line in enumerate(term_lines):
            if not any(words.keys() <= by_itself[line].keys() for words in expected):
                texts_of_turns[place % min(len(expected), MAX_TRANSLATIONS)].add(line)
    pairs = []
    for turn, turn_texts in enumerate(texts_of_turns):
        of_turn = {term: each[turn % len(each)] for term, each in translations.items()}
        plurals = {
            plural(term): plural(translation) if (term, translation) in nouns else translation
            for term, translation in of_turn.items()
        }
        glossary = Glossary(plurals | of_turn)  # what is first is found first
        in_order = sorted(turn_texts)
        results = translator.translate(in_order, glossary=glossary)
        for text, result in zip(in_order, results, strict=True):
            found = list(glossary.find(text))
            if found and all(is_well_placed(text, *term, result.text) for term in found):
                pairs.append((text, result.text))
    return pairs


def main() -> None:
    """Write one of the files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    direction = parser.add_mutually_exclusive_group(required=True)
    direction.add_argument("--forward", metavar="RUN")
    direction.add_argument("--reverse", metavar="RUN")
    options = parser.parse_args()
    folder = options.folder
    english_lines = [line for (line,) in read_rows(folder / "mono.en.gz")]
    frequency = count_words(english_lines)

    def frequency_of(english: str, place: int) -> int:
        return frequency[singular(english.casefold().split()[place])]

    if options.reverse:
        unambiguous = [
            (english, word, part_of_speech)
            for word, english, part_of_speech in rare_words(folder)
            if frequency_of(english, 0) < MAX_ENGLISH_COUNT
        ]
        back = translate(options.reverse, english_lines, unambiguous)
        write_rows(folder / "rare-bt.tsv.gz", [(portuguese, english) for english, portuguese in back])
    else:
        by_word = defaultdict(list)
        for word, english, part_of_speech in rare_words(folder):
            by_word[word].append((english, part_of_speech))

        def usual_first(translation: tuple[str, str]) -> tuple[bool, int]:
            frequency = frequency_of(translation[0], -1)
            return frequency >= MAX_ENGLISH_COUNT, -frequency

        usual = [
            (word, english, part_of_speech)
            for word, translations in by_word.items()
            for english, part_of_speech in sorted(translations, key=usual_first)[:2]
            if frequency_of(english, -1)
        ]
        portuguese_lines = [line for (line,) in read_rows(folder / "mono.pt.gz")]
        write_rows(folder / "rare-ft.tsv.gz", translate(options.forward, portuguese_lines, usual))


if __name__ == "__main__":
    main()
