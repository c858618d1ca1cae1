"""Scores of a trained model."""

from ptenmt.evaluation.evaluation import Evaluation, evaluate
from ptenmt.evaluation.scores import Score

__all__ = ["Evaluation", "Score", "evaluate"]
