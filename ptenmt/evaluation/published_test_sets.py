"""Published test sets by name, such as ``mtedx/test``: sacreBLEU's catalogue and downloads."""

import logging
import shutil
import tarfile
import warnings
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import URLError

from ptenmt.config import DataConfig
from ptenmt.errors import ConfigError, DownloadError, OutputError, did_you_mean
from ptenmt.scoring.test_set import EvaluationFiles

_BROKEN = (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile, SystemExit)
"""What sacreBLEU raises if it cannot reach a set, or if the file is damaged (exit: another MD5)."""


def list_test_sets(data: DataConfig) -> dict[str, str]:
    """The names and descriptions of all test sets from the source into the target language of a config."""
    from sacrebleu import DATASETS as known

    pair = "-".join(data.languages)
    return {name: each.description or "" for name, each in known.items() if pair in each.langpairs}


def with_test_set(files: EvaluationFiles, data: DataConfig) -> EvaluationFiles:
    """Add the source and references of ``files.test_set``, downloaded to sacreBLEU's folder (``$SACREBLEU``).

    Raises ConfigError if there is no such test set in the languages of ``data``; DownloadError; OutputError.
    """
    import sacrebleu

    name, pair = str(files.test_set), "-".join(data.languages)
    hint = "list the sets of this pair: ptenmt evaluate --test-set list"
    if name not in sacrebleu.DATASETS:
        nearest = did_you_mean(name, [*list_test_sets(data), *sacrebleu.DATASETS], cutoff=0)
        raise ConfigError(f"sacreBLEU has no test set {name}{nearest}", hint)
    dataset = sacrebleu.DATASETS[name]
    if pair not in dataset.langpairs:
        raise ConfigError(f"test set {name} is not in {pair}, only in {', '.join(dataset.langpairs)}", hint)
    logging.getLogger("sacrebleu").addHandler(logging.NullHandler())  # the error says the same
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tarfile's, about filters
            found = _files(dataset, pair)
            if len({file.read_bytes().count(b"\n") for file in found}) > 1:
                for file in found:  # a process that was killed left half of one
                    file.unlink()
                found = _files(dataset, pair)
    except _BROKEN as error:
        # sacreBLEU would take the rest of a broken download for a whole one.
        shutil.rmtree(Path(sacrebleu.SACREBLEU_DIR) / name / "raw", ignore_errors=True)
        if isinstance(error, OSError) and error.filename and not isinstance(error, URLError):
            raise OutputError(
                f"cannot write {error.filename}: {error.strerror}",
                "set $SACREBLEU to a folder that can be written",
            ) from error
        reason = "wrong checksum" if isinstance(error, SystemExit) else str(error)
        raise DownloadError(
            f"cannot fetch test set {name} from {' '.join(dataset.data or [])}: {reason}",
            f"check the network, or copy {Path(sacrebleu.SACREBLEU_DIR) / name} from a machine that has it",
        ) from error
    source, *references = found
    return replace(files, source=source, references=references)


def _files(dataset: Any, pair: str) -> list[Path]:
    """The file of the sources, then those of the references, made unless they are there."""
    return [Path(dataset.get_source_file(pair)), *map(Path, dataset.get_reference_files(pair))]
