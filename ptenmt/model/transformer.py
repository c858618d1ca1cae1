"""The Transformer: an encoder that reads the source, a decoder that writes the target.

Letters and the masks' convention (True = may attend) as in attention.py.
"""

from dataclasses import asdict
from typing import Any, NamedTuple

import keras
from keras import ops

from ptenmt.config import ModelConfig
from ptenmt.model.attention import causal_mask, padding_mask
from ptenmt.model.blocks import Cache, DecoderBlock, EncoderBlock
from ptenmt.model.dense import Dense
from ptenmt.model.embedding import PositionalEmbedding, TiedProjection, token_embedding
from ptenmt.model.sublayers import layer_norm


class DecoderState(NamedTuple):
    """What incremental decoding remembers. Every tensor has the batch as its first axis."""

    source_mask: Any
    """Which source tokens are real: boolean [B, 1, 1, S]."""
    memory: list[Cache]
    """A decoder block's cross-attention keys and values [B, H, S, K] each."""
    past: list[Cache]
    """A decoder block's self-attention keys and values [B, H, t, K] each, of the t tokens so far."""


class Encoder(keras.layers.Layer):
    """Embedding and a stack of encoder blocks: ids [B, S] → memory [B, S, D].

    Args:
        config: Sizes and options.
        vocabulary_size: Of the source language.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    def __init__(self, config: ModelConfig, vocabulary_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        tied = config.tied_embeddings == "all"
        self.embedding = _embedding(config, vocabulary_size, tied, self.dtype_policy)
        self.blocks = [
            EncoderBlock(**_block_options(config), name=f"block{number}", dtype=self.dtype_policy)
            for number in range(1, config.num_layers + 1)
        ]
        self.norm = _final_norm(config, self.dtype_policy)

    def call(self, source: Any, mask: Any = None, training: bool = False) -> Any:
        """Encode ids [B, S]; ``mask`` is broadcastable to [B, H, S, S]."""
        hidden = self.embedding(source, training=training)
        for block in self.blocks:
            hidden = block(hidden, mask, training=training)
        return self.norm(hidden)

    def attention(self, source: Any, mask: Any) -> dict[str, Any]:
        """The weights [B, H, S, S] of every block, as ``encoder_layer1``, ``encoder_layer2`` and so on."""
        hidden = self.embedding(source)
        weights = {}
        for number, block in enumerate(self.blocks, 1):
            weights[f"encoder_layer{number}"] = block.attention(hidden, mask)
            hidden = block(hidden, mask)
        return weights


class Decoder(keras.layers.Layer):
    """Embedding and a stack of decoder blocks: ids [B, T] and a memory → [B, T, D].

    Args:
        config: Sizes and options.
        vocabulary_size: Of the target language.
        embedding: The layer that holds the table of words, if it is shared; by default one of its own.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    def __init__(
        self, config: ModelConfig, vocabulary_size: int, *, embedding: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        tied = config.tied_embeddings != "none"
        self.embedding = _embedding(config, vocabulary_size, tied, self.dtype_policy, embedding)
        self.blocks = [
            DecoderBlock(**_block_options(config), name=f"block{number}", dtype=self.dtype_policy)
            for number in range(1, config.num_layers + 1)
        ]
        self.norm = _final_norm(config, self.dtype_policy)

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
        position = ops.shape(state.past[0][0])[2]
        hidden = self.embedding(tokens[:, None], first_position=position)  # -> [B, 1, D]
        grown = []
        for block, past, memory in zip(self.blocks, state.past, state.memory, strict=True):
            hidden, past = block.step(hidden, past, memory, state.source_mask)
            grown.append(past)
        return self.norm(hidden)[:, 0], state._replace(past=grown)

    def attention(self, target: Any, memory: Any, cross_mask: Any) -> dict[str, Any]:
        """The weights of every block: ``decoder_layer{i}_block1`` [B, H, T, T], ``…_block2`` [B, H, T, S]."""
        hidden = self.embedding(target)
        self_mask = decoder_mask(target)
        weights = {}
        for number, block in enumerate(self.blocks, 1):
            to_self, to_source = block.attention(hidden, memory, self_mask, cross_mask)
            weights[f"decoder_layer{number}_block1"] = to_self
            weights[f"decoder_layer{number}_block2"] = to_source
            hidden = block(hidden, memory, self_mask, cross_mask)
        return weights


class Transformer(keras.Model):
    """The encoder–decoder Transformer of Vaswani et al. 2017, from token ids to logits.

    Id 0 is padding on both sides; the masks are derived from the ids.

    Args:
        config: Sizes and options.
        source_vocabulary_size: Ids of the source language.
        target_vocabulary_size: Ids of the target language.
        name: The first part of every weight's path.
        **kwargs: ``dtype``, as for any Keras model.

    Raises:
        ValueError: All embeddings are to be tied, but the vocabularies differ in size.
    """

    def __init__(
        self,
        config: ModelConfig,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        *,
        name: str = "transformer",
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.config = config
        sizes = source_vocabulary_size, target_vocabulary_size
        if config.tied_embeddings == "all" and sizes[0] != sizes[1]:
            raise ValueError(
                f"tied_embeddings=all needs one vocabulary, not two of {sizes[0]} and {sizes[1]}"
            )
        self.encoder = Encoder(config, sizes[0], name="encoder", dtype=self.dtype_policy)
        shared = self.encoder.embedding.embedding if config.tied_embeddings == "all" else None
        self.decoder = Decoder(config, sizes[1], embedding=shared, name="decoder", dtype=self.dtype_policy)
        if config.tied_embeddings == "none":
            self.final = Dense(sizes[1], name="final", dtype=self.dtype_policy)
        else:
            table = self.decoder.embedding.embedding
            self.final = TiedProjection(table, name="final", dtype=self.dtype_policy)

    def call(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """Predict the next token at every target position, given the right ones before it.

        Args:
            inputs: Source ids [B, S] and decoder input ids [B, T].
            training: Whether dropout is on.

        Returns:
            Logits [B, T, V].
        """
        return self.final(self.hidden(inputs, training=training))

    def hidden(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """What ``final`` makes the logits of (see ``call``): the decoder's output [B, T, D]."""
        source, target = inputs
        source_mask = padding_mask(source)
        memory = self.encoder(source, source_mask, training=training)
        return self.decoder(target, memory, source_mask, training=training)

    def build_weights(self) -> None:
        """Create every weight now instead of at the first call."""
        self((ops.ones((1, 2), dtype="int64"), ops.ones((1, 2), dtype="int64")))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        sizes = self.encoder.embedding.vocabulary_size, self.decoder.embedding.vocabulary_size
        return super().get_config() | {
            "config": asdict(self.config),
            "source_vocabulary_size": sizes[0],
            "target_vocabulary_size": sizes[1],
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> "Transformer":  # noqa: ARG003
        """Make the model that ``get_config`` tells of, with all of its weights."""
        model = cls(**config | {"config": ModelConfig(**config["config"])})
        model.build_weights()
        return model

    def encode(self, source: Any) -> Any:
        """Read source ids [B, S] -> memory [B, S, D]."""
        return self.encoder(source, padding_mask(source))

    def start(self, source: Any) -> DecoderState:
        """Read source ids [B, S] and return the state from which ``decode_step`` goes on."""
        memory = self.encode(source)
        caches = [block.cross_attention.keys_and_values(memory) for block in self.decoder.blocks]
        # No token yet: slices of length 0 have the right batch, heads, widths and dtype.
        past = [(ops.zeros_like(keys[:, :, :0]), ops.zeros_like(values[:, :, :0])) for keys, values in caches]
        return DecoderState(padding_mask(source), caches, past)

    def decode_step(self, tokens: Any, state: DecoderState) -> tuple[Any, DecoderState]:
        """Feed one token a sentence.

        Args:
            tokens: Ids [B], none of them padding.
            state: From ``start`` or the step before.

        Returns:
            Logits [B, V] of the token after it, and the new state.
        """
        hidden, state = self.decoder.step(tokens, state)
        return self.final(hidden), state

    def attention(self, source: Any, target: Any) -> dict[str, Any]:
        """Who attends to whom while the target is read behind the source.

        Args:
            source: Ids [B, S].
            target: Decoder input ids [B, T].

        Returns:
            float32 weights by name: ``encoder_layer{i}`` [B, H, S, S], ``decoder_layer{i}_block1``
            [B, H, T, T] (self) and ``decoder_layer{i}_block2`` [B, H, T, S] (cross), i from 1.
        """
        source_mask = padding_mask(source)
        memory = self.encoder(source, source_mask)
        return self.encoder.attention(source, source_mask) | self.decoder.attention(
            target, memory, source_mask
        )


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
