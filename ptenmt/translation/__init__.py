"""From a trained model to translations."""

from ptenmt.translation.postprocessing import Translation
from ptenmt.translation.translator import Translator
from ptenmt.translation.word_alignment import Alignment

__all__ = ["Alignment", "Translation", "Translator"]
