"""``ptenmt complete``."""

from typing import Annotated

import typer

from ptenmt.cli.console import Screen, shown_perplexity, standard_output
from ptenmt.cli.options import DecodingOverrides, RunName, WhichWeights, as_text, chosen_decoding
from ptenmt.cli.tables import print_table
from ptenmt.config import DecodingConfig
from ptenmt.errors import ConfigError
from ptenmt.inspection.figures import Table
from ptenmt.runs import NOTHING, Run, find_run
from ptenmt.tokenizers import SPECIAL_PIECES
from ptenmt.translation.completion import Completer, held_out_loss

_SHOWN_WORDS = 5


def complete(
    screen: Screen,
    text: Annotated[str, typer.Argument(metavar="TEXT", callback=as_text)],
    top_k: Annotated[int | None, typer.Option(min=1, metavar="K", show_default="5 without --words")] = None,
    words: Annotated[int | None, typer.Option(min=1, metavar="N")] = None,
    overrides: DecodingOverrides = None,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
) -> None:
    """Predict the next word of a text, or continue it.

    For runs trained with task: next-word. If the text is longer than the model's context window, its last
    words count. Words that the model has never seen are read as unknown, with a warning. The likeliest word
    is generated each time, unless --set says how to sample.

    Example: ptenmt complete "a daisy chain would be worth the trouble of getting up"

    Example: ptenmt complete "once upon a time" --words 20 --set decoding.top_k=10

    Args:
        text: The start of a text.
        top_k: Show the K most probable next words.
        words: Generate N words.
    """
    if overrides and words is None:
        raise ConfigError("--set says how to sample words", "give their number: --words N")
    how = chosen_decoding(DecodingConfig(beam_size=1), overrides)
    chosen = find_run(run, "next-word")
    completer = Completer.load(chosen, screen.warn, checkpoint)
    if warning := completer.read(text).warning:
        screen.warn(warning)
    screen.say(_described(chosen, completer, held_out_loss(chosen) if checkpoint == "best" else None))
    if top_k is not None or words is None:
        likely = completer.next_words(text, top_k or _SHOWN_WORDS)
        rows = [(each.word, f"{each.probability:.4f}") for each in likely]
        print_table(Table(title=text, header=("next word", "probability"), rows=rows, numbers={1}))
    if words is not None:
        with standard_output() as stream:
            stream.write(f"{text} {completer.complete(text, words, how)}\n")


def _described(run: Run, completer: Completer, loss: float | None) -> str:
    """A run in a line, with the perplexity of its held-out loss, if there is one."""
    shown = shown_perplexity(loss)
    quality = "" if shown == NOTHING else f"; perplexity {shown} on held-out text, unknown words excluded"
    num_words = completer.tokenizer.vocabulary_size - len(SPECIAL_PIECES)
    date = run.facts({"trained"})["trained"][:10]
    return f"{run.name}, trained {date}: vocabulary of {num_words:,} words{quality}"
