import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ptenmt.config import Config, DataConfig
from ptenmt.evaluation.contrasts import contrast_pairs, find_contrasts, is_right
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


def test_the_shipped_pairs_differ_and_can_be_told_apart():
    pairs = contrast_pairs()
    assert len(pairs) >= 30
    assert len({pair.sources for pair in pairs}) == len(pairs)
    kinds = {pair.phenomenon.partition(":")[0] for pair in pairs}
    assert kinds == {"accents", "contractions", "negation"}
    for pair in pairs:
        one, other = pair.sources
        assert one != other
        own, others, both = *pair.expected, pair.expected_of_both
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
    assert is_right(translation, expected, excluded=excluded) is right


def test_who_tells_all_apart_has_all_right():
    answers = {}
    for pair in contrast_pairs():
        for source, expected in zip(pair.sources, pair.expected, strict=True):
            answers[source] = " ".join(words[0] for words in (pair.expected_of_both, expected) if words)
    contrasts = find_contrasts(phrasebook(answers, []))
    assert contrasts.num_right == len(contrasts.items) == len(contrast_pairs())
    assert all(right == count for right, count in contrasts.by_phenomenon.values())


def test_what_both_must_have_is_in_both():
    assert is_right("This is good.", [], ["good"], excluded=["not"])
    assert not is_right("Banana.", [], ["good"], excluded=["not"])
    assert is_right("This is not good.", ["not"], ["good"], excluded=[])
    assert not is_right("This is not so.", ["not"], ["good"], excluded=[])


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
    contrasts = find_contrasts(phrasebook(dict(zip(sources, translations, strict=True)), []))
    (item,) = [item for item in contrasts.items if item.sources == sources]
    assert item.is_right == (True, True)


def test_who_says_the_same_to_both_has_none_right():
    answers = {}
    for pair in contrast_pairs():
        answers |= dict.fromkeys(pair.sources, " ".join([*pair.expected[0], *pair.expected[1]]))
    contrasts = find_contrasts(phrasebook(answers, []))
    assert contrasts.num_right == 0
    assert sum(count for _, count in contrasts.by_phenomenon.values()) == len(contrasts.items)


def test_what_the_tokenizer_cannot_tell_apart_is_said():
    known = ["A", "minha", "avó", "é", "velha", "."]
    items = find_contrasts(phrasebook({}, known)).items
    same = {item.sources[0]: item.is_same_input for item in items}
    assert not same["A minha avó é velha."]
    assert same["Isto é um pão."]  # one word differs, and both are unknown


def test_capitals_that_a_lower_cased_corpus_lacks_are_not_what_counts():
    sources = {item.sources[0] for item in find_contrasts(phrasebook({}, ["a", "A", "isto", "é"])).items}
    assert "isto é um pão." in sources
    assert "A minha avó é velha." in sources


def test_other_languages_have_none():
    book = phrasebook({}, [])
    config = replace(book.config, data=replace(book.config.data, source_language="gl"))
    assert find_contrasts(Phrasebook({}, config, [])) is None
