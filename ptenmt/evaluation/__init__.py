"""Scores of translations, and where they fail."""

from ptenmt.evaluation.evaluation import evaluate, sweep
from ptenmt.evaluation.results import Evaluation, Score
from ptenmt.evaluation.sweep import Setting, Sweep

__all__ = ["Evaluation", "Score", "Setting", "Sweep", "evaluate", "sweep"]
