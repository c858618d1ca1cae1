"""The Transformer: an encoder that reads the source, a decoder that writes the target.

Letters and the masks' convention (True = may attend) as in attention.py.
"""

from typing import Any

import keras
from keras import ops

from ptenmt.config import ModelConfig
from ptenmt.model.attention import padding_mask
from ptenmt.model.building import build_once
from ptenmt.model.dense import Dense
from ptenmt.model.embedding import TiedProjection
from ptenmt.model.stacks import Decoder, DecoderState, Encoder, OfConfig


@keras.saving.register_keras_serializable(package="ptenmt")
class Transformer(OfConfig, keras.Model):
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

    sizes = ("source_vocabulary_size", "target_vocabulary_size")

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
        self.input_spec = [keras.layers.InputSpec(ndim=2) for _ in range(2)]
        self.config = config
        self.source_vocabulary_size = source_vocabulary_size
        self.target_vocabulary_size = target_vocabulary_size
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

    def build(self, inputs_shape: Any) -> None:
        """Make all weights."""
        source_shape, target_shape = inputs_shape
        width = self.config.d_model
        build_once(self.encoder, source_shape)
        build_once(self.decoder, target_shape, (*source_shape, width))
        build_once(self.final, (*target_shape, width))

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
        self.build_weights()
        source, target = inputs
        source_mask = padding_mask(source)
        memory = self.encoder(source, mask=source_mask, training=training)
        return self.decoder(target, memory, source_mask, training=training)

    def build_weights(self) -> None:
        """Create every weight now instead of at the first use."""
        build_once(self, ((None, None), (None, None)))

    def encode(self, source: Any) -> Any:
        """Read source ids [B, S] -> memory [B, S, D]."""
        self.build_weights()
        return self.encoder(source, mask=padding_mask(source))

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
        memory = self.encode(source)
        return self.encoder.attention(source, source_mask) | self.decoder.attention(
            target, memory, source_mask
        )
