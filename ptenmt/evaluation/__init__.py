"""Scores of translations with confidence intervals, significance tests, and error analysis."""

from ptenmt.evaluation.evaluation import Evaluation, evaluate
from ptenmt.evaluation.published_test_sets import list_test_sets
from ptenmt.evaluation.sweep import Sweep, SweepSetting, sweep
from ptenmt.evaluation.systems import LoadOptions
from ptenmt.scoring.scores import Score
from ptenmt.scoring.test_set import EvaluationFiles

__all__ = [
    "Evaluation",
    "EvaluationFiles",
    "LoadOptions",
    "Score",
    "Sweep",
    "SweepSetting",
    "evaluate",
    "list_test_sets",
    "sweep",
]
