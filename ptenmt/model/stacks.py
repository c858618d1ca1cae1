"""The two stacks of a Transformer: the encoder, which reads, and the decoder, which writes.

Letters and the masks' convention (True = may attend) as in attention.py.
"""

from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple, Self

import keras
from keras import ops

from ptenmt.config import ModelConfig
from ptenmt.model.attention import ExplicitMasks, causal_mask, padding_mask
from ptenmt.model.blocks import Cache, DecoderBlock, EncoderBlock
from ptenmt.model.building import build_once
from ptenmt.model.embedding import PositionalEmbedding, token_embedding
from ptenmt.model.sublayers import layer_norm


class DecoderState(NamedTuple):
    """What incremental decoding remembers. Every tensor has the batch as its first axis."""

    source_mask: Any
    """Which source tokens are real: boolean [B, 1, 1, S]."""
    memory: list[Cache]
    """A decoder block's cross-attention keys and values [B, H, S, K] each."""
    past: list[Cache]
    """A decoder block's self-attention keys and values [B, H, t, K] each, of the t tokens so far."""


class OfConfig:
    """What is made of a ``ModelConfig`` and of sizes, and can be made again of its own config."""

    config: ModelConfig
    sizes: ClassVar[tuple[str, ...]]
    """The names of the other arguments."""

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras; a shared table becomes one of its own."""
        own = {name: getattr(self, name) for name in self.sizes}
        return super().get_config() | {"config": asdict(self.config)} | own  # type: ignore[misc]

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Make it again."""
        return super().from_config(config | {"config": ModelConfig(**config["config"])})  # type: ignore[misc]


@keras.saving.register_keras_serializable(package="ptenmt")
class Encoder(OfConfig, ExplicitMasks):
    """Embedding and a stack of encoder blocks: ids [B, S] → memory [B, S, D].

    Args:
        config: Sizes and options.
        vocabulary_size: Of the source language.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    sizes = ("vocabulary_size",)

    def __init__(self, config: ModelConfig, vocabulary_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.vocabulary_size = vocabulary_size
        tied = config.tied_embeddings == "all"
        self.embedding = _embedding(config, vocabulary_size, tied, self.dtype_policy)
        self.blocks = [
            EncoderBlock(**_block_options(config), name=f"block{number}", dtype=self.dtype_policy)
            for number in range(1, config.num_layers + 1)
        ]
        self.norm = _final_norm(config, self.dtype_policy)

    def build(self, source_shape: Any) -> None:
        """Make the weights of all blocks."""
        hidden_shape = (*source_shape, self.config.d_model)
        build_once(self.embedding, source_shape)
        for block in self.blocks:
            build_once(block, hidden_shape)
        build_once(self.norm, hidden_shape)

    def call(self, source: Any, mask: Any = None, training: bool = False) -> Any:
        """Encode ids [B, S]; ``mask`` is broadcastable to [B, H, S, S]."""
        hidden = self.embedding(source, training=training)
        for block in self.blocks:
            hidden = block(hidden, mask=mask, training=training)
        return self.norm(hidden)

    def attention(self, source: Any, mask: Any = None) -> dict[str, Any]:
        """The weights [B, H, S, S] of every block, as ``encoder_layer1``, ``encoder_layer2`` and so on."""
        build_once(self, tuple(source.shape))
        hidden = self.embedding(source)
        weights = {}
        for number, block in enumerate(self.blocks, 1):
            weights[f"encoder_layer{number}"] = block.attention(hidden, mask)
            hidden = block(hidden, mask=mask)
        return weights


@keras.saving.register_keras_serializable(package="ptenmt")
class Decoder(OfConfig, ExplicitMasks):
    """Embedding and a stack of decoder blocks: ids [B, T] and a memory → [B, T, D].

    Args:
        config: Sizes and options.
        vocabulary_size: Of the target language.
        embedding: The layer that holds the table of words, if it is shared; by default one of its own.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    sizes = ("vocabulary_size",)

    def __init__(
        self, config: ModelConfig, vocabulary_size: int, *, embedding: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.vocabulary_size = vocabulary_size
        tied = config.tied_embeddings != "none"
        self.embedding = _embedding(config, vocabulary_size, tied, self.dtype_policy, embedding)
        self.blocks = [
            DecoderBlock(**_block_options(config), name=f"block{number}", dtype=self.dtype_policy)
            for number in range(1, config.num_layers + 1)
        ]
        self.norm = _final_norm(config, self.dtype_policy)

    def build(self, target_shape: Any, memory_shape: Any) -> None:
        """Make the weights of all blocks."""
        hidden_shape = (*target_shape, self.config.d_model)
        build_once(self.embedding, target_shape)
        for block in self.blocks:
            build_once(block, hidden_shape, memory_shape)
        build_once(self.norm, hidden_shape)

    def call(self, target: Any, memory: Any, cross_mask: Any = None, training: bool = False) -> Any:
        """Decode ids [B, T], each position from those before it and the memory [B, S, D].

        Args:
            target: Ids [B, T], 0 where padded.
            memory: [B, S, D].
            cross_mask: Which source tokens are real, broadcastable to [B, H, T, S].
            training: Whether dropout is on.
        """
        hidden = self.embedding(target, training=training)
        self_mask = decoder_mask(target)
        for block in self.blocks:
            hidden = block(hidden, memory, self_mask, cross_mask, training=training)
        return self.norm(hidden)

    def step(self, tokens: Any, state: DecoderState) -> tuple[Any, DecoderState]:
        """Decode one more token [B] a sentence -> [B, D], and the state that includes it."""
        build_once(self, (None, None), (None, None, self.config.d_model))
        position = ops.shape(state.past[0][0])[2]
        hidden = self.embedding(tokens[:, None], first_position=position)  # -> [B, 1, D]
        grown = []
        for block, past, memory in zip(self.blocks, state.past, state.memory, strict=True):
            hidden, past = block.step(hidden, past, memory, state.source_mask)
            grown.append(past)
        return self.norm(hidden)[:, 0], state._replace(past=grown)

    def attention(self, target: Any, memory: Any, cross_mask: Any = None) -> dict[str, Any]:
        """The weights of every block: ``decoder_layer{i}_block1`` [B, H, T, T], ``…_block2`` [B, H, T, S]."""
        build_once(self, tuple(target.shape), tuple(memory.shape))
        hidden = self.embedding(target)
        self_mask = decoder_mask(target)
        weights = {}
        for number, block in enumerate(self.blocks, 1):
            to_self, to_source = block.attention(hidden, memory, self_mask, cross_mask)
            weights[f"decoder_layer{number}_block1"] = to_self
            weights[f"decoder_layer{number}_block2"] = to_source
            hidden = block(hidden, memory, self_mask, cross_mask)
        return weights


def decoder_mask(target: Any) -> Any:
    """What each target position may attend to: itself and earlier real tokens. [B, T] -> [B, 1, T, T]."""
    return ops.logical_and(causal_mask(ops.shape(target)[1]), padding_mask(target))


def _embedding(
    config: ModelConfig, vocabulary_size: int, tied: bool, dtype: Any, shared: Any = None
) -> PositionalEmbedding:
    table = shared or token_embedding(vocabulary_size, config.d_model, tied=tied, dtype=dtype)
    return PositionalEmbedding(
        vocabulary_size,
        config.d_model,
        max_positions=config.max_positions,
        positions=config.positions,
        dropout=config.dropout,
        word_dropout=config.word_dropout,
        embedding=table,
        name="embedding",
        dtype=dtype,
    )


def _block_options(config: ModelConfig) -> dict[str, Any]:
    return {
        "d_model": config.d_model,
        "num_heads": config.num_heads,
        "d_ff": config.d_ff,
        "key_size": config.key_size,
        "value_size": config.value_size,
        "norm": config.norm,
        "activation": config.activation,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.activation_dropout,
    }


def _final_norm(config: ModelConfig, dtype: Any) -> keras.layers.Layer:
    """What a stack ends with: under pre-norm nothing else would normalise the sum of its blocks."""
    return layer_norm(dtype) if config.norm == "pre" else keras.layers.Identity(name="norm", dtype=dtype)
