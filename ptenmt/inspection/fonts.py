"""What figures are lettered with: fonts that have the characters, sizes, and how much room texts take."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.font_manager import FontEntry

MOST_TEXT = 9.0
"""Points, of which an inch has 72."""

_FONT = "DejaVu Sans"  # comes with matplotlib
_DOTS = 100  # an inch, as in a new figure
_WIDE_LETTER = 1.05  # of the size, as those of Chinese or Japanese are


def text_width(text: str) -> float:
    """How many inches a text takes, in the largest size; about, where another font has its characters."""
    from matplotlib.font_manager import findfont
    from matplotlib.ft2font import FT2Font

    file = findfont(_FONT)
    known = "".join(sign for sign in text if sign in _glyphs(file))
    font = FT2Font(file)
    font.set_size(MOST_TEXT, _DOTS)
    font.set_text(known)
    others = (len(text) - len(known)) * _WIDE_LETTER * MOST_TEXT / 72
    # Letters are set to whole dots, at other resolutions to others.
    return 1.02 * float(font.get_width_height()[0]) / 64 / _DOTS + others


def shortened(text: str, width: float) -> str:
    """A text, or as much of its beginning as takes about so many inches."""
    whole = text_width(text)
    return text if whole <= width else f"{text[: max(int(len(text) * width / whole) - 1, 0)]}…"


def style(texts: Iterable[str], size: float = MOST_TEXT) -> AbstractContextManager[None]:
    """Settings that hold while a figure with these texts is built or written; ``$`` is a dollar."""
    import matplotlib as mpl

    settings: Any = {
        "font.family": fonts(texts)[0],
        "font.size": size,
        "axes.titlesize": size + 1,
        "figure.titlesize": size + 2,
        "text.parse_math": False,
        "svg.hashsalt": "ptenmt",  # names in an SVG file are not random
    }
    return mpl.rc_context(settings)


def fonts(texts: Iterable[str]) -> tuple[list[str], set[str]]:
    """Families of fonts that together have the glyphs of texts, and the characters that none has."""
    from matplotlib.font_manager import findfont, fontManager

    missing = {sign for text in texts for sign in text if not sign.isspace()} - _glyphs(findfont(_FONT))
    families = [_FONT]
    for font in filter(_is_regular, fontManager.ttflist) if missing else ():
        found = missing & _glyphs(font.fname)
        if found:
            families.append(font.name)
            missing -= found
    return families, missing


def _is_regular(font: "FontEntry") -> bool:
    """Neither bold nor slanted; and not the one that has a box for every character."""
    return (
        font.style == "normal" and font.weight in (400, "normal") and not font.name.startswith("Last Resort")
    )


@cache
def _glyphs(file: str) -> set[str]:
    """The characters that a font can draw at any size."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(file)
    except (OSError, RuntimeError):  # a font that is damaged, or has gone since matplotlib listed it
        return set()
    return set(map(chr, font.get_charmap())) if font.scalable else set()
