"""``ptenmt complete``."""

from typing import Annotated

import typer

from ptenmt.atomic_files import NOTHING
from ptenmt.cli.console import Screen, standard_output
from ptenmt.cli.options import Quiet, RunName, Verbose, WhichWeights
from ptenmt.cli.tables import Grid, print_grid
from ptenmt.cli.writing import shown_perplexity
from ptenmt.config import DecodingConfig
from ptenmt.config.schema import MIN_TEMPERATURE, NUM_SEEDS
from ptenmt.runs import Choice, Run, find_run
from ptenmt.tokenizers import SPECIAL_PIECES

_SHOWN_WORDS = 5
_LEAST_TOP_P = 1e-6


def complete(
    text: Annotated[str, typer.Argument(help="The beginning of a text.")],
    top_k: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="K", help="Show the K likeliest next words.", show_default="5 without --words"
        ),
    ] = None,
    words: Annotated[int | None, typer.Option(min=1, metavar="N", help="Go on with N words.")] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            min=MIN_TEMPERATURE,
            metavar="T",
            help="Draw the words of --words by lot: below 1 the likely become likelier, above 1 less so.",
            show_default="the likeliest word each time",
        ),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            min=_LEAST_TOP_P,
            max=1,
            metavar="P",
            help="Draw from the likeliest words whose probabilities reach P together.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=NUM_SEEDS - 1,
            metavar="N",
            help="The number that what is drawn by lot follows from.",
            show_default="0",
        ),
    ] = None,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Say which words may come next in a text, or go on with it.

    For runs that were trained with task: next-word. Of a longer text than the model's window, the last words
    count. A word that the model has never seen is read as unknown, and that is said.

    Example: ptenmt complete "a daisy chain would be worth the trouble of getting up"

    Example: ptenmt complete "once upon a time" --words 20 --temperature 0.8 --top-p 0.9
    """
    from ptenmt.completion import Completer

    screen = Screen(quiet=quiet, verbose=verbose)
    how = _how(words, temperature, top_p, seed)
    found = find_run(run)
    completer = Completer.load(found, screen.warn, checkpoint)
    if remark := completer.read(text).remark:
        screen.warn(remark)
    known = completer.tokenizer.vocabulary_size - len(SPECIAL_PIECES)
    screen.say(f"{found.name} knows {known:,} words{_quality(found, checkpoint)}")
    if top_k is not None or words is None:
        likely = completer.next_words(text, top_k or _SHOWN_WORDS)
        rows = [(each.word, f"{each.probability:.4f}") for each in likely]
        print_grid(Grid(title=text, header=("next word", "probability"), rows=rows, numbers=frozenset({1})))
    if words is not None:
        with standard_output() as stream:
            stream.write(f"{text} {completer.complete(text, words, how)}\n")


def _quality(run: Run, checkpoint: Choice) -> str:
    """What the best weights were worth; of the latest nobody can tell, and so nothing is told."""
    from ptenmt.completion import held_out_loss

    shown = shown_perplexity(held_out_loss(run) if checkpoint == "best" else None)
    if shown == NOTHING:
        return ""
    return f"; perplexity {shown} on the text that was held out, unknown words apart"


def _how(
    words: int | None, temperature: float | None, top_p: float | None, seed: int | None
) -> DecodingConfig:
    """How words are chosen, checked as the section decoding is.

    Raises:
        BadParameter: An option would have no effect.
    """
    for name, value in {"--temperature": temperature, "--top-p": top_p, "--seed": seed}.items():
        if words is None and value is not None:
            raise typer.BadParameter("how words are drawn is of no use without --words", param_hint=name)
    if temperature is None and top_p is None:
        if seed is not None:
            raise typer.BadParameter(
                "nothing is drawn by lot without --temperature or --top-p", param_hint="--seed"
            )
        return DecodingConfig(beam_size=1)
    return DecodingConfig(
        beam_size=1,
        top_k=0,
        seed=seed or 0,
        temperature=1.0 if temperature is None else temperature,
        top_p=1.0 if top_p is None else top_p,
    )
