"""The Transformer as a functional model: token ids in, logits out, one ``.keras`` file."""

from typing import Any

import keras

from ptenmt.config import ModelConfig
from ptenmt.model.transformer import Transformer


def functional_transformer(
    config: ModelConfig,
    source_vocabulary_size: int,
    target_vocabulary_size: int | None = None,
    *,
    name: str = "transformer",
    **kwargs: Any,
) -> keras.Model:
    """Build a functional model, which ``keras.saving`` writes into one file and reads back.

    Its inputs are integers ``inputs`` [B, S] and ``dec_inputs`` [B, T], its output logits [B, T, V]. The
    masks are derived from the ids, of which 0 is padding.

    Args:
        config: Sizes and options.
        source_vocabulary_size: Ids of the source language.
        target_vocabulary_size: Ids of the target language; by default as many as the source's. The tables of
            words are two all the same, unless ``config.tied_embeddings`` is ``all``.
        name: The model's.
        **kwargs: ``dtype``, as for any Keras model.
    """
    size = source_vocabulary_size if target_vocabulary_size is None else target_vocabulary_size
    transformer = Transformer(config, source_vocabulary_size, size, name="layers", **kwargs)
    source = keras.Input((None,), dtype="int64", name="inputs")
    target = keras.Input((None,), dtype="int64", name="dec_inputs")
    return keras.Model([source, target], transformer((source, target)), name=name)
