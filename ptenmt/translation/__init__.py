"""From a trained model to translations."""

from ptenmt.translation.results import Alignment, Alternative, Translation
from ptenmt.translation.translator import Translator

__all__ = ["Alignment", "Alternative", "Translation", "Translator"]
