import pytest

from ptenmt.evaluation.errors import (
    NUM_EXAMPLES,
    EvaluatedSentence,
    SourceWords,
    analyse_errors,
    count_words,
    find_degenerate_outputs,
    max_repeats,
)
from ptenmt.scores import Scorer
from ptenmt.tokenizers import SPECIAL_PIECES, Tokenizer
from ptenmt.tokenizers.words import WordTokenizer


def sentence(
    hypothesis: str, reference: str, source: str | None = "o", score: float = 0.0
) -> EvaluatedSentence:
    return EvaluatedSentence(row=1, source=source, references=[reference], hypothesis=hypothesis, score=score)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("", 0),
        ("one", 1),
        ("one two three", 1),
        ("very very good", 2),
        ("No no NO", 3),
        ("we go we go we go we go home", 4),
        ("a b c d e f g h a b c d e f g h", 2),
        ("a b a c a b a c a b a c", 3),
        ("a b a b a", 2),
    ],
)
def test_repeats(text, times):
    assert max_repeats(text) == times


@pytest.mark.parametrize(
    ("name", "odd", "sound"),
    [
        ("empty", sentence(" ", "a cat"), sentence("a", "a cat")),
        ("repetitive", sentence("a cat a cat a cat", "a cat"), sentence("no no no", "no , no no no !")),
        (
            "copied",
            sentence("o gato come peixe today", "the cat eats fish today", "o gato come peixe hoje"),
            sentence("o gato sleeps in the house", "the cat sleeps in the house", "o gato dorme em casa"),
        ),
        ("over-long", sentence("w " * 16, "w " * 10), sentence("w " * 15, "w " * 10)),
    ],
)
def test_degenerate_outputs_are_counted(name, odd, sound):
    (found,) = [each for each in find_degenerate_outputs([sound, odd, sound]) if each.name == name]
    assert (found.count, found.examples) == (1, [odd])
    assert found.definition


def test_some_of_many_degenerate_outputs_are_examples():
    (empty, *_) = find_degenerate_outputs([sentence("", "a")] * 30)
    assert (empty.count, len(empty.examples)) == (30, 5)


def test_copies_are_not_counted_where_the_sources_are_unknown():
    found = find_degenerate_outputs([sentence("o gato come peixe", "the cat eats fish", None)])
    assert [each.name for each in found] == ["empty", "repetitive", "over-long"]


def test_a_name_that_both_languages_share_is_not_copied():
    named = sentence("maria joana pedro", "maria joana pedro", "maria joana pedro")
    assert [each.count for each in find_degenerate_outputs([named])] == [0, 0, 0, 0]


class Letters(WordTokenizer):
    """A token a letter of those it knows."""

    def encode(self, texts):
        return [[self._ids.get(letter, 1) for letter in text] for text in texts]


SOURCES = ["o gato come", "ó x gatos " + "o " * 10, "gato"]


def found(tokenizer: Tokenizer, seen: dict[str, int] | None):
    references = ["the cat eats", "many cats", "cat"]
    scorer = Scorer("detokenized", [references])
    counts = ["the cat eats", "many dogs", "dog"]
    values = scorer.sentence_values(["the cat eats", "many dogs", "dog"], "chrF2++")
    sentences = [
        EvaluatedSentence(row=row + 1, source=source, references=[reference], hypothesis="", score=value)
        for row, (source, reference, value) in enumerate(zip(SOURCES, references, values, strict=True))
    ]
    sources = SourceWords(SOURCES, tokenizer, seen)
    return scorer, counts, analyse_errors(sentences, scorer, counts, sources)


def bands(breakdown) -> dict[str, int]:
    return {band.name: band.num_pairs for band in breakdown.bands if band.num_pairs}


def test_scores_by_length_and_rarity():
    words = WordTokenizer([*SPECIAL_PIECES, "o", "gato", "come", "x"])
    seen = {"o": 5000, "gato": 150, "come": 3, "ó": 70, "x": 12}
    scorer, counts, analysis = found(words, seen)
    length, rarity = analysis.breakdowns
    assert [band.name for band in length.bands] == ["0–9", "10–19", "20–29", "30–39", "40 or more"]
    assert [band.name for band in rarity.bands] == ["0", "1–9", "10–99", "100–999", "1,000 or more"]
    assert bands(length) == {"0–9": 2, "10–19": 1}
    assert bands(rarity) == {"0": 1, "1–9": 1, "100–999": 1}
    assert length.bands[0].scores == scorer.scores(counts, [0, 2])
    assert length.bands[1].scores == scorer.scores(counts, [1])
    assert length.bands[2].scores == []


def test_words_that_vocabulary_or_training_lack_are_counted():
    letters = Letters([*SPECIAL_PIECES, *"ogatcmes"])
    words = found(letters, {})[2].words
    assert (words.num_words, words.num_unseen) == (3 + 13 + 1, 17)
    assert (words.num_unknown, words.num_sentences_with_unknown) == (2, 1)
    assert words.unknown == {"ó": 1, "x": 1}


def test_without_training_pairs_rarity_is_left_out():
    _, _, analysis = found(WordTokenizer([*SPECIAL_PIECES, "o"]), None)
    assert [each.title for each in analysis.breakdowns] == ["source length"]
    assert analysis.words.num_unseen is None


def test_the_worst():
    references = [f"sentence {number} of many" for number in range(50)]
    scorer = Scorer("detokenized", [references])
    counts = ["x"] * 50
    sentences = [sentence("x", "y", None, score=float(score)) for score in range(50)]
    analysis = analyse_errors(sentences[::-1], scorer, counts, None)
    assert [each.score for each in analysis.worst] == list(range(NUM_EXAMPLES))
    assert analysis.breakdowns == []
    assert analysis.words is None


def test_words_are_counted_without_case_or_marks():
    assert count_words(["O gato, o GATO!", "disse-me: o"]) == {"o": 3, "gato": 2, "disse-me": 1}
