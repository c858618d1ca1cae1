"""A run's weights as they are, for who computes with them without TensorFlow: safetensors, in float32.

A folder with ``model.safetensors``, whose arrays have the Keras paths of the variables as names, and
``weights.json``, which says what model they make. Anything that reads safetensors can use them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptenmt.config import ModelConfig
from ptenmt.errors import ConfigError
from ptenmt.export.folders import Export, ExportFacts, Form, states

if TYPE_CHECKING:
    import numpy as np

_FILE = "model.safetensors"


@dataclass(frozen=True, kw_only=True)
class WeightsFacts(ExportFacts):
    """What ``weights.json`` says."""

    model: ModelConfig
    """Sizes and options of the model."""


def _facts(*, model: Mapping[str, object], **others: object) -> WeightsFacts:
    try:
        return WeightsFacts(model=ModelConfig(**model), **others)  # type: ignore[arg-type]
    except ConfigError as error:
        raise ValueError(error.message) from error


WeightsExport = Export[WeightsFacts]
WEIGHTS = Form(
    name="weights",
    facts_file="weights.json",
    model_files=frozenset({_FILE}),
    companions=frozenset({"model.keras", "model.weights.h5", "config.yaml", "tokenizer"}),
    facts=_facts,
)


def make_weights(config: ModelConfig, weights: Mapping[str, "np.ndarray"], origin: str) -> WeightsExport:
    """Bring a model's weights into the form of safetensors.

    Args:
        config: Sizes and options of the model.
        weights: Arrays by the Keras path of their variable: ``transformer/encoder/block1/…/kernel``.
        origin: Which weights these are, as ``weights.json`` is to say it.
    """
    import numpy as np
    from safetensors.numpy import save

    arrays = {path: np.ascontiguousarray(array, dtype=np.float32) for path, array in sorted(weights.items())}
    files = {_FILE: save(arrays)}
    return Export(WeightsFacts(weights=origin, model=config, files=states(files)), files)


def arrays_of(export: WeightsExport) -> dict[str, "np.ndarray"]:
    """The weights: float32 arrays by Keras path."""
    from safetensors.numpy import load

    arrays: dict[str, np.ndarray] = load(export.files[_FILE])
    return arrays
