"""An alignment on a terminal: which source tokens each target token attends to."""

import numpy as np
from rich.table import Table
from rich.text import Text

from ptenmt.cli.writing import bar
from ptenmt.translation import Alignment

_MIN_WEIGHT = 0.1
_MAX_SOURCES = 3
_WIDE = 60
_MAX_TOKEN_WIDTH = 12


def alignment_lines(alignment: Alignment, width: int) -> Table:
    """A line for each target token: a bar for its largest attention weight, and the source token it is on.

    Args:
        alignment: The alignment of a sentence and its translation.
        width: The terminal's width in cells. On a wide one the next largest weights are shown too.
    """
    is_wide = width >= _WIDE
    bar_cells, max_sources = (8, _MAX_SOURCES) if is_wide else (4, 1)
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", overflow="fold", max_width=None if is_wide else _MAX_TOKEN_WIDTH)
    table.add_column(no_wrap=True, width=bar_cells)
    table.add_column(overflow="fold")
    for token, weights in zip(alignment.target_tokens, alignment.weights, strict=True):
        best, *others = np.argsort(-weights, kind="stable")[:max_sources]
        shown = [best, *(place for place in others if weights[place] >= _MIN_WEIGHT)]
        shares = [f"{100 * weights[place]:.0f}% {alignment.source_tokens[place]}" for place in shown]
        sources = Text.assemble((shares[0], "bold"), *(f", {share}" for share in shares[1:]))
        table.add_row(Text(token), Text(bar(bar_cells * float(weights[best])), style="cyan"), sources)
    return table
