"""From a trained model to translations."""

from ptenmt.translation.postprocessing import Alternative, Translation
from ptenmt.translation.translator import Translator
from ptenmt.translation.word_alignment import Alignment

__all__ = ["Alignment", "Alternative", "Translation", "Translator"]
