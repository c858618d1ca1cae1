import pytest
import sacrebleu

from ptenmt.evaluation.scores import detokenised_scores, tokenised_scores

HYPOTHESES = ["The cat sat on the mat.", "it 's a dog !", "Nothing", ""]
REFERENCES = ["The cat sat on a mat.", "It 's a big dog !", "Everything", "Silence."]


@pytest.mark.parametrize("score", [detokenised_scores, tokenised_scores])
def test_they_equal_sacrebleus_own(score):
    options = {
        detokenised_scores: {"tokenize": "13a", "lowercase": False},
        tokenised_scores: {"tokenize": "none", "lowercase": True},
    }[score]
    bleu, chrf = score(HYPOTHESES, REFERENCES)
    expected = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], force=True, **options)
    assert (bleu.name, bleu.value) == ("BLEU", pytest.approx(expected.score))
    hypotheses, references = HYPOTHESES, REFERENCES
    if options["lowercase"]:
        hypotheses, references = ([line.lower() for line in lines] for lines in (HYPOTHESES, REFERENCES))
    expected = sacrebleu.corpus_chrf(hypotheses, [references])
    assert (chrf.name, chrf.value) == ("chrF", pytest.approx(expected.score))
    assert 0 < bleu.value < 100
    assert 0 < chrf.value < 100


def test_bleu_is_what_a_hand_computes():
    """4-grams 1 of 3, trigrams 2 of 4, bigrams 3 of 5, words 5 of 6, equal lengths."""
    (bleu, _) = detokenised_scores(["the cat sat on the mat"], ["the cat sat on a mat"])
    assert bleu.value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_a_score_is_quoted_with_its_signature():
    bleu, chrf = detokenised_scores(HYPOTHESES, REFERENCES)
    assert "tok:13a" in bleu.signature
    assert "case:mixed" in bleu.signature
    assert f"version:{sacrebleu.__version__}" in bleu.signature
    assert f"version:{sacrebleu.__version__}" in chrf.signature
    assert {bleu.text, chrf.text} == {"detokenised"}
    bleu, chrf = tokenised_scores(HYPOTHESES, REFERENCES)
    assert "tok:none" in bleu.signature
    assert "case:lc" in bleu.signature
    assert "case:lc" in chrf.signature
    assert {bleu.text, chrf.text} == {"tokenised"}


@pytest.mark.parametrize("score", [detokenised_scores, tokenised_scores])
def test_right_is_100_and_wrong_is_0(score):
    sentence = ["the dog sees the big cat"]
    assert [round(one.value, 6) for one in score(sentence, sentence)] == [100, 100]
    assert [round(one.value, 6) for one in score(["xxxx"], sentence)] == [0, 0]
    assert score(sentence, ["The Dog sees the big Cat"])[0].value == (
        pytest.approx(100) if score is tokenised_scores else pytest.approx(0, abs=40)
    )
