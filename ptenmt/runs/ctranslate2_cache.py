"""The cache in a run directory: the int8 model of the best weights for CTranslate2, with their checksum."""

import json
import logging
import zlib
from collections.abc import Mapping
from pathlib import Path

from ptenmt.atomic_files import folder_written_whole
from ptenmt.config.schema import SourceMarks
from ptenmt.model.ctranslate2_model import (
    DEFAULT_QUANTIZATION,
    VOCABULARY_MAP,
    CTranslate2Model,
    check_ctranslate2,
    convert,
)
from ptenmt.runs.trained_model import TrainedModel

logger = logging.getLogger(__name__)

_CACHE_FILE = "cache.json"
_CACHE_FORMAT = 1


def ctranslate2_model(trained: TrainedModel) -> CTranslate2Model:
    """Load a run's model for translating from the cache, or convert its weights and fill the cache.

    Raises ExportError if CTranslate2 cannot express the model, CheckpointError if its weights are damaged.
    """
    check_ctranslate2(trained.config.model)
    folder = trained.run.ctranslate2_folder
    cached = _read_cache(folder, trained.config.model.source_marks)
    layer, output_ids = trained.alignment_layer, trained.output_ids
    if (
        cached is not None
        and (cached.weights, cached.alignment_layer) == (trained.info.checksum, layer)
        and (VOCABULARY_MAP in cached.files) == (output_ids is not None)
    ):
        trained.is_settled = True
        return cached
    model = convert(
        trained.config.model,
        trained.weights,
        trained.tokenizers,
        trained.info.checksum,
        alignment_layer=layer,
        output_ids=output_ids,
    )
    if trained.info.file.stem != "latest":
        try:
            _write_cache(folder, model)
        except OSError as error:
            logger.info("cannot write %s, keeping the model in memory: %s", folder, error)
    return model


def _read_cache(folder: Path, source_marks: SourceMarks) -> CTranslate2Model | None:
    """The cached model, if it is whole; read first and then verified, as training may replace it."""
    try:
        facts = json.loads((folder / _CACHE_FILE).read_text(encoding="utf-8"))
        files = {name: (folder / name).read_bytes() for name in facts["files"]}
        if facts["format"] != _CACHE_FORMAT or facts["files"] != _checksums(files):
            return None
        return CTranslate2Model(
            weights=facts["weights"],
            quantization=DEFAULT_QUANTIZATION,
            alignment_layer=facts["alignment_layer"],
            source_marks=source_marks,
            files=files,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _write_cache(folder: Path, model: CTranslate2Model) -> None:
    facts = {
        "format": _CACHE_FORMAT,
        "weights": model.weights,
        "alignment_layer": model.alignment_layer,
        "files": _checksums(model.files),
    }
    with folder_written_whole(folder) as new:
        for name, content in model.files.items():
            (new / name).write_bytes(content)
        (new / _CACHE_FILE).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _checksums(files: Mapping[str, bytes]) -> dict[str, list[int]]:
    """Size and CRC-32 of each file."""
    return {name: [len(content), zlib.crc32(content)] for name, content in files.items()}
