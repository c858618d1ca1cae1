"""Markdown tables for the results pages: plain tables, and measured values with their limits."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Criterion(NamedTuple):
    """A measured value and its limit."""

    name: str
    measured: str
    limit: str
    is_met: bool


def at_least(name: str, value: float, limit: float, form: str) -> Criterion:
    """A value with a lower limit; ``form`` formats both, for example ``{:.2f} s``."""
    return Criterion(name, form.format(value), f"≥ {form.format(limit)}", value >= limit)


def at_most(name: str, value: float, limit: float, form: str) -> Criterion:
    """A value with an upper limit; ``form`` as in ``at_least``."""
    return Criterion(name, form.format(value), f"≤ {form.format(limit)}", value <= limit)


def print_criteria(criteria: Iterable[Criterion]) -> None:
    """Print them as a table."""
    rows = [[each.name, each.measured, each.limit, "yes" if each.is_met else "NO"] for each in criteria]
    print_table([["", "measured", "limit", "met"], *rows])


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table; the first row holds the headings, the first column the names."""
    heading = rows[0]
    for row in (heading, ["---"] + ["---:"] * (len(heading) - 1), *rows[1:]):
        print(f"| {' | '.join(row)} |")
    print(flush=True)
