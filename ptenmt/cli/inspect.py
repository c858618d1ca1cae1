"""``ptenmt inspect``: the commands that show what a model is and does."""

import typer

from ptenmt.cli.groups import MARKUP, LazyGroup

VIEWS = (
    "attention",
    "alignment",
    "probabilities",
    "tokens",
    "embeddings",
    "positions",
    "schedule",
    "history",
)
"""Each is a function of this name in the module ``inspect_`` and this name."""


class _Views(LazyGroup):
    modules = {view: f"ptenmt.cli.inspect_{view}" for view in VIEWS}


inspect = typer.Typer(
    name="inspect",
    cls=_Views,
    help="Look inside a model, before, while and after it learns.\n\n"
    "Each view is drawn in the terminal, or with --output as PNG, SVG or PDF.\n\n"
    "Example: ptenmt inspect positions --output positions.png",
    no_args_is_help=True,
    add_completion=False,
    **MARKUP,
)


@inspect.callback()
def _views() -> None:
    """Makes it a group, however few commands it has."""
