"""Exports for CTranslate2, the production engine: a folder with its own files and ``export.json``."""

import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from ptenmt.config import ModelConfig
from ptenmt.errors import OutputError
from ptenmt.export.folders import Export, ExportFacts, Form, states
from ptenmt.export.formats import Quantization

if TYPE_CHECKING:
    from ptenmt.export.specification import Weights
    from ptenmt.tokenizers import TokenizerPair

_BY_EXACTNESS = (
    "int8",
    "int8_bfloat16",
    "int8_float16",
    "int8_float32",
    "bfloat16",
    "float16",
    "int16",
    "float32",
)
"""By the bits of a weight, then of what is computed with it: 7, 8, 11, 15 and 24."""


@dataclass(frozen=True, kw_only=True)
class CTranslate2Facts(ExportFacts):
    """What ``export.json`` says."""

    quantization: Quantization

    def __post_init__(self) -> None:
        if self.quantization not in get_args(Quantization):
            raise ValueError(f"its quantization is {self.quantization}")


CTranslate2Export = Export[CTranslate2Facts]
CTRANSLATE2 = Form(
    name="ctranslate2",
    facts_file="export.json",
    model_files=frozenset(
        {
            "config.json",
            "model.bin",
            "shared_vocabulary.json",
            "source_vocabulary.json",
            "target_vocabulary.json",
        }
    ),
    facts=CTranslate2Facts,
)


def make_export(
    config: ModelConfig,
    weights: "Weights",
    tokenizers: "TokenizerPair",
    origin: str,
    quantization: Quantization = "int8",
    *,
    adds_marks: bool = False,
) -> CTranslate2Export:
    """Bring a model into CTranslate2's form.

    Args:
        config: Sizes and options of the model.
        weights: All of its weights.
        tokenizers: Of both languages.
        origin: Which weights these are, as ``export.json`` is to say it.
        quantization: How they are stored.
        adds_marks: Whether the export puts [START] and [END] around a source by itself, for those who hand
            it bare pieces. ptenmt's engine hands it all of them.

    Raises:
        ExportError: CTranslate2 cannot express the model.
        OutputError: There is no room for temporary files.
    """
    from ptenmt.export.specification import specification

    spec = specification(config, weights, tokenizers)
    spec.config.add_source_bos = spec.config.add_source_eos = adds_marks
    spec.validate()
    spec.optimize(quantization)
    try:
        with tempfile.TemporaryDirectory(prefix="ptenmt-") as folder:  # it saves into files only
            spec.save(folder)
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
    except OSError as error:
        raise OutputError(f"cannot write into {tempfile.gettempdir()}: {error.strerror or error}") from error
    return Export(CTranslate2Facts(weights=origin, quantization=quantization, files=states(files)), files)


def nearest_quantization(wanted: str, supported: Collection[str]) -> str:
    """The type to compute in where a processor cannot do what was asked for: the next more exact one."""
    more_exact = _BY_EXACTNESS[_BY_EXACTNESS.index(wanted) :]
    return next((each for each in more_exact if each in supported), "float32")
