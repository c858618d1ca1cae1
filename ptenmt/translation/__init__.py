"""From a trained model to translations."""

from ptenmt.translation.translator import AttentionWeights, Translation, Translator

__all__ = ["AttentionWeights", "Translation", "Translator"]
