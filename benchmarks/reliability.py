"""Reliability: what must hold of every run's translations, tried on its own test sentences.

    python benchmarks/reliability.py [--run RUN] [--source FILE --reference FILE]

At most 300 sentences, always with the same cases: kept parts, glossary terms, tags, loops, capitals, texts
without words; and for Portuguese to English, minimal pairs, which differ by an accent or a short word as
their translations must (minimal_pairs.tsv). Prints each check with its threshold, and with --examples
sentences that fail it. What the model itself has to know, such as numbers and dates, acceptance.py scores.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from random import Random
from xml.etree import ElementTree

from ptenmt.data.augmentation import capitalized
from ptenmt.data.kept_parts import find_kept_parts
from ptenmt.data.readers import SentencePair
from ptenmt.evaluation import EvaluationFiles, LoadOptions
from ptenmt.evaluation.error_analysis import max_repeats
from ptenmt.evaluation.evaluation import read_test_set
from ptenmt.evaluation.systems import System
from ptenmt.runs import find_run
from ptenmt.scores import MetricName, Scorer
from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation import Translator
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.markup import Elements, Fragment, move_markup, num_shared, text_of
from ptenmt.translation.single_sentence import align

FOLDER = Path(__file__).parent
LANGUAGES = ("pt", "en")
_NUM_SENTENCES = 300
_MIN_REPEATS = 3
"""How often in a row a phrase occurs in a loop."""
_NUM_TERMS = 50
_MIN_TERM = 6
_NUM_PROVOKED = 50
_SIGNS = ("https://example.org/a?b=1", "ana@example.org", "{name}", "%1$s", "#TAG#", "@user", "😀")
_CODES = ("H2O", "COVID-19", "3f2a9bc1", "123.456.789-09", "192.168.0.1", "4821937", "00-AA-00", "2.0.17")
_WITHOUT_WORDS = (
    *(*_SIGNS, "4821", "12/03/2024", "10:30", "314", "+351 21 000", "= 5 × 7", "100 %", "[12]", "* * *"),
    *("…", "?!", "—", "😀🎉", "你好", "Привет", "مرحبا", " \t"),
)
_Case = tuple[str, str, bool]
"""A source, its translation, and whether that is as it should be."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What was tried, how much of it held, and the least value that is wanted."""

    name: str
    num_cases: int
    value: float
    threshold: float
    num_passed: int | None = None
    """Cases that are as they should be; None if ``value`` is a difference of scores."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Sources and translations that are not as they should be."""

    def row(self) -> str:
        """The check as a line of a table in Markdown."""
        form = "+.2f" if self.num_passed is None else ".1%"
        passed = "" if self.num_passed is None else f"{self.num_passed:,} of {self.num_cases:,}, "
        verdict = "ok" if self.value >= self.threshold else "fails"
        return f"| {self.name} | {self.threshold:{form}} | {passed}{self.value:{form}} | {verdict} |"


def _rows(name: str) -> list[list[str]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


def is_correct(translation: str, *expected: str, excluded: str) -> bool:
    """Whether a translation has one of the expected words of each list, and none of the excluded ones."""
    text = translation.casefold().replace("’", "'")
    return all(_has_any(text, words) for words in expected if words) and not _has_any(text, excluded)


def _has_any(text: str, words: str) -> bool:
    """Whether one of the words, which | separates, occurs as a whole; *can* does not occur in *can't*."""
    return bool(words) and re.search(rf"(?<![\w'])(?:{words})(?![\w'])", text) is not None


class _Cases:
    """The cases made of pairs; those are used whose source is a single sentence of words."""

    def __init__(self, translator: Translator, pairs: Sequence[SentencePair]) -> None:
        self._translator, self._random = translator, Random(0)
        decoding, encoder = translator.config.decoding, translator.encoder
        segmented = encoder.encode(encoder.split([source for source, _ in pairs], decoding), decoding)
        used = [
            pair
            for pair, text in zip(pairs, segmented, strict=True)
            if len(text.sentences) == 1 and len(pair[0].split()) > 1 and not find_kept_parts(pair[0])
        ]
        self._sources = [source for source, _ in used]
        self._references = [[reference for _, reference in used]]
        self._alone = self._translate(self._sources)
        self._words = sorted({word for source in self._sources for word in source.split() if word.isalpha()})

    def checks(self) -> Iterator[Check]:
        if self._sources:
            yield _share("sentences of a text, as alone", 0.99, self._texts())
            cases, rest = self._kept_parts(_SIGNS, self._random)
            yield _share("kept parts, exactly once", 0.995, cases)
            yield self._score("kept parts: BLEU of the rest", "BLEU", rest, -0.3)
            yield _share("codes side by side, exactly once", 0.99, self._kept_parts(_CODES, Random(0))[0])
            yield from self._glossary()
            yield from self._markup()
            yield _share("no loops", 0.99, self._loops())
            for name, change in (("capitals", str.upper), ("Title Case", capitalized)):
                yield self._score(f"{name}: chrF", "chrF", self._translate(map(change, self._sources)), -2)
        if self._translator.config.data.languages == LANGUAGES:
            yield _share("minimal pairs", 0.0, self._minimal_pairs())
        translations = self._translate(_WITHOUT_WORDS)
        unchanged = (
            (text, translation, text == translation)
            for text, translation in zip(_WITHOUT_WORDS, translations, strict=True)
        )
        yield _share("texts without words, unchanged", 1.0, unchanged)

    def _translate(self, texts: Iterable[str], glossary: Glossary | None = None) -> list[str]:
        return [each.text for each in self._translator.translate(texts, glossary=glossary)]

    def _score(self, name: str, metric: MetricName, translations: Sequence[str], threshold: float) -> Check:
        """The difference of a score from that of the sentences as they are; chrF is lower-cased."""
        scorer = Scorer("lowercased" if metric == "chrF" else "detokenized", self._references, (metric,))
        value = scorer.values(translations)[metric] - scorer.values(self._alone)[metric]
        return Check(name=name, num_cases=len(translations), value=value, threshold=threshold)

    def _markup(self) -> Iterator[Check]:
        """One to three tags in each sentence."""
        chance = Random(0)
        spans = [random_markup(source, chance) for source in self._sources]
        translations = self._translator.translate(self._sources)
        kept: list[_Case] = []
        aligned: list[_Case] = []
        moved = move_markup(self._translator, translations, spans)
        for translation, of_source, (of_target, *_) in zip(translations, spans, moved, strict=True):
            shown = tagged(of_source), tagged(of_target)
            wanted, nested = map(_nesting, shown)
            kept += [
                (*shown, nested.count(tag) == 1 and text_of(of_target) == translation.text) for tag in wanted
            ]
            inside, inside_target = _elements(of_source), _elements(of_target)
            alignment = align(self._translator, translation.source).of_words()
            columns, rows = _words(translation.source), _words(alignment.translation)
            for (begin, end), weights in zip(rows, alignment.weights, strict=True):
                column = columns[max(range(len(columns)), key=weights.__getitem__)]
                if alignment.translation == translation.text and any(
                    map(str.isalnum, translation.text[begin:end])
                ):
                    elements = {element for path in inside[slice(*column)] for element in path}
                    aligned += [(*shown, element in inside_target[begin]) for element in elements]
        yield _share("tags, kept and nested", 1.0, kept)
        yield _share("tags, around aligned words", 0.95, aligned)

    def _texts(self) -> Iterator[_Case]:
        """Two to five sentences in a text, those that begin and end like one."""
        marks = (".", "!", "?")
        rows = [row for row, text in enumerate(self._sources) if text[0].isupper() and text.endswith(marks)]
        groups = []
        while len(rows) > 1:
            size = self._random.randint(2, 5)
            groups.append(rows[:size])
            rows = rows[size:]
        texts = [" ".join(self._sources[row] for row in group) for group in groups]
        for text, translation, group in zip(texts, self._translate(texts), groups, strict=True):
            yield text, translation, translation == " ".join(self._alone[row] for row in group)

    def _kept_parts(self, parts: Sequence[str], chance: Random) -> tuple[list[_Case], list[str]]:
        """One to three in each sentence, between its words, codes side by side; and what is left."""
        texts, added, rest = [], [], []
        for source in self._sources:
            words, chosen = source.split(), chance.sample(parts, chance.randint(1, 3))
            place = chance.randint(1, len(words) - 1) if parts is _CODES else None
            for part in chosen:
                words.insert(place or chance.randint(1, len(words) - 1), part)
            texts.append(" ".join(words))
            added.append(chosen)
        cases: list[_Case] = []
        for text, translation, chosen, alone in zip(
            texts, self._translate(texts), added, self._alone, strict=True
        ):
            is_clean = _num_digits(translation) == _num_digits(alone) + sum(map(_num_digits, chosen))
            cases += [(text, translation, is_clean and translation.count(part) == 1) for part in chosen]
            for part in chosen:
                translation = translation.replace(part, "", 1)
            rest.append(" ".join(translation.split()))
        return cases, rest

    def _glossary(self) -> Iterator[Check]:
        """Terms that stand in a sentence, and terms that only begin one of its words."""
        words = [word for word in self._words if len(word) > _MIN_TERM]
        chosen = self._random.sample(words, min(_NUM_TERMS, len(words)))
        terms = {word: f"Term{number}x" for number, word in enumerate(chosen)}
        parts = {word[:-3]: f"Zpart{number}" for number, word in enumerate(chosen)}
        known = {word.casefold() for word in self._words}
        parts = {part: term for part, term in parts.items() if part.casefold() not in known}
        glossary = Glossary(parts | terms)
        wanted = [[term for _, term in glossary.find(source)] for source in self._sources]
        texts = [source for source, translation in zip(self._sources, wanted, strict=True) if translation]
        translations = self._translate(texts, glossary)
        cases = list(zip(texts, translations, filter(None, wanted), strict=True))
        applied = (
            (text, translation, translation.count(term) == of_text.count(term))
            for text, translation, of_text in cases
            for term in of_text
        )
        yield _share("terms of a glossary, applied", 0.98, applied)
        whole = ((text, translation, "Zpart" not in translation) for text, translation, _ in cases)
        yield _share("no terms inside words", 1.0, whole)

    def _minimal_pairs(self) -> Iterator[_Case]:
        """Pairs of sentences, right if both translations have their own words and none of the other's."""
        for _, both, one, one_expected, other, other_expected in _rows("minimal_pairs.tsv"):
            translations = self._translate([one, other])
            kept = is_correct(translations[0], both, one_expected, excluded=other_expected)
            kept &= is_correct(translations[1], both, other_expected, excluded=one_expected)
            yield f"{one} {other}", " ".join(translations), kept

    def _loops(self) -> Iterator[_Case]:
        """What provokes loops: single words, known and made up, in brackets; capitals; lists of numbers."""
        words = self._random.sample(self._words, min(_NUM_PROVOKED, len(self._words)))
        made_up = ("".join(self._random.sample(word, len(word))) for word in words)
        texts = ["(Palmas)", *words, *(f"({word.capitalize()})" for word in words), *made_up]
        texts += [source.upper() for source in self._sources[:_NUM_PROVOKED]]
        for word in words:
            numbers = (str(self._random.randint(1, 999)) for _ in range(self._random.randint(5, 20)))
            texts.append(f"{word.capitalize()}: {', '.join(numbers)}.")
        for text, translation in zip(texts, self._translate(texts), strict=True):
            yield text, translation, max_repeats(translation) < max(_MIN_REPEATS, max_repeats(text) + 1)


def _num_digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _share(name: str, threshold: float, cases: Iterable[_Case]) -> Check:
    cases = list(cases)
    wrong = [(source, translation) for source, translation, is_kept in cases if not is_kept]
    num_passed = len(cases) - len(wrong)
    return Check(
        name=name,
        num_cases=len(cases),
        num_passed=num_passed,
        value=num_passed / max(len(cases), 1),
        threshold=threshold,
        failed=wrong,
    )


def random_markup(sentence: str, chance: Random, most_tags: int = 3, most_words: int = 4) -> list[Fragment]:
    """Put at least one element around whole words; elements do not cross and are not the same."""
    words = _words(sentence)
    chosen: set[tuple[int, int]] = set()
    for _ in range(chance.randint(1, most_tags)):
        first = chance.randrange(len(words))
        last = min(first + chance.randrange(most_words), len(words) - 1)
        begin, end = words[first][0], words[last][1]
        crosses = any(begin < start < end < stop or start < begin < stop < end for start, stop in chosen)
        if not crosses and any(map(str.isalnum, sentence[begin:end])):
            chosen.add((begin, end))
    ranges = sorted(chosen, key=lambda span: (span[0], -span[1]))
    paths = [
        tuple(number for number, (begin, end) in enumerate(ranges) if begin <= at < end)
        for at in range(len(sentence))
    ]
    grouped = groupby(zip(sentence, paths, strict=True), itemgetter(1))
    return [("".join(char for char, _ in group), path) for path, group in grouped]


def tagged(spans: Sequence[Fragment]) -> str:
    """A text as XML, with ``a`` for element 0, ``b`` for 1, and so on, in ``t``."""
    written, opened = "", Elements()
    for text, path in [*spans, ("", ())]:
        same = num_shared(opened, path)
        written += "".join(f"</{_tag(element)}>" for element in reversed(opened[same:]))
        written += "".join(f"<{_tag(element)}>" for element in path[same:]) + escape(text)
        opened = path
    return f"<t>{written}</t>"


def _tag(element: int) -> str:
    return chr(ord("a") + element)


def _nesting(xml: str) -> list[tuple[str, str]]:
    """Each element with the one around it."""
    return [(child.tag, parent.tag) for parent in ElementTree.fromstring(xml).iter() for child in parent]


def _elements(spans: Sequence[Fragment]) -> list[Elements]:
    return [path for text, path in spans for _ in text]


def _words(text: str) -> list[tuple[int, int]]:
    return [word.span() for word in word_pattern().finditer(text)]


def main() -> None:
    """Print the checks of a run, and on demand what fails them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", help="a run; by default the one trained last")
    parser.add_argument("--source", type=Path, help="sentences instead of the run's own test pairs")
    parser.add_argument("--reference", type=Path, help="their translations")
    parser.add_argument("--set", action="append", default=[], help="decoding options")
    parser.add_argument("--examples", type=int, default=0, help="sentences to show for each check")
    given = parser.parse_args()
    files = EvaluationFiles(source=given.source, references=[given.reference] if given.reference else ())
    run, load = find_run(given.run, "translation"), LoadOptions(overrides=given.set)
    _, _, test_set = read_test_set(run, "test", files, load)
    rows = range(0, len(test_set), -(-len(test_set) // _NUM_SENTENCES))
    pairs = [((test_set.sources or [])[row], test_set.references_of(row)[0]) for row in rows]
    print("| check | wanted | held | |\n| --- | ---: | ---: | --- |")
    for check in _Cases(System.load(run, load).translator, pairs).checks():
        if check.num_cases:
            print(check.row(), flush=True)
            for source, translation in check.failed[: given.examples]:
                print(f"    {source} → {translation}")


if __name__ == "__main__":
    main()
