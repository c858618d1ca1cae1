"""``ptenmt data``."""

from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import ConfigName, Overrides
from ptenmt.cli.tables import print_tables
from ptenmt.config.loading import load_config
from ptenmt.data.corpus import fetch_data, load_corpus
from ptenmt.errors import ConfigError
from ptenmt.evaluation.report import check_report_file, write_data_report
from ptenmt.evaluation.tables import data_tables


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
        report: Write what each filter removed from each file, with examples: .html, .md or .json.
    """
    options = load_config(config, overrides or [])
    if options.task != "translation":
        raise ConfigError(
            f"task={options.task} has no sentence pairs", "give the config of a translation model"
        )
    if report is not None:  # checked before the data are read, which may take long
        check_report_file(report)
    if options.data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show_download:
        fetch_data(options.data, show_download)
    with screen.working("reading and filtering the pairs"):
        reports = load_corpus(options.data, options.seed).reports
    print_tables(data_tables(reports))
    if report is not None:
        write_data_report(reports, options.data, report)
        screen.say(f"report: {report}")
