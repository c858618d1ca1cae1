"""``ptenmt complete``."""

from functools import partial
from typing import Annotated

import typer

from ptenmt.cli.console import Screen, load_tensorflow, standard_output
from ptenmt.cli.options import Quiet, RunName, Verbose, WhichWeights
from ptenmt.cli.tables import Grid, print_grid
from ptenmt.config import DecodingConfig
from ptenmt.runs import find_run

_SHOWN_WORDS = 5


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
            metavar="T",
            help="Draw the words of --words by lot: below 1 the likely become likelier, above 1 less so.",
            show_default="the likeliest word each time",
        ),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(metavar="P", help="Draw from the likeliest words whose probabilities reach P together."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The number that what is drawn follows from.")] = 0,
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
    from ptenmt.completion import Completer, held_out_perplexity

    screen = Screen(quiet=quiet, verbose=verbose)
    how = _how(temperature, top_p, seed)
    found = find_run(run)
    completer = Completer.load(found, screen.warn, checkpoint, on_tensorflow=partial(load_tensorflow, screen))
    if unknown := completer.unknown(text):
        screen.warn(f"the model has never seen: {', '.join(dict.fromkeys(unknown))}")
    perplexity = held_out_perplexity(found)
    if perplexity is not None:
        known = f"{completer.tokenizer.vocabulary_size:,} words"
        screen.say(f"{found.name} knows {known}; perplexity {perplexity:,.1f} on the text that was held out")
    if top_k is not None or words is None:
        likely = completer.next_words(text, top_k or _SHOWN_WORDS)
        rows = [(each.word, f"{each.probability:.4f}") for each in likely]
        print_grid(Grid(title=text, header=("next word", "probability"), rows=rows, numbers=frozenset({1})))
    if words is not None:
        with standard_output() as stream:
            stream.write(f"{text} {completer.complete(text, words, how)}\n")


def _how(temperature: float | None, top_p: float | None, seed: int) -> DecodingConfig:
    """How words are chosen, checked as the section decoding is."""
    if temperature is None and top_p is None:
        return DecodingConfig(beam_size=1, seed=seed)
    return DecodingConfig(
        beam_size=1,
        top_k=0,
        seed=seed,
        temperature=1.0 if temperature is None else temperature,
        top_p=1.0 if top_p is None else top_p,
    )
