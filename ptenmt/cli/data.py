"""``ptenmt download`` and ``data``: training pairs before a training."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ptenmt.cli.charts import print_tables
from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import ConfigName, Overrides
from ptenmt.config import DataConfig
from ptenmt.config.loading import load_config
from ptenmt.data.corpora import fetch_corpora
from ptenmt.data.corpus import fetch_data, fetch_sources, load_corpus
from ptenmt.data.filters import FilterReport
from ptenmt.errors import ConfigError
from ptenmt.inspection.figures import Table


def download(
    screen: Screen,
    config: ConfigName = "base.yaml",
    overrides: Overrides = None,
) -> None:
    """Download the data set, the public corpora and the tokenizer of a config, unless they are there already.

    Relevant options: data.source, data.dataset, data.data_dir, data.archive_url (a mirror), corpora in
    data.train, data.validation and data.test, tokenizer.kind, tokenizer.path and tokenizer.url (a mirror).
    Interrupted downloads resume. Proxies are taken from the environment (HTTPS_PROXY).

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
        screen.say(f"corpus {facts['name']}: licence: {facts['licence']}")
    if settings.data.source != "tfds" and tokenizer.kind != "wordpiece" and not corpora:
        screen.say(f"{config} needs nothing from the network")


def data(
    screen: Screen,
    config: ConfigName,
    overrides: Overrides = None,
) -> dict[str, Any]:
    """Show what the filters remove from each training file, with examples.

    The filters are options of data.filters; sentences of the validation and test pairs are removed in any
    case. The prepared pairs are cached for the training (data.cache_dir).

    Example: ptenmt data --config files.yaml

    Example: ptenmt data --config mine.yaml --set data.filters.right_language=true
    """
    settings = load_config(config, overrides or [])
    if settings.task != "translation":
        raise ConfigError(
            f"task={settings.task} has no sentence pairs", "give the config of a translation model"
        )
    _fetch(screen, settings.data)
    with screen.working("reading and filtering the pairs"):
        reports = load_corpus(settings.data, settings.seed).reports
    print_tables(data_tables(reports))
    return {"files": list(map(asdict, reports))}


def _fetch(screen: Screen, data: DataConfig) -> None:
    """Download the pairs of a config, unless they are there."""
    if data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show:
        fetch_data(data, show)


def data_tables(reports: Sequence[FilterReport]) -> list[Table]:
    """What is left of each training file, what each filter removed from it, and examples."""
    examples = [
        Table(
            title=f"{name}: examples",
            rows=[row for pair in pairs for row in zip(("source", "target"), pair, strict=True)],
        )
        for name, pairs in FilterReport.total(reports).examples.items()
        if pairs
    ]
    return [files_table(reports), *([filters_table(reports)] if examples else []), *examples]


def files_table(reports: Sequence[FilterReport]) -> Table:
    """How many pairs were read from each training file, and how many are trained on."""
    rows = []
    for report in [*reports, FilterReport.total(reports)] if len(reports) > 1 else reports:
        counts = (report.num_read, sum(report.num_removed.values()), report.num_left)
        share = f"{report.num_left / max(report.num_read, 1):.1%}"
        rows.append((report.name, *(f"{count:,}" for count in counts), share))
    header = ("file", "pairs", "removed", "left", "share left")
    return Table(title="Training files", header=header, rows=rows, numbers={1, 2, 3, 4})


def filters_table(reports: Sequence[FilterReport]) -> Table:
    """How many pairs each filter removed from each training file."""
    rows = [
        (name, report.name, f"{count:,}", f"{count / report.num_read:.2%}")
        for name in FilterReport.total(reports).num_removed
        for report in reports
        if (count := report.num_removed.get(name, 0))
    ]
    header = ("filter", "file", "pairs", "share")
    return Table(title="Removed by filter", header=header, rows=rows, numbers={2, 3})
