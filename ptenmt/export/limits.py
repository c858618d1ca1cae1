"""What other engines cannot express."""

from ptenmt.config import ModelConfig
from ptenmt.errors import ExportError


def why_not_ctranslate2(config: ModelConfig) -> str:
    """Why CTranslate2 cannot express a model, in a sentence; empty if it can."""
    even = config.d_model // config.num_heads
    key_size, value_size = config.key_size or even, config.value_size or even
    if key_size != value_size:
        return (
            "CTranslate2 has one width for a head's keys and values, and this model has two "
            f"(model.key_size={key_size}, model.value_size={value_size})"
        )
    if config.positions == "none":
        return "CTranslate2 tells every token where it stands, and this model does not (model.positions=none)"
    return ""


def check_ctranslate2(config: ModelConfig) -> None:
    """Refuse a model that CTranslate2 cannot express.

    Raises:
        ExportError: It says why.
    """
    if reason := why_not_ctranslate2(config):
        raise ExportError(reason, "translate with the engine keras")
