"""HTML and SVG from Python: elements whose texts are escaped."""

from html import escape


class Markup(str):
    """Text that is HTML or SVG already, and is not escaped again."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | int | float | None) -> Markup:
    """An element with what is in it.

    Args:
        name: Such as ``p``.
        children: Its contents; what is no ``Markup`` is text.
        attributes: By name, with ``_`` for ``-``; a ``_`` at the end is dropped, for Python's own words
            (``class_``). None: the element has not got it.
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    contents = "".join(child if isinstance(child, Markup) else escape(child) for child in children)
    return Markup(f"<{name}{shown}>{contents}</{name}>")


def _number(value: str | int | float) -> str:
    """Coordinates to a hundredth of a pixel, which nobody sees."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
