"""Safeguards: what keeps a model's mistakes out of its translations, each beside the road and on its own.

Without ``decoding.safeguards`` there is none but the glossary that a user gave. To add one, write a class
with the methods of ``Safeguard`` that it needs, and name it in ``safeguards_of``.
"""

from collections.abc import Sequence

from ptenmt.config import Config
from ptenmt.tokenizers import TokenizerPair
from ptenmt.translation.safeguards.capitals import Capitals
from ptenmt.translation.safeguards.entities import Entities
from ptenmt.translation.safeguards.glossary import Glossary, Terms
from ptenmt.translation.safeguards.languages import Languages
from ptenmt.translation.safeguards.loops import Loops
from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.safeguards.stand_ins import StandIns

__all__ = ["Safeguard", "safeguards_of"]


def safeguards_of(
    tokenizers: TokenizerPair, config: Config, glossary: Glossary | None, *, searches_again: bool
) -> Sequence[Safeguard]:
    """The safeguards of a translator, in the order in which they read a sentence.

    ``searches_again``: whether the engine supports a search without repeated n-grams.
    """
    safeguards: list[Safeguard] = []
    if config.decoding.safeguards:
        safeguards.append(Languages(config))
        if searches_again:
            safeguards.append(Loops(tokenizers, config))
        safeguards.append(Entities(tokenizers.source, config))
    if glossary is not None:
        safeguards.append(Terms(glossary))
    if config.decoding.safeguards:
        safeguards += [StandIns(tokenizers.source, config), Capitals(config)]
    return safeguards
