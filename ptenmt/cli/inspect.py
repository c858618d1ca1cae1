"""``ptenmt inspect``: the commands that inspect a model."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ptenmt.cli import options
from ptenmt.cli.console import Screen
from ptenmt.cli.tables import show
from ptenmt.config.loading import load_config
from ptenmt.errors import ConfigError
from ptenmt.inspection.alignment import (
    MAX_PANELS_IN_A_ROW,
    alignment_panel,
    attention_panels,
    attention_weights,
    word_alignment,
)
from ptenmt.inspection.figures import Axis, figure_format, history_plots, positions_map, schedule_plot
from ptenmt.inspection.inspector import Inspector, token_panels
from ptenmt.runs import find_run

_MAX_POSITIONS = 10_000
_FIGURE_HELP = "Draw into a PNG, SVG or PDF file, by its extension; one that exists is replaced."
_Block = Literal["encoder", "self", "cross"]


def _check_figure_file(file: Path | None) -> Path | None:
    """Refuse other file formats before any work is done."""
    if file is not None:
        figure_format(file)
    return file


Sentence = Annotated[str, typer.Argument(metavar="TEXT", help="A sentence.", callback=options.as_text)]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="TEXT",
        help="Its translation.",
        show_default="the model's own",
        callback=options.as_text,
    ),
]
FigureFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=_FIGURE_HELP,
        show_default="the terminal",
        callback=_check_figure_file,
    ),
]


def attention(
    screen: Screen,
    text: Sentence,
    target: Target = None,
    block: Annotated[_Block | None, typer.Option(show_default="cross; of a next-word model encoder")] = None,
    layer: Annotated[int | None, typer.Option(metavar="N")] = None,
    head: Annotated[str | None, typer.Option(metavar="N|mean|all")] = None,
    run: options.RunName = None,
    checkpoint: options.WhichWeights = "best",
    output: FigureFile = None,
) -> None:
    """Show the attention weights of a sentence and its translation.

    Each token attends to others, with weights that sum to 1; a row of the decoder is labelled with the token
    that it writes. The default layer of cross-attention is the one that training found to align words best,
    otherwise the last. A picture shows all weights of all heads of a layer, the terminal the highest of their
    mean.

    Example: ptenmt inspect attention "este modelo parece funcionar bem" --layer 1 --output attention.png

    Args:
        block: The encoder's self-attention, the decoder's self-attention, or its cross-attention to the
            source.
        layer: The layer, counted from 1.
        head: One head, counted from 1; their mean; or all.
    """
    inspector = Inspector(run, checkpoint=checkpoint, on_warning=screen.warn)
    weights = attention_weights(inspector, text, target)
    heads = _chosen_head(head or ("mean" if output is None else "all"))
    title, panels = attention_panels(weights, block=block, layer=layer, head=heads)
    show(panels, output, screen, title=title, columns=MAX_PANELS_IN_A_ROW)


def alignment(
    screen: Screen,
    text: Sentence,
    target: Target = None,
    run: options.RunName = None,
    checkpoint: options.WhichWeights = "best",
    output: FigureFile = None,
) -> None:
    """Show which source word each target word comes from, by cross-attention.

    Each target word is linked to the source word it attends to most, in the mean over the heads of the layer
    that training found to align best. Words are separated by white space, in the text as the model reads it.

    Example: ptenmt inspect alignment "este modelo parece funcionar bem"
    """
    inspector = Inspector(run, checkpoint=checkpoint, on_warning=screen.warn)
    show([alignment_panel(word_alignment(inspector, text, target))], output, screen)


def tokens(
    screen: Screen,
    text: Sentence,
    target: Target = None,
    length: Annotated[int | None, typer.Option(min=1, metavar="N", show_default="no padding")] = None,
    run: options.RunName = None,
    checkpoint: options.WhichWeights = "best",
    output: FigureFile = None,
) -> None:
    """Show a sentence and its translation as the model reads them: tokens, ids, labels, masks.

    The labels are the decoder's inputs shifted by one. In the masks, 1 hides a column's token from a row's.
    A picture shows the masks and one-hot labels.

    Example: ptenmt inspect tokens "este modelo parece funcionar bem" --length 10

    Args:
        length: Pad both sides to this many tokens, as in a batch with longer sentences.
    """
    panels = token_panels(Inspector(run, checkpoint=checkpoint, on_warning=screen.warn), text, target, length)
    show(panels, output, screen, columns=2)


def positions(
    screen: Screen,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help=_FIGURE_HELP, callback=_check_figure_file)
    ],
    num_positions: Annotated[int, typer.Option("--positions", min=1, max=_MAX_POSITIONS, metavar="N")] = 50,
    dimensions: Annotated[int, typer.Option(min=2, max=_MAX_POSITIONS, metavar="N")] = 128,
) -> None:
    """Draw the positional encoding into a file.

    Example: ptenmt inspect positions --positions 100 --dimensions 100 --output positions.png

    Args:
        num_positions: The number of positions.
        dimensions: The number of dimensions, d_model.
    """
    show([positions_map(num_positions, dimensions)], output, screen)


def schedule(
    screen: Screen,
    config: options.ConfigName,
    overrides: options.Overrides = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", show_default="training.max_steps, or five times the warm-up"),
    ] = None,
    output: FigureFile = None,
) -> None:
    """Draw the learning-rate schedule of a config, before anything is trained.

    Example: ptenmt inspect schedule --config base.yaml --steps 16200 --output rate.svg

    Args:
        steps: The number of steps of the training; ptenmt train --dry-run counts them.
    """
    show([schedule_plot(load_config(config, overrides or []), steps)], output, screen)


def history(
    screen: Screen,
    runs: options.RunNames = None,
    over: Annotated[Axis, typer.Option()] = "steps",
    output: FigureFile = None,
) -> None:
    """Draw the training curves of runs: loss, accuracy, BLEU, chrF, learning rate, tokens per second.

    Example: ptenmt inspect history --run base --run small --over minutes

    Example: ptenmt inspect history --run base --output base.pdf

    Args:
        over: The x axis.
    """
    show(history_plots(runs or [find_run()], over), output, screen, columns=2)


def _chosen_head(given: str) -> int | Literal["mean", "all"]:
    names: dict[str, Literal["mean", "all"]] = {"mean": "mean", "all": "all"}
    try:
        return names.get(given) or int(given)
    except ValueError:
        raise ConfigError(f"--head {given}: there is no such head", "give a number, mean or all") from None


inspect = typer.Typer(
    name="inspect",
    help="Inspect a model before, during and after training.\n\n"
    "Each view is a table in the terminal, or drawn with --output as PNG, SVG or PDF.\n\n"
    "Example: ptenmt inspect positions --output positions.png",
    no_args_is_help=True,
    add_completion=False,
    **options.MARKUP,
)
for view in (attention, alignment, tokens, positions, schedule, history):
    inspect.command()(options.command(view))
