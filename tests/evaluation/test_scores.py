from dataclasses import asdict, replace

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from ptenmt import scores as scores_module
from ptenmt.scores import METRICS, Scorer

HYPOTHESES = ["The cat sat on the mat.", "it 's a dog !", "Nothing at all , I fear", ""] * 4
REFERENCES = ["The cat sat on a mat.", "It 's a big dog !", "Everything , I fear", "Silence."] * 4
OTHERS = ["A cat sat on the mat.", "It 's one dog !", None, "Nothing is heard."] * 4
FORMS = ["detokenized", "tokenized"]


def sacrebleus_own(form: str) -> dict[str, object]:
    """The metrics as the issue of a score would make them by hand."""
    lower = form == "tokenized"
    return {
        "BLEU": BLEU(tokenize="none" if lower else "13a", lowercase=lower, force=True),
        "chrF2++": CHRF(word_order=2, lowercase=lower),
        "TER": TER(),
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("references", [[REFERENCES], [REFERENCES, OTHERS]])
def test_they_equal_sacrebleus_own(form, references):
    scorer = Scorer(form, references)
    found = scorer.scores(HYPOTHESES)
    assert [score.name for score in found] == list(METRICS)
    for score, metric in zip(found, sacrebleus_own(form).values(), strict=True):
        expected = metric.corpus_score(HYPOTHESES, references, n_bootstrap=1000)
        assert score.value == expected.score
        assert (score.mean, score.margin) == pytest.approx((expected._mean, expected._ci))
        assert score.low < score.mean < score.high
        assert score.signature == str(metric.get_signature())
        assert (score.name, score.text) == (expected.name, form)
        assert scorer.values(HYPOTHESES)[score.name] == score.value


def test_bleu_and_ter_are_what_a_hand_computes():
    """4-grams 1 of 3, trigrams 2 of 4, bigrams 3 of 5, words 5 of 6, equal lengths; one edit in 6 words."""
    scorer = Scorer("detokenized", [["the cat sat on a mat"]])
    values = scorer.values(["the cat sat on the mat"])
    assert values["BLEU"] == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    assert values["TER"] == pytest.approx(100 / 6)


def test_intervals_end_where_scores_end():
    """Of two sentences, one right and one wrong, resamples vary more than scores can."""
    right = "the cat sat on the mat today"
    scorer = Scorer("detokenized", [[right, "yes"]])
    bleu, chrf, ter = scorer.scores([right, "no no"])
    for score in (bleu, chrf):
        assert score.mean + score.margin > 100
        assert (score.high, asdict(score)["high"]) == (100, 100)
    assert ter.mean - ter.margin < 0
    assert ter.low == 0
    assert ter.high == ter.mean + ter.margin > 100
    assert replace(bleu, mean=10.0, margin=20.0).low == 0
    inside = replace(bleu, mean=50.0, margin=20.0)
    assert (inside.low, inside.high) == (30, 70)


def test_scores_of_some_sentences_are_those_of_these_alone():
    scorer = Scorer("detokenized", [REFERENCES])
    some = scorer.values(HYPOTHESES, [2, 0])
    alone = Scorer("detokenized", [[REFERENCES[2], REFERENCES[0]]])
    assert some == alone.values([HYPOTHESES[2], HYPOTHESES[0]])
    values = scorer.sentence_values(HYPOTHESES, "chrF2++")
    assert values[1] == CHRF(word_order=2).sentence_score(HYPOTHESES[1], [REFERENCES[1]]).score


def test_differences_are_those_of_sacrebleus_paired_bootstrap():
    worse = ["The mat.", "it 's a cat ?", "Nothing", "Silence."] * 4
    scorer = Scorer("detokenized", [REFERENCES])
    systems = [("baseline", worse), ("ours", HYPOTHESES)]
    _, expected = PairedTest(systems, sacrebleus_own("detokenized"), [REFERENCES], test_type="bs")()
    differences = scorer.differences(HYPOTHESES, worse)
    for difference in differences:
        theirs, ours = expected[difference.score.name]
        assert (difference.baseline.value, difference.score.value) == (theirs.score, ours.score)
        assert difference.p_value == ours.p_value
    assert [difference.score for difference in differences] == scorer.scores(HYPOTHESES)


def test_a_clear_difference_is_significant_and_none_is_none():
    right = [f"sentence number {number} says that all is well" for number in range(60)]
    wrong = [text.replace("says that", "claims") if number % 2 else text for number, text in enumerate(right)]
    scorer = Scorer("detokenized", [right])
    assert all(difference.p_value < 0.05 for difference in scorer.differences(right, wrong))
    same = scorer.differences(right, list(right))
    assert [difference.p_value for difference in same] == [None] * 3


def test_of_very_large_sets_fewer_resamples_are_drawn(monkeypatch: pytest.MonkeyPatch):
    scorer = Scorer("detokenized", [REFERENCES], ("BLEU",))
    monkeypatch.setattr(scores_module, "_MAX_RESAMPLED_VALUES", 200 * len(HYPOTHESES) * 10)
    assert "bs:200|" in scorer.scores(HYPOTHESES)[0].signature
    monkeypatch.setattr(scores_module, "_MAX_RESAMPLED_VALUES", 1)
    assert "bs:100|" in scorer.scores(HYPOTHESES)[0].signature
