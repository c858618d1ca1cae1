"""``ptenmt inspect alignment``."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ptenmt.atomic_files import json_text
from ptenmt.cli.console import Screen, load_tensorflow, standard_output
from ptenmt.cli.options import (
    FigureFile,
    Head,
    Layer,
    Quiet,
    RunName,
    Target,
    Verbose,
    WhichWeights,
    chosen_head,
)
from ptenmt.data.lines import read_lines
from ptenmt.errors import DataError, PtenmtError

if TYPE_CHECKING:
    from ptenmt.inspection.alignment import WordAlignment


OptionalSentence = Annotated[
    str | None, typer.Argument(metavar="TEXT", help="A sentence.", show_default=False)
]
InputFile = Annotated[
    Path | None,
    typer.Option("--input", "-i", metavar="FILE", help="Align every line of this file, plain or .gz."),
]
TargetFile = Annotated[
    Path | None,
    typer.Option(
        "--target-file",
        metavar="FILE",
        help="The translations of the lines of --input.",
        show_default="the model's own",
    ),
]
Form = Annotated[
    Literal["grid", "pharaoh", "json"] | None,
    typer.Option(
        "--form",
        help="A grid of words; a line a sentence of pairs source-target, numbered from 0; or a JSON "
        "object a line, with words, pairs and weights.",
        show_default="grid for TEXT, pharaoh for --input",
    ),
]


def alignment(
    text: OptionalSentence = None,
    target: Target = None,
    input_file: InputFile = None,
    target_file: TargetFile = None,
    form: Form = None,
    layer: Layer = None,
    head: Head = None,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    output: FigureFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show which word of a sentence each word of its translation comes from, as cross-attention has it.

    Words stand between blanks, in the text as the model reads it: where its training corpus has punctuation
    apart, so has this. Every word of the translation comes from the one it attends to most: in the mean over
    the heads of the last layer but one, or of the only layer, unless --layer and --head say otherwise.

    At the prompt of ptenmt translate, :attention shows the like of what was just translated: of sub-words,
    and as the engine tells it while it translates, the mean over the heads of one layer. This is computed in
    full.

    Example: ptenmt inspect alignment "este modelo parece funcionar bem"

    Example: ptenmt inspect alignment --input test.pt --target-file test.en > test.align
    """
    from ptenmt.cli.charts import show
    from ptenmt.inspection.alignment import align_all, alignment_panel, find_alignment
    from ptenmt.inspection.inspector import Inspector

    _check(text, target, input_file, target_file, form, output)
    screen = Screen(quiet=quiet, verbose=verbose)
    chosen = _head(head)
    inspector = Inspector(
        run, checkpoint=checkpoint, on_warning=screen.warn, on_tensorflow=partial(load_tensorflow, screen)
    )
    if input_file is not None:
        targets = None if target_file is None else _lines(target_file)
        found = align_all(inspector, _lines(input_file), targets, layer=layer, head=chosen)
        _write(found, form or "pharaoh", screen)
        return
    only = find_alignment(inspector, str(text), target, layer=layer, head=chosen)
    if form in ("pharaoh", "json"):
        _write([only], form, screen)
    else:
        show([alignment_panel(only)], output, screen)


def _check(
    text: str | None,
    target: str | None,
    input_file: Path | None,
    target_file: Path | None,
    form: str | None,
    output: Path | None,
) -> None:
    """Refuse what does not go together."""
    if text is None and input_file is None:
        raise PtenmtError("nothing is given to align", "give a sentence, or a file of them with --input FILE")
    if text is not None and input_file is not None:
        raise PtenmtError("TEXT and --input exclude each other", "leave one of them out")
    wrong = {
        "--target": target is not None and text is None,
        "--target-file": target_file is not None and input_file is None,
        "--output": output is not None and (text is None or form in ("pharaoh", "json")),
        "--form grid": form == "grid" and text is None,
    }
    for name, is_wrong in wrong.items():
        if is_wrong:
            other = "--input" if name == "--target-file" else "TEXT, drawn as a grid"
            raise PtenmtError(f"{name} is for {other}", "lines of text go to standard output")


def _head(given: str | None) -> int | Literal["mean"]:
    chosen = chosen_head(given, "mean")
    if chosen == "all":
        raise PtenmtError("an alignment is one head's, or that of the mean over them", "give --head a number")
    return chosen


def _lines(file: Path) -> list[str]:
    """The lines of a file, some at least.

    Raises:
        DataError: It cannot be read, or is empty.
    """
    lines = list(read_lines(file))
    if not lines:
        raise DataError(f"{file} is empty", "give a file of a sentence a line")
    return lines


def _write(found: Iterable["WordAlignment"], form: str, screen: Screen) -> None:
    """Write a line an alignment on standard output, and say once whose attention it is."""
    with standard_output() as stream:
        for number, each in enumerate(found):
            if number == 0:
                screen.say(f"aligned by {each.attention}")
            stream.write((each.pharaoh if form == "pharaoh" else json_text(_facts(each))) + "\n")


def _facts(found: "WordAlignment") -> dict[str, Any]:
    """An alignment as ``--form json`` shows it."""
    return {
        "source_words": found.source_words,
        "target_words": found.target_words,
        "layer": found.layer,
        "heads": found.heads,
        "links": found.links,
        "weights": found.weights.round(4).tolist(),
    }
