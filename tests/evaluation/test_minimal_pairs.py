import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ptenmt.config import Config, DataConfig
from ptenmt.evaluation.minimal_pairs import is_correct, minimal_pairs, translate_minimal_pairs
from ptenmt.tokenizers import SPECIAL_PIECES
from ptenmt.tokenizers.words import WordTokenizer


class Phrasebook:
    """Stands in for a translator."""

    def __init__(self, answers: dict[str, str], config: Config, words: list[str]) -> None:
        self.config, self._answers = config, answers
        self.tokenizers = SimpleNamespace(source=WordTokenizer([*SPECIAL_PIECES, *words]))

    def translate(self, texts):
        return [SimpleNamespace(text=self._answers.get(text, "")) for text in texts]


def phrasebook(answers: dict[str, str], words: list[str], **data: str) -> Phrasebook:
    return Phrasebook(answers, Config(data=DataConfig(source="demo", **data)), words)


def test_the_shipped_pairs_differ_and_can_be_distinguished():
    pairs = minimal_pairs()
    assert len(pairs) >= 30
    assert len({pair.sources for pair in pairs}) == len(pairs)
    kinds = {pair.phenomenon.partition(":")[0] for pair in pairs}
    assert kinds == {"accents", "contractions", "negation"}
    for pair in pairs:
        one, other = pair.sources
        assert one != other
        own, others, both = *pair.expected, pair.expected_in_both
        assert others
        assert own or both, "any words would do"
        assert len({*own, *others, *both}) == len(own + others + both)
        assert all(re.fullmatch(r"[a-z' ]+", word) for word in own + others + both)


@pytest.mark.parametrize(
    ("translation", "expected", "excluded", "right"),
    [
        ("My grandmother is old.", ["grandmother"], ["grandfather"], True),
        ("My grandfather is old.", ["grandmother"], ["grandfather"], False),
        ("Grandmother and grandfather", ["grandmother"], ["grandfather"], False),
        ("My mother is old.", ["grandmother"], ["grandfather"], False),
        ("She can't swim.", ["can't"], ["can"], True),
        ("She can’t swim.", ["can't"], ["can"], True),
        ("She can swim.", ["can"], ["can't"], True),
        ("This was it.", ["is"], [], False),
        ("It is good.", [], ["not", "isn't"], True),
        ("It isn't good.", [], ["not", "isn't"], False),
        ("  ", [], ["not"], False),
    ],
)
def test_a_translation_needs_its_own_words_and_none_of_the_others(translation, expected, excluded, right):
    assert is_correct(translation, expected, excluded=excluded) is right


def test_all_are_correct_if_all_are_distinguished():
    answers = {}
    for pair in minimal_pairs():
        for source, expected in zip(pair.sources, pair.expected, strict=True):
            answers[source] = " ".join(words[0] for words in (pair.expected_in_both, expected) if words)
    results = translate_minimal_pairs(phrasebook(answers, []))
    assert results.num_correct == len(results.items) == len(minimal_pairs())
    assert all(right == count for right, count in results.by_phenomenon.values())


def test_what_both_must_have_is_in_both():
    assert is_correct("This is good.", [], ["good"], excluded=["not"])
    assert not is_correct("Banana.", [], ["good"], excluded=["not"])
    assert is_correct("This is not good.", ["not"], ["good"], excluded=[])
    assert not is_correct("This is not so.", ["not"], ["good"], excluded=[])


@pytest.mark.parametrize(
    ("sources", "translations"),
    [
        (("O gato é o rei.", "O gato e o rei."), ("The cat's the king.", "The cat and the king.")),
        (
            ("A minha irmã é médica.", "A minha irmã e a médica."),
            ("My sister’s a doctor.", "My sister and hers."),
        ),
        (
            ("O problema é a solução.", "O problema e a solução."),
            ("The problem's the solution.", "This and that."),
        ),
        (("Isto é bom.", "Isto não é bom."), ("This is good.", "This isn't good.")),
    ],
)
def test_short_forms_and_negations_are_right(sources, translations):
    results = translate_minimal_pairs(phrasebook(dict(zip(sources, translations, strict=True)), []))
    (item,) = [item for item in results.items if item.sources == sources]
    assert item.is_correct == (True, True)


def test_none_are_correct_if_both_get_the_same_translation():
    answers = {}
    for pair in minimal_pairs():
        answers |= dict.fromkeys(pair.sources, " ".join([*pair.expected[0], *pair.expected[1]]))
    results = translate_minimal_pairs(phrasebook(answers, []))
    assert results.num_correct == 0
    assert sum(count for _, count in results.by_phenomenon.values()) == len(results.items)


def test_pairs_with_the_same_tokens_are_marked():
    known = ["A", "minha", "avó", "é", "velha", "."]
    items = translate_minimal_pairs(phrasebook({}, known)).items
    same = {item.sources[0]: item.has_same_input for item in items}
    assert not same["A minha avó é velha."]
    assert same["Isto é um pão."]  # one word differs, and both are unknown


def test_capitals_that_a_lower_cased_corpus_lacks_are_not_what_counts():
    sources = {
        item.sources[0] for item in translate_minimal_pairs(phrasebook({}, ["a", "A", "isto", "é"])).items
    }
    assert "isto é um pão." in sources
    assert "A minha avó é velha." in sources


def test_other_languages_have_none():
    book = phrasebook({}, [])
    config = replace(book.config, data=replace(book.config.data, source_language="gl"))
    assert translate_minimal_pairs(Phrasebook({}, config, [])) is None
