"""Exports for CTranslate2, the production engine: made, written whole, and told apart from damaged ones.

An export is a folder with CTranslate2's own files and ``export.json``, which says what was exported and what
the files are like. It is read into memory and checked there, so that what was checked is what translates,
whatever happens to the folder meanwhile. Reading one needs neither TensorFlow nor Keras.
"""

import contextlib
import json
import tempfile
import time
import zlib
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ptenmt.config import ModelConfig
from ptenmt.errors import ExportError, OutputError
from ptenmt.export.formats import Quantization
from ptenmt.writing import folder_written_whole

if TYPE_CHECKING:
    from ptenmt.export.specification import Weights
    from ptenmt.tokenizers import TokenizerPair

FACTS_FILE = "export.json"
_FORMAT = 1
_MODEL_FILES = frozenset(
    {
        "config.json",
        "model.bin",
        "shared_vocabulary.json",
        "source_vocabulary.json",
        "target_vocabulary.json",
    }
)
_SECONDS_BETWEEN_READS = (0.001, 0.003, 0.01, 0.03)
_BY_EXACTNESS = (
    "int8",
    "int8_float32",
    "int8_float16",
    "int8_bfloat16",
    "int16",
    "float16",
    "bfloat16",
    "float32",
)


class NoExportError(ExportError):
    """There is no export."""


@dataclass(frozen=True, kw_only=True)
class ExportFacts:
    """What ``export.json`` says."""

    format: int
    weights: str
    """Which weights were exported, such as ``weights-1200:5f3ca701``, a name and a checksum."""
    quantization: Quantization
    files: dict[str, tuple[int, int]]
    """Size and CRC-32 of each file."""


@dataclass(frozen=True)
class Export:
    """An export in memory."""

    facts: ExportFacts
    files: dict[str, bytes]
    """CTranslate2's own files by name."""

    @property
    def num_bytes(self) -> int:
        """The size of all files together."""
        return sum(map(len, self.files.values()))


def make_export(
    config: ModelConfig,
    weights: "Weights",
    tokenizers: "TokenizerPair",
    origin: str,
    quantization: Quantization = "int8",
) -> Export:
    """Bring a model into CTranslate2's form.

    Args:
        config: Sizes and options of the model.
        weights: All of its weights.
        tokenizers: Of both languages.
        origin: Which weights these are, as ``export.json`` is to say it.
        quantization: How they are stored.

    Raises:
        ExportError: CTranslate2 cannot express the model.
        OutputError: There is no room for temporary files.
    """
    from ptenmt.export.specification import specification

    spec = specification(config, weights, tokenizers)
    spec.validate()
    spec.optimize(quantization)
    try:
        with tempfile.TemporaryDirectory(prefix="ptenmt-") as folder:  # it saves into files only
            spec.save(folder)
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
    except OSError as error:
        raise OutputError(f"cannot write into {tempfile.gettempdir()}: {error.strerror or error}") from error
    states = {name: _state(content) for name, content in files.items()}
    return Export(ExportFacts(format=_FORMAT, weights=origin, quantization=quantization, files=states), files)


def write_export(folder: Path, export: Export) -> None:
    """Write an export, wholly or not at all; the one that stood there before is replaced.

    Args:
        folder: Of the export; its parents are made.
        export: What to write.

    Raises:
        OutputError: The folder cannot be written, or it is something else than an export.
    """
    try:
        _check_replaceable(folder)
        with folder_written_whole(folder) as new:
            for name, content in export.files.items():
                (new / name).write_bytes(content)
            facts = json.dumps(asdict(export.facts), indent=2) + "\n"
            (new / FACTS_FILE).write_text(facts, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}") from error


def read_export(folder: Path) -> Export:
    """Read an export, and make sure that it is what was written.

    While another process replaces it, there may be none for a moment, or files of both are read: so what is
    not as it should be is looked at again.

    Raises:
        NoExportError: There is none.
        ExportError: It is damaged, or of another format.
    """
    for seconds in _SECONDS_BETWEEN_READS:
        with contextlib.suppress(ExportError):
            return _read(folder)
        time.sleep(seconds)
    return _read(folder)


def nearest_quantization(wanted: str, supported: Collection[str]) -> str:
    """The type to compute in where a processor cannot do what was asked for: the next more exact one."""
    more_exact = _BY_EXACTNESS[_BY_EXACTNESS.index(wanted) :]
    return next((each for each in more_exact if each in supported), "float32")


def _check_replaceable(folder: Path) -> None:
    """Refuse to replace what is no export."""
    hint = "choose another folder with --output"
    try:
        found = {file.name for file in folder.iterdir()} - {".DS_Store"}  # which macOS puts everywhere
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise OutputError(f"{folder} is a file, or below one", hint) from error
    if others := found - _MODEL_FILES - {FACTS_FILE}:
        raise OutputError(f"{folder} holds what is no part of an export: {min(others)}", hint)


def _read(folder: Path) -> Export:
    try:
        text = (folder / FACTS_FILE).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoExportError(f"there is no export in {folder}") from error
    except (OSError, ValueError) as error:
        raise ExportError(f"the export in {folder} is damaged: {error}") from error
    try:
        facts = _facts(json.loads(text))
        files = {name: (folder / name).read_bytes() for name in facts.files}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{Path(error.filename).name} is missing" if isinstance(error, FileNotFoundError) else error
        raise ExportError(f"the export in {folder} is damaged: {reason}") from error
    for name, content in files.items():
        if _state(content) != facts.files[name]:
            raise ExportError(f"the export in {folder} is damaged: {name} is not what was written")
    return Export(facts, files)


def _facts(found: Any) -> ExportFacts:
    """What was read from ``export.json``, checked."""
    if found["format"] != _FORMAT:
        raise ValueError(f"it has format {found['format']}, and this ptenmt reads format {_FORMAT}")
    files = {name: (int(size), int(checksum)) for name, (size, checksum) in found["files"].items()}
    facts = ExportFacts(**found | {"files": files})
    if not (files.keys() <= _MODEL_FILES and facts.quantization in get_args(Quantization)):
        raise ValueError(f"{FACTS_FILE} names {', '.join(files)} in {facts.quantization}")
    return facts


def _state(content: bytes) -> tuple[int, int]:
    return len(content), zlib.crc32(content)
