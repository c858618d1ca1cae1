"""Reliability checks: what must hold of every run's translations, tried on its own test sentences.

The same sentences always give the same cases.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from ptenmt.data.placeholders import find_entities
from ptenmt.data.readers import SentencePair
from ptenmt.evaluation.error_analysis import max_repeats
from ptenmt.evaluation.markup_check import check_markup
from ptenmt.evaluation.reliability import Reliability
from ptenmt.evaluation.scores import MetricName, Scorer
from ptenmt.evaluation.test_set import TestSet
from ptenmt.events import OnProgress
from ptenmt.translation import Translator
from ptenmt.translation.glossary import Glossary

_NUM_SENTENCES = 300
_NUM_EXAMPLES = 3
_MIN_REPEATS = 3
"""How often in a row a phrase occurs in a loop."""
_NUM_TERMS, _MIN_TERM = 50, 6
_NUM_PROVOKED = 50
_ENTITIES = ("https://example.org/a?b=1", "ana@example.org", "4821", "{name}", "%1$s", "#TAG#", "@user", "😀")
_WITHOUT_WORDS = (
    *(*_ENTITIES, "12/03/2024", "10:30", "3,14", "+351 21 000", "= 5 × 7", "100 %", "[12]", "* * *"),
    *("…", "?!", "—", "😀🎉", "你好", "Привет", "مرحبا", " \t"),
)
_Case = tuple[str, str, bool]
"""A source, its translation, and whether that is as it should be."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What was tried, how much of it held, and the bar."""

    name: str
    num_cases: int
    num_kept: int | None = None
    """Cases that are as they should be; None if ``value`` is not their share."""
    value: float
    """A share; else a difference of scores, or an error."""
    bar: float
    """The least value; of an error the most."""
    is_error: bool = False
    examples: list[tuple[str, str]] = field(default_factory=list)
    """Sources and translations that are not as they should be, at most three."""

    @property
    def is_passed(self) -> bool:
        """Whether the bar is met."""
        return self.value <= self.bar if self.is_error else self.value >= self.bar


def run_checks(
    translator: Translator, test_set: TestSet, reliability: Reliability | None, on_progress: OnProgress
) -> list[Check]:
    """Run the checks that have cases, on at most 300 sentences of a test set, whose sources must be known.

    Args:
        translator: The run.
        test_set: Of several references the first counts.
        reliability: Of the confidences, for their check.
        on_progress: Called after every check.
    """
    rows = range(0, len(test_set), -(-len(test_set) // _NUM_SENTENCES))
    pairs = [((test_set.sources or [])[row], test_set.references_of(row)[0]) for row in rows]
    checks: list[Check] = []
    for check in filter(lambda each: each.num_cases, _Cases(translator, pairs).checks()):
        checks.append(check)
        on_progress(f"checking {check.name}", len(checks), len(checks) + 1)
    if reliability is not None:
        error, count = reliability.calibration_error, reliability.num_sentences
        checks.append(Check(name="ECE of confidences", num_cases=count, value=error, bar=0.05, is_error=True))
    return checks


class _Cases:
    """The cases made of pairs; those are used whose source is a single sentence of words."""

    def __init__(self, translator: Translator, pairs: Sequence[SentencePair]) -> None:
        self._translator, self._random = translator, Random(0)
        segmented = translator.encoder.segment([source for source, _ in pairs])
        used = [
            pair
            for pair, text in zip(pairs, segmented, strict=True)
            if len(text.segments) == 1 and len(pair[0].split()) > 1 and not find_entities(pair[0])
        ]
        self._sources = [source for source, _ in used]
        self._references = [[reference for _, reference in used]]
        self._alone = self._translate(self._sources)
        self._words = sorted({word for source in self._sources for word in source.split() if word.isalpha()})

    def checks(self) -> Iterator[Check]:
        """All checks."""
        if self._sources:
            yield _share("sentences of a text, as alone", 0.99, self._texts())
            yield from self._entities()
            yield from self._glossary()
            yield from self._markup()
            yield _share("no loops", 0.99, self._loops())
            yield self._score(
                "capitals: chrF", "chrF", self._translate([each.upper() for each in self._sources]), -2
            )
        found = self._translate(_WITHOUT_WORDS)
        unchanged = ((text, each, text == each) for text, each in zip(_WITHOUT_WORDS, found, strict=True))
        yield _share("texts without words, unchanged", 1.0, unchanged)

    def _translate(self, texts: Sequence[str], translator: Translator | None = None) -> list[str]:
        return [found.text for found in (translator or self._translator).translate(texts)]

    def _score(self, name: str, metric: MetricName, translations: Sequence[str], bar: float) -> Check:
        """The difference of a score from that of the sentences as they are; chrF is lower-cased."""
        scorer = Scorer("lowercased" if metric == "chrF" else "detokenized", self._references, (metric,))
        value = scorer.values(translations)[metric] - scorer.values(self._alone)[metric]
        return Check(name=name, num_cases=len(translations), value=value, bar=bar)

    def _markup(self) -> Iterator[Check]:
        """One to three tags in each sentence."""
        found = check_markup(self._translator, self._sources)
        for name, kept, count, bar in (
            ("tags, kept and nested", found.num_kept, found.num_tags, 1.0),
            ("tags, around aligned words", found.num_named_inside, found.num_named, 0.95),
        ):
            share = kept / max(count, 1)
            yield Check(name=name, num_cases=count, num_kept=kept, value=share, bar=bar)

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
        for text, found, group in zip(texts, self._translate(texts), groups, strict=True):
            yield text, found, found == " ".join(self._alone[row] for row in group)

    def _entities(self) -> Iterator[Check]:
        """One to three in each sentence, between its words."""
        texts, inserted, rest = [], [], []
        for source in self._sources:
            words, chosen = source.split(), self._random.sample(_ENTITIES, self._random.randint(1, 3))
            for entity in chosen:
                words.insert(self._random.randint(1, len(words) - 1), entity)
            texts.append(" ".join(words))
            inserted.append(chosen)
        cases: list[_Case] = []
        for text, found, chosen in zip(texts, self._translate(texts), inserted, strict=True):
            cases += [(text, found, found.count(entity) == 1) for entity in chosen]
            for entity in chosen:
                found = found.replace(entity, "", 1)
            rest.append(" ".join(found.split()))
        yield _share("entities, exactly once", 0.995, cases)
        yield self._score("entities: BLEU of the rest", "BLEU", rest, -0.3)

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
        texts = [source for source, each in zip(self._sources, wanted, strict=True) if each]
        found = self._translate(texts, self._translator.with_glossary(glossary))
        cases = list(zip(texts, found, filter(None, wanted), strict=True))
        applied = (
            (text, each, each.count(term) == of_text.count(term))
            for text, each, of_text in cases
            for term in of_text
        )
        yield _share("terms of a glossary, applied", 0.98, applied)
        whole = ((text, each, "Zpart" not in each) for text, each, _ in cases)
        yield _share("no terms inside words", 1.0, whole)

    def _loops(self) -> Iterator[_Case]:
        """What provokes loops: single words, known and made up, in brackets; capitals; lists of numbers."""
        words = self._random.sample(self._words, min(_NUM_PROVOKED, len(self._words)))
        made_up = ("".join(self._random.sample(word, len(word))) for word in words)
        texts = ["(Palmas)", *words, *(f"({word.capitalize()})" for word in words), *made_up]
        texts += [each.upper() for each in self._sources[:_NUM_PROVOKED]]
        for word in words:
            numbers = (str(self._random.randint(1, 999)) for _ in range(self._random.randint(5, 20)))
            texts.append(f"{word.capitalize()}: {', '.join(numbers)}.")
        for text, found in zip(texts, self._translate(texts), strict=True):
            yield text, found, max_repeats(found) < max(_MIN_REPEATS, max_repeats(text) + 1)


def _share(name: str, bar: float, cases: Iterable[_Case]) -> Check:
    cases = list(cases)
    wrong = [(source, translation) for source, translation, is_kept in cases if not is_kept]
    num_kept = len(cases) - len(wrong)
    return Check(
        name=name,
        num_cases=len(cases),
        num_kept=num_kept,
        value=num_kept / max(len(cases), 1),
        bar=bar,
        examples=wrong[:_NUM_EXAMPLES],
    )
