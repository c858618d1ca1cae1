"""``ptenmt corpora``, ``download`` and ``data``: training pairs before a training."""

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from ptenmt.cli.charts import print_table, print_tables
from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import ConfigName, Overrides
from ptenmt.config import DataConfig
from ptenmt.config.loading import load_config
from ptenmt.data.corpora import fetch_corpora, list_corpora
from ptenmt.data.corpus import fetch_data, fetch_sources, load_corpus
from ptenmt.data.sides import suspicions
from ptenmt.errors import ConfigError
from ptenmt.evaluation.report import check_report_file, write_data_report
from ptenmt.evaluation.tables import data_tables
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
        listed = list_corpora(codes[0], codes[1], search)
    if not listed:
        screen.say(f"no corpus of {languages}" + (f" has {search} in its name" if search else ""))
        return
    header = ("corpus", "version", "source", "licence", "citation")
    title = f"public corpora of {languages}: {len(listed):,}"
    print_table(Table(title=title, header=header, rows=list(map(_row, listed))))


def _row(corpus: dict[str, Any]) -> tuple[str, ...]:
    url = corpus["urls"][0]
    citations = ", ".join(corpus["citations"]) or "none"
    return corpus["name"], corpus["version"], urlsplit(url).hostname or url, corpus["licence"], citations


def download(
    screen: Screen,
    config: ConfigName = "base.yaml",
    overrides: Overrides = None,
) -> None:
    """Download the data set, the public corpora and the tokenizer of a config, unless they are there already.

    Relevant options: data.source, data.dataset, data.data_dir, data.archive_url (a mirror), corpora in
    data.train, data.validation and data.test, tokenizer.kind, tokenizer.path, tokenizer.url (a mirror) and
    tokenizer.sha256. Interrupted downloads resume. Proxies are taken from the environment (HTTPS_PROXY).

    Example: ptenmt download --config base.yaml --set data.data_dir=tfds

    Example: ptenmt download --config opus.yaml
    """
    settings = load_config(config, overrides or [])
    if settings.data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show:
        tokenizer = fetch_sources(settings, show)
    if settings.data.source == "tfds":
        screen.say(f"data set {settings.data.dataset}: ready")
    if tokenizer.kind == "wordpiece":
        screen.say(f"tokenizer: {tokenizer.path}")
    corpora = fetch_corpora(settings.data)
    for facts in corpora:
        screen.say(f"corpus {facts['name']}: {facts['pairs']:,} pairs, licence: {facts['licence']}")
    if settings.data.source != "tfds" and tokenizer.kind != "wordpiece" and not corpora:
        screen.say(f"{config} needs nothing from the network")


def data(
    screen: Screen,
    config: ConfigName,
    overrides: Overrides = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
) -> None:
    """Show what the filters remove from each training file, with examples.

    The filters are options of data.filters; sentences of the validation and test pairs are removed in any
    case. The prepared pairs are cached for the training (data.cache_dir).

    Example: ptenmt data --config files.yaml --report data.html

    Example: ptenmt data --config mine.yaml --set data.filters.right_language=true

    Args:
        report: Write what each filter removed from each file, with examples: .html or .json.
    """
    settings = load_config(config, overrides or [])
    if settings.task != "translation":
        raise ConfigError(
            f"task={settings.task} has no sentence pairs", "give the config of a translation model"
        )
    if report is not None:  # checked before the data are read, which may take long
        check_report_file(report)
    _fetch(screen, settings.data)
    with screen.working("reading and filtering the pairs"):
        for suspicion in suspicions(settings.data):
            screen.warn(suspicion)
        reports = load_corpus(settings.data, settings.seed).reports
    print_tables(data_tables(reports))
    if report is not None:
        write_data_report(reports, settings.data, report)
        screen.say(f"report: {report}")


def _fetch(screen: Screen, data: DataConfig) -> None:
    """Download the pairs of a config, unless they are there."""
    if data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show:
        fetch_data(data, show)
