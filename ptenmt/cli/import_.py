"""``ptenmt import``."""

from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli.console import Screen
from ptenmt.cli.options import NewRun
from ptenmt.importing.run import import_model


def import_(
    screen: Screen,
    path: Annotated[Path, typer.Argument(metavar="FOLDER|ARCHIVE")],
    run: NewRun,
    source_language: Annotated[
        str | None, typer.Option(metavar="CODE", show_default="as the files say, else pt")
    ] = None,
    target_language: Annotated[
        str | None, typer.Option(metavar="CODE", show_default="as the files say, else en")
    ] = None,
    tag: Annotated[str, typer.Option(metavar="TAG", show_default=False)] = "",
    licence: Annotated[str, typer.Option(metavar="TEXT", show_default="as the files say")] = "",
) -> None:
    """Make a run of a model that another program trained, for everything that runs are for.

    Marian's and OPUS-MT's models, as OPUS-MT or Hugging Face has them; Argos packages; folders of CTranslate2
    with a SentencePiece model.

    Example: ptenmt import opus-mt-ROMANCE-en --run opus

    Args:
        path: The model's folder, or a zip archive such as an Argos package.
        source_language: The language that it translates from.
        target_language: The language that it translates into.
        tag: A token before every source that chooses the target language, such as '>>por<<'.
        licence: The licence of the weights.
    """
    imported = import_model(
        path, run, source_language=source_language, target_language=target_language, tag=tag, licence=licence
    )
    record = imported.record()
    assert record.imported_from is not None
    form, languages = record.imported_from["form"], " → ".join(imported.config().data.languages)
    stated = record.imported_from["licence"] or "not stated: look where the model comes from"
    screen.say(f"imported a model of {form}, {languages}, {record.parameters:,} parameters: {imported.path}")
    screen.say(f"licence: {stated}; translate with")
    screen.say_command(["ptenmt", "translate", "--run", str(run), "TEXT"])
