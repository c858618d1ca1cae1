"""``ptenmt corpora``."""

from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from ptenmt.cli.console import Screen
from ptenmt.cli.tables import print_table
from ptenmt.data.corpora import list_corpora
from ptenmt.errors import ConfigError
from ptenmt.inspection.figures import Table


def corpora(
    screen: Screen,
    languages: Annotated[str, typer.Option(metavar="L-L")] = "pt-en",
    search: Annotated[str, typer.Option(metavar="TEXT")] = "",
) -> None:
    """List the public corpora that a config can name, with version, source, licence and citation.

    In a config: data.train: [{corpus: OPUS-ted2020-v1-eng-por}, {corpus: …, limit: 300000}]. The list is
    mtdata's and needs no network. It has no sizes, and a licence only where ptenmt knows what the publisher
    states; check it before you distribute a model. Citations are keys of BibTeX entries, which stand in
    run.json and in the model card of an export.

    Example: ptenmt corpora --languages pt-en --search ted

    Args:
        languages: The two languages, in either order.
        search: Only names that contain this.
    """
    codes = languages.split("-")
    if len(codes) != 2:
        raise ConfigError(
            f"--languages {languages} must be two languages, such as pt-en",
            "write a region with an underscore, such as pt_BR-en",
        )
    with screen.working("loading the list of corpora…"):
        found = list_corpora(codes[0], codes[1], search)
    if not found:
        screen.say(f"no corpus of {languages}" + (f" has {search} in its name" if search else ""))
        return
    header = ("corpus", "version", "source", "licence", "citation")
    title = f"public corpora of {languages}: {len(found):,}"
    print_table(Table(title=title, header=header, rows=list(map(_row, found))))


def _row(corpus: dict[str, Any]) -> tuple[str, ...]:
    url = corpus["urls"][0]
    citations = ", ".join(corpus["citations"]) or "none"
    return corpus["name"], corpus["version"], urlsplit(url).hostname or url, corpus["licence"], citations
