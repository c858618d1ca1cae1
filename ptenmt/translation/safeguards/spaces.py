"""No-break spaces, which models read as spaces: words that stay as they are keep theirs."""

import re

from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.sentence import Sentence

_NO_BREAK = "\u00a0"
_WORDS = re.compile(rf"(\w+\.?){_NO_BREAK}(?=(\w+))")


class Spaces(Safeguard):
    """Puts a no-break space back where both words around it stand in the translation."""

    def restore(self, sentence: Sentence, text: str) -> str:
        """The translation with no-break spaces, such as that of ``MB Way``."""
        for first, second in _WORDS.findall(sentence.original):
            words = f"{first} {second}"
            if words not in sentence.original:
                text = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", f"{first}{_NO_BREAK}{second}", text)
        return text

    def finish(self, sentence: Sentence, text: str) -> str:
        """The same with the numbers that spans have put in, such as ``5 km``."""
        return self.restore(sentence, text)
