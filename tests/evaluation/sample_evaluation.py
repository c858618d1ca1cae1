"""A made-up evaluation with every part, and with texts that are hard to escape."""

from dataclasses import replace
from typing import Any

from ptenmt.evaluation import Evaluation, Score
from ptenmt.evaluation.error_analysis import (
    Band,
    DegenerateOutputs,
    ErrorAnalysis,
    EvaluatedSentence,
)
from ptenmt.evaluation.systems import SearchFacts
from ptenmt.evaluation.test_sets import PLAIN_TEXT, Hypotheses, TestSet

HARD = "<script>alert('x')</script> | `a` *b* [c](http://d.e) & \\ _f_ ${g}"
BLEU = Score(
    name="BLEU",
    text="detokenized",
    value=31.4159,
    mean=31.5,
    margin=1.25,
    signature="nrefs:1|case:mixed|tok:13a",
)
CHRF = replace(BLEU, name="chrF2++", value=52.718, mean=52.7, margin=0.9)
TER = replace(BLEU, name="TER", value=61.803, mean=61.9, margin=2.1)
SENTENCE = EvaluatedSentence(
    row=1234,
    source=HARD,
    references=["a dog barks", "the cat sleeps here"],
    hypothesis="the cat eats here",
    score=43.21,
)
EMPTY = EvaluatedSentence(row=7, source="sim", references=["yes"], hypothesis="", score=0.0)


def evaluation(**changes: Any) -> Evaluation:
    """The evaluation of a file of hypotheses, with changes."""
    return replace(_EVALUATION, **changes)


_ERROR_ANALYSIS = ErrorAnalysis(
    by_length=[
        Band(name="0–9", num_pairs=1500, scores={"BLEU": 31.4, "chrF2++": 50.1}),
        Band(name="10–19", num_pairs=303, scores={"BLEU": 15.7, "chrF2++": 40.2}),
    ],
    worst=[EMPTY, SENTENCE],
    degenerate_outputs=[
        DegenerateOutputs(name="empty", definition="no word at all", count=18),
        DegenerateOutputs(name="repetitive", definition="the same again", count=0),
    ],
)
_EVALUATION = Evaluation(
    name="answers.txt",
    folder=None,
    checkpoint=None,
    split=None,
    pairs_name="pairs of a.en",
    files={"source": ["a.pt"], "reference": ["a.en", "b.en"], "hypotheses": ["answers.txt"]},
    loss=None,
    accuracy=None,
    num_truncated=None,
    scores=[BLEU, CHRF, TER, replace(BLEU, text="tokenized", value=33.3)],
    search=SearchFacts(
        engine="ctranslate2",
        compute_type="int8",
        beam_size=4,
        length_penalty=0.6,
        num_truncated=3,
        num_split=1,
        seconds=3.0,
    ),
    error_analysis=_ERROR_ANALYSIS,
    sentences=[SENTENCE, EMPTY],
    test_set=TestSet.from_typed(
        None, [["a dog barks", "yes"] * 900, ["the cat sleeps here", None] * 900], PLAIN_TEXT
    ),
    output=Hypotheses(texts=[SENTENCE.hypothesis, EMPTY.hypothesis], tokens=None),
)
