"""Tables for a results page: figures, and figures beside what is wanted of them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Bar(NamedTuple):
    """A figure, and what it is to be."""

    what: str
    measured: str
    wanted: str
    is_met: bool


def at_least(what: str, value: float, wanted: float, form: str) -> Bar:
    """A figure that may not be less than this; ``form`` is how both are written, such as ``{:.2f} s``."""
    return Bar(what, form.format(value), f"≥ {form.format(wanted)}", value >= wanted)


def at_most(what: str, value: float, wanted: float, form: str) -> Bar:
    """A figure that may not be more than this; ``form`` as in ``at_least``."""
    return Bar(what, form.format(value), f"≤ {form.format(wanted)}", value <= wanted)


def show_bars(bars: Iterable[Bar]) -> None:
    """Print them as a table."""
    rows = [[bar.what, bar.measured, bar.wanted, "yes" if bar.is_met else "NO"] for bar in bars]
    show([["", "measured", "wanted", "met"], *rows])


def show(rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table; the first row has the headings, the first column the names."""
    heading = rows[0]
    for row in (heading, ["---"] + ["---:"] * (len(heading) - 1), *rows[1:]):
        print(f"| {' | '.join(row)} |")
    print(flush=True)
