"""``ptenmt inspect attention``."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from ptenmt.atomic_files import write_text
from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import (
    Head,
    Layer,
    Quiet,
    RunName,
    Sentence,
    Target,
    Verbose,
    WhichWeights,
    chosen_head,
)
from ptenmt.errors import PtenmtError

_PAGE = ".html"


def _picture_or_page(file: Path | None) -> Path | None:
    """Refuse what can be neither, before any work is done."""
    if file is not None and file.suffix.lower() != _PAGE:
        from ptenmt.inspection.drawing import figure_format

        figure_format(file, _PAGE)
    return file


BlockName = Annotated[
    Literal["encoder", "self", "cross"] | None,
    typer.Option(
        "--block",
        help="Whose attention: the encoder's; the decoder's to what it wrote itself; or the decoder's to "
        "the source.",
        show_default="cross, or of a next-word model encoder",
    ),
]
PictureOrPage = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        callback=_picture_or_page,
        help="Draw it into a file: PNG, SVG or PDF, by its ending; or .html, a page of all layers and "
        "heads, on which one points at a word and sees what it attends to.",
        show_default="the terminal",
    ),
]


def attention(
    text: Sentence,
    target: Target = None,
    block: BlockName = None,
    layer: Layer = None,
    head: Head = None,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    output: PictureOrPage = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show what a model attends to while it reads a sentence and writes its translation.

    Heat maps: a row is the token that attends, a column what it attends to, and a row sums to 1. The layer
    is the last by default; a picture shows every head of it, the terminal their mean.

    Example: ptenmt inspect attention "este modelo parece funcionar bem" --layer 1 --output attention.png

    Example: ptenmt inspect attention "este modelo parece funcionar bem" --output attention.html
    """
    from ptenmt.cli.charts import show
    from ptenmt.inspection.attention import PANELS_A_ROW, attention_panels, find_attention
    from ptenmt.inspection.inspector import Inspector

    screen = Screen(quiet=quiet, verbose=verbose)
    is_page = output is not None and output.suffix.lower() == _PAGE
    if is_page and (block, layer, head) != (None, None, None):
        raise PtenmtError(
            "a page shows all blocks, layers and heads", "leave out --block, --layer and --head"
        )
    inspector = Inspector(
        run, checkpoint=checkpoint, on_warning=screen.warn, on_tensorflow=partial(load_tensorflow, screen)
    )
    found = find_attention(inspector, text, target)
    if output is not None and is_page:
        from ptenmt.inspection.attention_page import attention_page

        write_text(output, attention_page(found))
        screen.say(f"written: {output}")
        return
    heads = chosen_head(head, "mean" if output is None else "all")
    title, panels = attention_panels(found, block=block, layer=layer, head=heads)
    show(panels, output, screen, title=title, columns=PANELS_A_ROW)
