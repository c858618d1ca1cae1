"""``ptenmt download`` and ``data``: training pairs before a training."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import ConfigName, Overrides
from ptenmt.cli.tables import print_tables
from ptenmt.config.loading import load_config
from ptenmt.data.augmentation import share_with_quantities
from ptenmt.data.corpora import fetch_corpora
from ptenmt.data.corpus import fetch_data, fetch_sources, load_corpus
from ptenmt.data.filters import FilterReport
from ptenmt.errors import ConfigError
from ptenmt.inspection.figures import Table


def download(screen: Screen, config: ConfigName = "base.yaml", overrides: Overrides = None) -> None:
    """Download the data set, the public corpora and the tokenizer of a config, unless they are there already.

    Relevant options: data.source, data.dataset, data.data_dir, corpora in data.train, data.validation and
    data.test, tokenizer.kind and tokenizer.path.
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
    for facts in fetch_corpora(settings.data):
        screen.say(f"corpus {facts['name']}, licence: {facts['licence']}")


def data(screen: Screen, config: ConfigName, overrides: Overrides = None) -> dict[str, Any]:
    """Show what the filters remove from each training file, with examples.

    With data.augment.quantities it also says which share of the pairs have quantities to draw again.

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
    if settings.data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show:
        fetch_data(settings.data, show)
    with screen.working("reading and filtering the pairs"):
        corpus = load_corpus(settings.data, settings.seed)
    print_tables(data_tables(corpus.reports))
    if settings.data.augment.quantities:
        share = share_with_quantities(corpus.train, settings.data)
        screen.say(f"data.augment.quantities changes {share:.1%} of the pairs for which it is drawn")
    return {"files": list(map(asdict, corpus.reports))}


def data_tables(reports: Sequence[FilterReport]) -> list[Table]:
    """What is left of each training file, and of each filter what it removed, with examples."""
    total = FilterReport.total(reports)
    files, filters = [], []
    for report in [*reports, total] if len(reports) > 1 else reports:
        counts = (report.num_read, sum(report.num_removed.values()), report.num_left)
        share = f"{report.num_left / max(report.num_read, 1):.1%}"
        files.append((report.name, *(f"{count:,}" for count in counts), share))
    header = ("file", "pairs", "removed", "left", "share left")
    tables = [Table(title="Training files", header=header, rows=files, numbers=range(1, 5))]
    for name, pairs in total.examples.items():
        removed = {report.name: report.num_removed.get(name, 0) for report in reports}
        if any(removed.values()):
            removals = (f"{count:,} of {file}" for file, count in removed.items() if count)
            filters += [(name, ", ".join(removals)), *(("", " → ".join(pair)) for pair in pairs)]
    if filters:
        tables.append(Table(title="Removed", header=("filter", "pairs, with examples"), rows=filters))
    return tables
