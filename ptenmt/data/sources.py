"""Fetching what a config names: its data set and its tokenizer."""

from dataclasses import replace

from ptenmt.config import Config, TokenizerConfig
from ptenmt.data.download import OnProgress
from ptenmt.data.tfds_source import prepare_tfds
from ptenmt.data.tokenizer_source import published_tokenizer


def fetch_sources(config: Config, on_progress: OnProgress | None = None) -> TokenizerConfig:
    """Download whatever the config names and this machine lacks.

    Args:
        config: The options; only ``data.source: tfds`` and ``tokenizer.kind: wordpiece`` need anything.
        on_progress: Told about each download.

    Returns:
        The tokenizer's options, with ``path`` set to where the published tokenizer lies.

    Raises:
        DownloadError: A file cannot be fetched, verified or unpacked.
        DataError: The data set is unknown or cannot be prepared.
        TokenizerError: ``tokenizer.path`` holds no tokenizer.
    """
    options = config.tokenizer
    if options.kind == "wordpiece":
        folder = published_tokenizer(
            options.url, options.path, sha256=options.sha256, on_progress=on_progress
        )
        options = replace(options, path=str(folder))
    if config.data.source == "tfds":
        prepare_tfds(config.data.dataset, config.data.data_dir, config.data.archive_url, on_progress)
    return options
