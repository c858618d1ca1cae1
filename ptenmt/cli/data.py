"""``ptenmt download`` and ``data``: training pairs before a training."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ptenmt.cli.charts import print_tables
from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import ConfigName, Overrides
from ptenmt.config import DataConfig
from ptenmt.config.loading import load_config
from ptenmt.data.augmentation import share_with_quantities
from ptenmt.data.corpora import fetch_corpora
from ptenmt.data.corpus import fetch_data, fetch_sources, load_corpus
from ptenmt.data.sides import suspicions
from ptenmt.errors import ConfigError
from ptenmt.evaluation.report import check_report_file, write_data_report
from ptenmt.evaluation.tables import data_tables


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
) -> dict[str, Any]:
    """Show what the filters remove from each training file, with examples.

    With data.augment.quantities it also says which share of the pairs have quantities to draw again.

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
        corpus = load_corpus(settings.data, settings.seed)
        reports = corpus.reports
    print_tables(data_tables(reports))
    if settings.data.augment.quantities:
        share = share_with_quantities(corpus.train, settings.data)
        screen.say(f"data.augment.quantities changes {share:.1%} of the pairs for which it is drawn")
    if report is not None:
        write_data_report(reports, settings.data, report)
        screen.say(f"report: {report}")
    return {"files": list(map(asdict, reports))}


def _fetch(screen: Screen, data: DataConfig) -> None:
    """Download the pairs of a config, unless they are there."""
    if data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show:
        fetch_data(data, show)
