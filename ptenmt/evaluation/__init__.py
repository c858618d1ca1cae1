"""Scores of translations with confidence intervals, significance tests, and error analysis."""

from ptenmt.evaluation.comparison import Sweep, SweepSetting, sweep
from ptenmt.evaluation.evaluation import Evaluation, evaluate
from ptenmt.evaluation.systems import LoadOptions
from ptenmt.evaluation.test_set import EvaluationFiles, list_test_sets
from ptenmt.scores import Score

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
