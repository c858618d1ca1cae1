"""``ptenmt inspect``: the commands that inspect a model."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ptenmt.cli import options
from ptenmt.cli.charts import show
from ptenmt.cli.console import Screen
from ptenmt.config.loading import load_config
from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.inspection.alignment import (
    MAX_PANELS_IN_A_ROW,
    alignment_panel,
    attention_panels,
    attention_weights,
    word_alignment,
)
from ptenmt.inspection.figures import figure_format
from ptenmt.inspection.inspector import Inspector
from ptenmt.inspection.plots import Axis, history_plots, positions_map, schedule_plot
from ptenmt.inspection.tokens import token_panels
from ptenmt.runs import find_run

_MAX_POSITIONS = 10_000
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
Layer = Annotated[int | None, typer.Option("--layer", metavar="N", help="The layer, counted from 1.")]
Head = Annotated[
    str | None,
    typer.Option("--head", metavar="N|mean|all", help="One head, counted from 1; their mean; or all."),
]
FigureFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Draw into a PNG, SVG or PDF file, by its extension.",
        show_default="the terminal",
        callback=_check_figure_file,
    ),
]


def attention(
    screen: Screen,
    text: Sentence,
    target: Target = None,
    block: Annotated[_Block | None, typer.Option(show_default="cross; of a next-word model encoder")] = None,
    layer: Layer = None,
    head: Head = None,
    run: options.RunName = None,
    checkpoint: options.WhichWeights = "best",
    output: FigureFile = None,
) -> None:
    """Show the attention weights of a sentence and its translation.

    Heat maps: each row attends to the columns and sums to 1. A row of the decoder is labelled with the token
    that it writes. The default layer of cross-attention is the one that training found to align words best,
    otherwise the last. A picture shows all heads of a layer, the terminal their mean.

    Example: ptenmt inspect attention "este modelo parece funcionar bem" --layer 1 --output attention.png

    Args:
        block: The encoder's self-attention, the decoder's self-attention, or its cross-attention to the
            source.
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
    layer: Layer = None,
    head: Head = None,
    run: options.RunName = None,
    checkpoint: options.WhichWeights = "best",
    output: FigureFile = None,
) -> None:
    """Show which source word each target word comes from, by cross-attention.

    Each target word is linked to the source word it attends to most, in the mean over the heads of the layer
    that training found to align best; --layer and --head choose others. Words are separated by white space,
    in the text as the model reads it.

    Example: ptenmt inspect alignment "este modelo parece funcionar bem"
    """
    chosen = _chosen_head(head or "mean")
    if chosen == "all":
        raise PtenmtError("an alignment is that of one head or of the mean", "give --head a number")
    inspector = Inspector(run, checkpoint=checkpoint, on_warning=screen.warn)
    show([alignment_panel(word_alignment(inspector, text, target, layer=layer, head=chosen))], output, screen)


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
    run: options.RunToDraw = None,
    num_positions: Annotated[
        int | None, typer.Option("--positions", min=1, max=_MAX_POSITIONS, metavar="N", show_default="50")
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option(min=2, max=_MAX_POSITIONS, metavar="N", show_default="128")
    ] = None,
    output: FigureFile = None,
) -> None:
    """Draw the positional encoding.

    Example: ptenmt inspect positions --positions 100 --dimensions 100 --output positions.png

    Example: ptenmt inspect positions --run base

    Args:
        num_positions: The number of positions.
        dimensions: The number of dimensions, d_model.
    """
    if run is not None:
        if dimensions is not None:
            raise PtenmtError("--dimensions and --run cannot be used together", "a run has its own d_model")
        model = find_run(run).config().model
        dimensions = model.d_model
        num_positions = num_positions or model.max_positions
    show([positions_map(num_positions or 50, dimensions or 128)], output, screen)


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
    runs: options.RunsToCompare = None,
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
    "Each view is shown in the terminal, or drawn with --output as PNG, SVG or PDF.\n\n"
    "Example: ptenmt inspect positions --output positions.png",
    no_args_is_help=True,
    add_completion=False,
    **options.MARKUP,
)
for view in (attention, alignment, tokens, positions, schedule, history):
    inspect.command()(options.command(view))
