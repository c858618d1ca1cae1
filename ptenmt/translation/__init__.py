"""From a trained model to translations."""

from ptenmt.translation.postprocessing import Alignment, Alternative, Translation
from ptenmt.translation.translator import Translator

__all__ = ["Alignment", "Alternative", "Translation", "Translator"]
