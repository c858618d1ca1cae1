"""From a trained model to translations."""

from ptenmt.translation.postprocessing import Alternative, Translation
from ptenmt.translation.translator import Alignment, Translator

__all__ = ["Alignment", "Alternative", "Translation", "Translator"]
