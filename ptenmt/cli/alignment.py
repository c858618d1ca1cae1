"""An alignment in a terminal: what each piece of a translation comes from."""

import numpy as np
from rich.table import Table
from rich.text import Text

from ptenmt.cli.writing import bar
from ptenmt.translation import Alignment

_LEAST_SHARE = 0.1
_MOST_SOURCES = 3
_ENOUGH_CELLS = 60
_LONGEST_PIECE = 12


def alignment_lines(alignment: Alignment, width: int) -> Table:
    """A line a piece of the translation: a bar, as long as its largest share of attention, and whose that is.

    Args:
        alignment: Of a sentence and its translation.
        width: Of the terminal, in cells. On a wide one the next largest shares are shown too.
    """
    is_wide = width >= _ENOUGH_CELLS
    bar_cells, most_sources = (8, _MOST_SOURCES) if is_wide else (4, 1)
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", overflow="fold", max_width=None if is_wide else _LONGEST_PIECE)
    table.add_column(no_wrap=True, width=bar_cells)
    table.add_column(overflow="fold")
    for piece, weights in zip(alignment.target_tokens, alignment.weights, strict=True):
        best, *others = np.argsort(-weights, kind="stable")[:most_sources]
        told = [best, *(place for place in others if weights[place] >= _LEAST_SHARE)]
        shares = [f"{100 * weights[place]:.0f}% {alignment.source_tokens[place]}" for place in told]
        sources = Text.assemble((shares[0], "bold"), *(f", {share}" for share in shares[1:]))
        table.add_row(Text(piece), Text(bar(bar_cells * float(weights[best])), style="cyan"), sources)
    return table
