import pytest

from ptenmt.evaluation.error_analysis import (
    NUM_EXAMPLES,
    Band,
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
    sources = SourceWords(SOURCES, tokenizer, seen, "" if seen is not None else "the files are gone")
    return scorer, counts, analyse_errors(sentences, scorer, counts, sources)


@pytest.mark.parametrize(
    ("count", "num_worst", "num_best"), [(1, 1, 0), (5, 3, 2), (39, 20, 19), (100, 20, 20)]
)
@pytest.mark.parametrize("is_alike", [True, False])
def test_no_sentence_is_among_the_worst_and_the_best(count, num_worst, num_best, is_alike):
    scores = [50.0 if is_alike else float(row) for row in range(count)]
    sentences = [
        EvaluatedSentence(row=row, source=None, references=["a"], hypothesis="a", score=score)
        for row, score in enumerate(scores)
    ]
    scorer = Scorer("detokenized", [["a"] * count])
    analysis = analyse_errors(sentences, scorer, ["a"] * count, None)
    worst, best = ([each.row for each in chosen] for chosen in (analysis.worst, analysis.best))
    assert (len(worst), len(best)) == (num_worst, num_best)
    assert not {*worst} & {*best}
    if not is_alike:
        assert worst == list(range(num_worst))
        assert best == [count - 1 - place for place in range(num_best)]


def bands(breakdown) -> dict[str, int]:
    return {band.name: band.num_pairs for band in breakdown.bands if band.num_pairs}


def test_scores_by_length_rarity_and_cut_words():
    words = WordTokenizer([*SPECIAL_PIECES, "o", "gato", "come", "x"])
    seen = {"o": 5000, "gato": 150, "come": 3, "ó": 70, "x": 12}
    scorer, counts, analysis = found(words, seen)
    length, rarity, cut = analysis.breakdowns
    assert bands(length) == {"0–9": 2, "10–19": 1}
    assert bands(rarity) == {"never": 1, "1–9": 1, "100–999": 1}
    assert bands(cut) == {"none": 3}
    assert length.bands[0].scores == scorer.scores(counts, [0, 2])
    assert length.bands[1].scores == scorer.scores(counts, [1])
    assert length.bands[2].scores == []


def test_a_word_of_several_pieces_is_cut():
    letters = Letters([*SPECIAL_PIECES, *"ogatcmes"])
    _, _, analysis = found(letters, {})
    assert bands(analysis.breakdowns[2]) == {"30% or more": 2, "under 10%": 1}
    words = analysis.words
    assert (words.num_words, words.num_split, words.num_unseen) == (3 + 13 + 1, 2 + 1 + 1, 17)
    assert (words.num_unknown, words.num_sentences_with_unknown) == (2, 1)
    assert words.unknown == {"ó": 1, "x": 1}


def test_without_training_pairs_the_reason_is_reported():
    _, _, analysis = found(WordTokenizer([*SPECIAL_PIECES, "o"]), None)
    length, rarity, cut = analysis.breakdowns
    assert rarity.missing == "the files are gone"
    assert rarity.bands == []
    assert not length.missing
    assert not cut.missing
    assert analysis.words.num_unseen is None


def test_the_worst_and_the_best():
    references = [f"sentence {number} of many" for number in range(50)]
    scorer = Scorer("detokenized", [references])
    counts = ["x"] * 50
    sentences = [sentence("x", "y", None, score=float(score)) for score in range(50)]
    analysis = analyse_errors(sentences[::-1], scorer, counts, None)
    assert [each.score for each in analysis.worst] == list(range(NUM_EXAMPLES))
    assert [each.score for each in analysis.best] == list(range(49, 49 - NUM_EXAMPLES, -1))
    assert {each.missing for each in analysis.breakdowns} == {"the sources are unknown"}
    assert analysis.words is None


def test_words_are_counted_without_case_or_marks():
    assert count_words(["O gato, o GATO!", "disse-me: o"]) == {"o": 3, "gato": 2, "disse-me": 1}


@pytest.mark.parametrize(("num_pairs", "has_enough"), [(0, False), (2, False), (19, False), (20, True)])
def test_few_sentences_are_not_enough_for_an_interval(num_pairs: int, has_enough: bool) -> None:
    assert Band(name="0–9", num_pairs=num_pairs, scores=[]).has_enough is has_enough
