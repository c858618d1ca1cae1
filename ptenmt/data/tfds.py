"""The sentence pairs of TED in TensorFlow Datasets (TFDS), fetched with our own resumable downloader.

TFDS reads an archive from ``<data_dir>/downloads/manual`` if it has the name in its checksums registry: the
archive is put there, and TFDS never uses the network. This module imports TensorFlow.
"""

import contextlib
import io
import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ptenmt.data.download import WEB_ARCHIVE, fetch
from ptenmt.errors import DataError, DownloadError, OnDownload, did_you_mean
from ptenmt.processes import load_tensorflow

load_tensorflow()

import tensorflow as tf  # noqa: E402
import tensorflow_datasets as tfds  # noqa: E402
from tensorflow_datasets.core.download.extractor import ExtractError  # noqa: E402

logger = logging.getLogger(__name__)

_NAME = "ted_hrlr_translate"
_READ_BATCH = 1024  # pairs; one by one takes four times as long


def prepare_tfds(dataset: str, data_dir: str | None, on_progress: OnDownload | None = None) -> None:
    """Fetch and prepare a dataset of TED's, such as ``ted_hrlr_translate/pt_to_en``, unless it is prepared.

    ``data_dir`` None is TFDS's default. The archive comes from TFDS's address or, if that fails, from the
    web archive. It has TFDS's checksum.

    Raises:
        DataError: TFDS has no such pairs, or cannot prepare them.
        DownloadError: The archive cannot be fetched.
        OutputError: They cannot be written.
    """
    builder = _builder(dataset, data_dir)
    if builder.data_path.exists():
        return
    ((url, info),) = builder.url_infos.items()
    archive = Path(builder.data_dir_root) / "downloads" / "manual" / info.filename
    fetch_from = partial(fetch, destination=archive, sha256=info.checksum, on_progress=on_progress)
    try:
        fetch_from(url)
    except DownloadError as error:
        logger.warning("%s; trying the web archive", error.message)
        fetch_from(WEB_ARCHIVE + url)
    tfds.disable_progress_bar()
    config = tfds.download.DownloadConfig(try_download_gcs=False)
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # TFDS prints there; ours is for results
            builder.download_and_prepare(download_config=config)
    except (OSError, tf.errors.OpError, ExtractError) as error:
        raise DataError(
            f"cannot prepare {dataset} in {builder.data_dir_root}: {error}",
            hint="make room or fix the permissions there, or set data.data_dir to another folder",
        ) from error


def read_tfds(dataset: str, data_dir: str | None, split: str) -> Iterator[tuple[str, str]]:
    """Read sentence pairs of a prepared dataset, in the order of its files.

    ``split`` may be a TFDS slice such as ``train[:10%]``. Raises DataError if TFDS has no such pairs or
    split, or they are not prepared.
    """
    builder = _prepared_builder(dataset, data_dir)
    # TFDS would cache small datasets in memory, and warn that a limit leaves the cache half filled.
    config = tfds.ReadConfig(try_autocache=False)
    try:
        data = builder.as_dataset(split=split, as_supervised=True, read_config=config)
        for sources, targets in data.batch(_READ_BATCH).as_numpy_iterator():
            for source, target in zip(sources, targets, strict=True):
                yield source.decode(), target.decode()
    except (ValueError, tf.errors.OpError) as error:
        raise DataError(
            f"cannot read {split} of {dataset} in {builder.data_dir_root}: {error}",
            hint=f"check the split's name; if files are damaged, delete {builder.data_path} and fetch again",
        ) from error


def tfds_files(dataset: str, data_dir: str | None) -> list[Path]:
    """The files of a prepared dataset; DataError if TFDS has no such pairs, or they are not prepared."""
    folder = Path(_prepared_builder(dataset, data_dir).data_path)
    return sorted(path for path in folder.iterdir() if path.is_file())


def _prepared_builder(dataset: str, data_dir: str | None) -> Any:
    builder = _builder(dataset, data_dir)
    if builder.data_path.exists():
        return builder
    raise DataError(
        f"{dataset} is not prepared in {builder.data_dir_root}",
        hint="fetch it first with the config you use: ptenmt download --config base.yaml",
    )


def _builder(dataset: str, data_dir: str | None) -> Any:
    known = [f"{_NAME}/{config}" for config in tfds.builder_cls(_NAME).builder_configs]
    if dataset not in known:
        raise DataError(
            f"ptenmt has no {dataset} of TensorFlow Datasets{did_you_mean(dataset, known)}",
            hint="data.dataset is one of TED's pairs, such as ted_hrlr_translate/pt_to_en; for the other "
            "direction set data.reverse; other data sets are read as .tsv files, by data.path",
        )
    return tfds.builder(dataset, data_dir=data_dir)
