"""How the published tokenizer cuts text into words before it looks for pieces, as TensorFlow Text does it.

Case folding with compatibility decomposition (Unicode's NFKC_Casefold), accents off, control characters to
blanks; then punctuation marks and Chinese characters are words of their own.
"""

import re
import unicodedata

BREAK = "\0"  # control characters are blanks by then, so that no text has one

# What Unicode says to leave out where a program cannot show it: soft hyphens, joiners, variation selectors ….
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def split_words(text: str) -> list[str]:
    """Cut a text into words, lower-cased and without accents."""
    return [word for word in _folded(text).translate(_MARKED).split(BREAK) if word]


def _folded(text: str) -> str:
    """The text folded as Unicode's NFKC_Casefold has it, with its accents as characters of their own."""
    if text.isascii():
        return text.lower()
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFD", _IGNORABLE.sub("", unicodedata.normalize("NFKC", once.casefold())))


class _Marks(dict[int, str]):
    """What becomes of each character; found out when it is met for the first time."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = _mark(character)
        return self[code]


def _mark(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Mn":
        return ""
    if category in ("Cc", "Cf") or character == " ":
        return BREAK
    if category == "Cs":  # half of a surrogate pair, which UTF-8 cannot hold
        character, category = "?", "Po"
    is_ascii_mark = character.isascii() and not character.isalnum()
    if category.startswith("P") or is_ascii_mark or _is_chinese(character):
        return f"{BREAK}{character}{BREAK}"
    return character


def _is_chinese(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _CHINESE)


_MARKED = _Marks()
