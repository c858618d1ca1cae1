"""Which engine translates with a trained model."""

from typing import Literal

from ptenmt.config import Config
from ptenmt.ctranslate2_export import ctranslate2_model, why_not_ctranslate2
from ptenmt.tokenizers import UNK, forbidden
from ptenmt.trained_model import TrainedModel
from ptenmt.translation.engine import Engine

EngineName = Literal["auto", "ctranslate2", "keras"]


def uses_keras(name: EngineName, config: Config) -> bool:
    """Whether the Keras engine, and so TensorFlow, is loaded for this name and model."""
    return name == "keras" or (name == "auto" and bool(why_not_ctranslate2(config.model)))


def load_engine(
    trained: TrainedModel, name: EngineName = "auto", *, device: str = "cpu", threads: int | None = None
) -> Engine:
    """Load an engine.

    Args:
        trained: A model that translates.
        name: ``auto`` is CTranslate2, or Keras if CTranslate2 cannot express the model.
        device: What CTranslate2 computes on: ``cpu``, ``cuda`` or ``auto``.
        threads: How many batches CTranslate2 translates at a time; by default one per core.

    Raises:
        ExportError: CTranslate2 cannot express the model.
        CheckpointError: The weights cannot be read.
        ConfigError: This machine has no such device.
        PtenmtError: The Keras engine needs TensorFlow, which is not installed.
    """
    config, warn = trained.config, trained.on_warning
    never = forbidden(config.tokenizer)
    if uses_keras(name, config):
        if name == "auto":
            warn(f"{why_not_ctranslate2(config.model)}: the Keras engine translates, which is slower")
        if device != "cpu" or threads is not None:
            warn("device and threads are options of CTranslate2; the Keras engine uses what TensorFlow finds")
        model = trained.keras_model
        from ptenmt.translation.keras_engine import KerasEngine

        return KerasEngine(model, never)
    from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

    converted = ctranslate2_model(trained)
    engine = CTranslate2Engine(
        converted, trained.tokenizers, with_unknown=UNK not in never, device=device, threads=threads
    )
    if engine.compute_type != converted.quantization:
        warn(
            f"{device} cannot compute in {converted.quantization}, as the model is stored: "
            f"using {engine.compute_type}"
        )
    return engine
