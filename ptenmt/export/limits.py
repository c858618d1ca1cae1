"""What other engines cannot express."""

from ptenmt.config import Config, ModelConfig
from ptenmt.data.moses import JOINED_OTHERWISE, moses
from ptenmt.data.text import spacing
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


def is_joined(config: Config) -> bool:
    """Whether a run's model has words and punctuation apart, which people do not."""
    return config.tokenizer.kind != "sentencepiece" or spacing(config.data) != "none"


def why_not_written(config: Config) -> str:
    """Why a graph cannot write a run's translations as people do, in a sentence; empty if it can."""
    language = config.data.target_language
    if is_joined(config) and moses(language).language in JOINED_OTHERWISE:
        return f"Moses has rules of its own for joining {language}, which no graph has"
    return ""
