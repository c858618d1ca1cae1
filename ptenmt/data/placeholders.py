"""Placeholders: what a translation carries over as it is, replaced by numbered symbols and put back.

URLs, e-mail addresses, numbers in digits, ``{name}``, ``%1$s``, ``#TAG#``, ``@user`` and emoji are entities.
Training and translation mask them with the same functions.
"""

import re
from collections.abc import Sequence
from functools import cache

PLACEHOLDERS = tuple("❶❷❸❹❺❻❼❽❾❿")
"""The symbols: single characters, which neither tokenization, case nor Unicode normalization changes."""

_BRACKETS = r"\([^\s<>\"“”«»()]*\)"
ADDRESS = (
    rf"(?:https?://|ftp://|(?<!\w)www\.)(?>{_BRACKETS}|[^\s<>\"“”«»])*"
    rf"(?:{_BRACKETS}|[^\s<>\"“”«».,;:!?'’`)\]}}])"
    r"|(?<![\w.%+-])(?>[\w.%+-]+)@[\w-]+(?:\.[\w-]+)+"
)
"""The pattern of a URL, without the punctuation after it, or an e-mail address."""
THOUSANDS = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)"
"""The pattern of an integer whose thousands are separated by spaces."""

_EMOJI = "[\u203c\u2049\u2139\u2190-\u21ff\u231a-\u27bf\u2934-\u2b55\U0001f000-\U0001faff]"
_EMOJI_CHANGED = f"{_EMOJI}[\ufe0f\U0001f3fb-\U0001f3ff]*"  # variation selector, skin tones
_ENTITIES = (
    ADDRESS,
    r"\$?\{\{?[^{}\s]{0,40}\}?\}",  # {name}, {{name}}, ${name}
    r"(?<![\d%])%(?:\d+\$|\(\w+\))?[-+0#]?\d*(?:\.\d+)?[sdifgxXu@](?!\w)",  # %s, %1$s, %(name)s, %.2f
    r"(?<![\w&])#\w+#?",  # #TAG#, #tag
    r"(?<![\w@])@\w+",
    r"[0-9#*]\ufe0f?\u20e3",  # a keycap
    # 7, 1,000.5, 2 500, 12/03/2024, 10:30; not 1.º, 3D
    rf"(?<!\w)(?<!&#)(?<!\d[.,:/–-])(?>(?:{THOUSANDS}|\d+)(?:[.,:/–-]\d+)*)(?!\.?\w)",
    f"[{''.join(PLACEHOLDERS)}]",
    "[\U0001f1e6-\U0001f1ff]{2}",  # a flag
    f"{_EMOJI_CHANGED}(?:\u200d{_EMOJI_CHANGED})*",
)

_SIGNS = re.compile(rf"[\d@#%\u20e3{{{''.join(PLACEHOLDERS)}{_EMOJI[1:]}|://|www\.")
"""Every entity has one of these; to search them is ten times as fast."""


@cache
def entity_pattern() -> re.Pattern[str]:
    """Match an entity; a placeholder that stands in the text itself is one, too."""
    return re.compile("|".join(_ENTITIES))


def mask(text: str) -> tuple[str, list[str]]:
    """Replace the entities of a text by placeholders; of more than ten different ones, the first ten.

    Returns the text, and the entities: the n-th is that of the n-th placeholder. One that occurs several
    times has one placeholder. ``unmask`` restores the text from both.
    """
    found = _in_order(_entities(text))
    return _replaced(text, found, PLACEHOLDERS), found


def unmask(text: str, entities: Sequence[str]) -> str:
    """Replace the placeholders of a masked text, or of its translation, by the entities of ``mask``."""
    values = dict(zip(PLACEHOLDERS, entities, strict=False))
    return "".join(values.get(sign, sign) for sign in text) if values else text


def mask_pair(source: str, target: str, placeholders: Sequence[str] = PLACEHOLDERS) -> tuple[str, str]:
    """Replace the entities that stand equally often on both sides of a sentence pair by placeholders.

    The ten ``placeholders`` are used in their order; another one each time trains all alike. Sentences
    without such an entity are returned unchanged.
    """
    in_source, in_target = _entities(source), _entities(target)
    shared = [entity for entity in in_source if in_source.count(entity) == in_target.count(entity)]
    if any(entity in PLACEHOLDERS and entity not in shared for entity in (*in_source, *in_target)):
        return source, target  # a masked entity could not be told from a placeholder in the text
    chosen = _in_order(shared)
    return _replaced(source, chosen, placeholders), _replaced(target, chosen, placeholders)


def without_entities(text: str) -> str:
    """Remove the entities of a text."""
    return entity_pattern().sub("", text) if _SIGNS.search(text) else text


def find_entities(text: str) -> list[re.Match[str]]:
    """Find the entities of a text, in order."""
    return list(entity_pattern().finditer(text)) if _SIGNS.search(text) else []


def _entities(text: str) -> list[str]:
    return [entity[0] for entity in find_entities(text)]


def _in_order(entities: Sequence[str]) -> list[str]:
    """The first ten different entities, preceded by the placeholders in the text."""
    return sorted(dict.fromkeys(entities), key=lambda entity: entity not in PLACEHOLDERS)[: len(PLACEHOLDERS)]


def _replaced(text: str, entities: Sequence[str], placeholders: Sequence[str]) -> str:
    symbols = dict(zip(entities, placeholders, strict=False))
    return entity_pattern().sub(lambda found: symbols.get(found[0], found[0]), text) if symbols else text
