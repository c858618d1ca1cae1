"""Scores of translations with confidence intervals, significance tests, and error analysis."""

from ptenmt.evaluation.evaluation import Evaluation as Evaluation, evaluate as evaluate
from ptenmt.evaluation.systems import LoadOptions as LoadOptions
from ptenmt.evaluation.test_sets import EvaluationFiles as EvaluationFiles
from ptenmt.scores import Score as Score
