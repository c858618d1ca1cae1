import pytest

from ptenmt.evaluation.error_analysis import (
    NUM_EXAMPLES,
    EvaluatedSentence,
    analyse_errors,
    max_repeats,
)
from ptenmt.scores import Scorer


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
    ],
)
def test_degenerate_outputs_are_counted(name, odd, sound):
    scorer = Scorer("detokenized", [["a"] * 3], ())
    analysis = analyse_errors([sound, odd, sound], scorer, ["a"] * 3)
    assert {found.name: found.count for found in analysis.degenerate_outputs}[name] == 1


def test_scores_by_length():
    sources = ["o gato come", "ó x gatos " + "o " * 10, "gato", None]
    references, counts = ["the cat eats", "many cats", "cat", "a"], ["the cat eats", "many dogs", "dog", "a"]
    scorer = Scorer("detokenized", [references])
    sentences = [sentence(text, "", source) for text, source in zip(counts, sources, strict=True)]
    short, long = analyse_errors(sentences, scorer, counts).by_length
    assert (short.name, short.num_pairs, long.name, long.num_pairs) == ("0–9", 2, "10–19", 1)
    assert short.scores == Scorer("detokenized", [["the cat eats", "cat"]]).values(["the cat eats", "dog"])
    assert long.scores["chrF2++"] == pytest.approx(scorer.sentence_values(counts, "chrF2++")[1])


def test_the_worst():
    references = [f"sentence {number} of many" for number in range(50)]
    scorer = Scorer("detokenized", [references])
    counts = ["x"] * 50
    sentences = [sentence("x", "y", None, score=float(score)) for score in range(50)]
    analysis = analyse_errors(sentences[::-1], scorer, counts)
    assert [each.score for each in analysis.worst] == list(range(NUM_EXAMPLES))
    assert analysis.by_length == []
