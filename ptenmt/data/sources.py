"""Download what a config names: its TFDS dataset and the published tokenizer.

TFDS reads an archive from ``<data_dir>/downloads/manual`` if it has the name in its checksums registry:
our own downloader (resumable, with mirrors) puts it there, and TFDS never uses the network.
"""

import contextlib
import difflib
import io
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from ptenmt.config import Config, TokenizerConfig
from ptenmt.data.download import OnProgress, fetch, is_complete, unpack_zip
from ptenmt.errors import DataError, DownloadError, TokenizerError
from ptenmt.processes import exclusive

_VOCABULARY = "assets/pt_vocab.txt"
_READ_BATCH = 1024  # pairs; one by one takes four times as long


def fetch_sources(config: Config, on_progress: OnProgress | None = None) -> TokenizerConfig:
    """Download the dataset and tokenizer of a config, unless they are on this machine.

    Args:
        config: Only ``data.source: tfds`` and ``tokenizer.kind: wordpiece`` need downloads.
        on_progress: Called with the state of each download.

    Returns:
        The tokenizer's options, with ``path`` set to the folder of the published tokenizer.

    Raises:
        DownloadError: A file cannot be fetched, verified or unpacked.
        DataError: The dataset is unknown or cannot be prepared.
        TokenizerError: ``tokenizer.path`` contains no tokenizer.
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


def published_tokenizer(
    url: str, path: str | None, *, sha256: str | None = None, on_progress: OnProgress | None = None
) -> Path:
    """Find or download the published tokenizer: a SavedModel, of which the vocabularies are read.

    Args:
        url: The zip archive that contains it.
        path: A folder on this machine that contains it; None uses the user's cache, filled from ``url``.
        sha256: The archive's checksum in hexadecimal; None accepts any content.
        on_progress: Called with the state of the download.

    Returns:
        The folder with ``assets/``, where the vocabularies are.

    Raises:
        TokenizerError: ``path`` contains no tokenizer.
        DownloadError: The archive cannot be fetched or unpacked, or contains no tokenizer.
    """
    if path is not None:
        given = _tokenizer_below(Path(path).expanduser())
        if given is None:
            raise TokenizerError(
                f"no tokenizer in {path}: {_VOCABULARY} is missing",
                hint="set tokenizer.path to the unpacked folder, or leave it out to download the tokenizer",
            )
        return given
    cache = platformdirs.user_cache_path("ptenmt")
    folder = cache / PurePosixPath(urlsplit(url).path).name.removesuffix(".zip")
    archive = folder.with_name(f"{folder.name}.zip")
    found = _tokenizer_below(folder)
    if found and sha256 is None:
        return found
    try:
        with exclusive(folder.with_name(f"{folder.name}.lock")):
            found = _tokenizer_below(folder)
            if found is None or (sha256 is not None and not is_complete(archive, sha256)):
                fetch(url, archive, sha256=sha256, on_progress=on_progress)
                found = _unpacked_tokenizer(archive, folder)
            return found
    except OSError as error:
        raise DownloadError(
            f"cannot write {error.filename or cache}: {error.strerror or error}",
            hint="unpack the tokenizer by hand and set tokenizer.path to its folder",
        ) from error


def _tokenizer_below(folder: Path) -> Path | None:
    """``folder`` itself, or the one below it that the published archive contains."""
    found = sorted([*folder.glob(_VOCABULARY), *folder.glob(f"*/{_VOCABULARY}")])
    return found[0].parents[1] if found else None


def _unpacked_tokenizer(archive: Path, folder: Path) -> Path:
    try:
        unpack_zip(archive, folder)
        found = _tokenizer_below(folder)
        if found is None:
            shutil.rmtree(folder)
            raise DownloadError(
                f"{archive} contains no tokenizer: {_VOCABULARY} is missing", hint="check tokenizer.url"
            )
    except DownloadError:
        archive.unlink(missing_ok=True)  # or the next run would find the same bad file
        raise
    return found


def prepare_tfds(
    dataset: str, data_dir: str | None, archive_url: str | None, on_progress: OnProgress | None = None
) -> None:
    """Fetch and prepare a dataset, unless it is prepared already.

    Args:
        dataset: ``name/config`` in TFDS, such as ``ted_hrlr_translate/pt_to_en`` or its reverse ``en_to_pt``.
        data_dir: The TFDS folder; None is TFDS's default.
        archive_url: A mirror of the archive; None is the address in TFDS. The checksum is TFDS's either way.
        on_progress: Called with the state of the download.

    Raises:
        DataError: TFDS has no such pairs, or cannot prepare them.
        DownloadError: The archive cannot be fetched.
    """
    builder, _ = _builder(dataset, data_dir)
    if builder.data_path.exists():
        return
    if len(builder.url_infos or {}) != 1:
        raise DataError(
            f"ptenmt cannot fetch {dataset}: it is not made of one archive",
            hint=f"prepare it with TFDS itself: tfds build {dataset} --data_dir {builder.data_dir_root}",
        )
    import tensorflow as tf
    import tensorflow_datasets as tfds
    from tensorflow_datasets.core.download.extractor import ExtractError

    ((url, info),) = builder.url_infos.items()
    archive = Path(builder.data_dir_root) / "downloads" / "manual" / info.filename
    fetch(archive_url or url, archive, sha256=info.checksum, on_progress=on_progress)
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

    Args:
        dataset: ``name/config``, as for :func:`prepare_tfds`; a reverse direction has its sides swapped.
        data_dir: The TFDS folder; None is TFDS's default.
        split: ``train``, ``validation``, ``test``, or a TFDS slice such as ``train[:10%]``.

    Yields:
        Pairs of source and target sentence.

    Raises:
        DataError: TFDS has no such pairs or split, or they are not prepared.
    """
    builder, swapped = _prepared_builder(dataset, data_dir)
    import tensorflow as tf
    import tensorflow_datasets as tfds

    # TFDS would cache small datasets in memory, and warn that a limit leaves the cache half filled.
    config = tfds.ReadConfig(try_autocache=False)
    try:
        data = builder.as_dataset(split=split, as_supervised=True, read_config=config)
        for sources, targets in data.batch(_READ_BATCH).as_numpy_iterator():
            for source, target in zip(sources, targets, strict=True):
                pair = source.decode(), target.decode()
                yield pair[::-1] if swapped else pair
    except (ValueError, tf.errors.OpError) as error:
        raise DataError(
            f"cannot read {split} of {dataset} in {builder.data_dir_root}: {error}",
            hint=f"check the split's name; if files are damaged, delete {builder.data_path} and fetch again",
        ) from error


def tfds_files(dataset: str, data_dir: str | None) -> list[Path]:
    """The files of a prepared dataset.

    Raises:
        DataError: TFDS has no such pairs, or they are not prepared.
    """
    builder, _ = _prepared_builder(dataset, data_dir)
    return sorted(path for path in Path(builder.data_path).iterdir() if path.is_file())


def _prepared_builder(dataset: str, data_dir: str | None) -> tuple[Any, bool]:
    builder, swapped = _builder(dataset, data_dir)
    if builder.data_path.exists():
        return builder, swapped
    raise DataError(
        f"{dataset} is not prepared in {builder.data_dir_root}",
        hint="fetch it first with the config you use: ptenmt download --config base.yaml",
    )


def _builder(dataset: str, data_dir: str | None) -> tuple[Any, bool]:
    """The TFDS builder of the pairs, and whether their sides have to be swapped."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow_datasets as tfds

    name, _, config = dataset.partition("/")
    names = tfds.list_builders(with_community_datasets=False)
    if name not in names:
        raise _unknown(dataset, [f"{known}/{config}" if config else known for known in names])
    configs = tfds.builder_cls(name).builder_configs or {"": None}
    reverse = _reverse(config)
    swapped = config not in configs and reverse in configs
    if config not in configs and not swapped:
        raise _unknown(dataset, [f"{name}/{known}" for pair in configs for known in (pair, _reverse(pair))])
    builder = tfds.builder(name, config=(reverse if swapped else config) or None, data_dir=data_dir)
    if not isinstance(builder.info.features, tfds.features.Translation):
        raise DataError(f"{dataset} has no sentence pairs", hint="choose a translation dataset of TFDS")
    return builder, swapped


def _reverse(config: str) -> str:
    return "_to_".join(reversed(config.split("_to_")))


def _unknown(dataset: str, known: list[str]) -> DataError:
    close = difflib.get_close_matches(dataset, known, n=1, cutoff=0.5)
    suggestion = f" — did you mean {close[0]}?" if close else ""
    return DataError(
        f"TensorFlow Datasets has no {dataset}{suggestion}",
        hint="data.dataset is name/config, such as ted_hrlr_translate/pt_to_en",
    )
