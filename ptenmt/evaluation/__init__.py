"""Scores of a trained model."""

from ptenmt.evaluation.evaluate import Evaluation, evaluate
from ptenmt.evaluation.scores import Score

__all__ = ["Evaluation", "Score", "evaluate"]
