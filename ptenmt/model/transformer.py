"""The Transformer (Vaswani et al. 2017, section 3): blocks, the two stacks of them, and the models.

Letters in shape comments and the convention of masks (True = may attend) as in layers.py. Blocks and stacks
take a ``ModelConfig``, which holds all sizes but the vocabulary's, and the arguments of any Keras layer.
"""

from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple, Self

import keras
from keras import ops

from ptenmt.config import ModelConfig
from ptenmt.model.layers import (
    AddAndNorm,
    Dense,
    FeedForward,
    KeysAndValues,
    MultiHeadAttention,
    PositionalEmbedding,
    TiedProjection,
    decoder_mask,
    layer_norm,
    padding_mask,
)
from ptenmt.tokenizers import END, PAD


class FromConfig:
    """A layer or model made from a ``ModelConfig`` and vocabulary sizes, as Keras saves and loads it."""

    config: ModelConfig
    sizes: ClassVar[tuple[str, ...]] = ()
    """Names of the constructor's other arguments."""

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        sizes = {name: getattr(self, name) for name in self.sizes}
        return super().get_config() | {"config": asdict(self.config)} | sizes  # type: ignore[misc]

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Make a layer from the result of ``get_config``."""
        return super().from_config(config | {"config": ModelConfig(**config["config"])})  # type: ignore[misc]


class _Block(FromConfig, keras.layers.Layer):
    """The sub-layers that encoder and decoder blocks have in common."""

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.self_attention = self._attention("self_attention")
        self.self_attention_norm = self._add_and_norm("self_attention_norm")
        self.feed_forward = FeedForward(
            config.d_model,
            config.d_ff,
            activation=config.activation,
            dropout=config.activation_dropout,
            name="feed_forward",
            dtype=self.dtype_policy,
        )
        self.feed_forward_norm = self._add_and_norm("feed_forward_norm")

    def build(self, inputs_shape: Any) -> None:
        """Build the sub-layers."""
        self.input_spec = keras.layers.InputSpec(ndim=3, axes={-1: self.config.d_model})
        self.self_attention.build(inputs_shape)
        self.self_attention_norm.build(inputs_shape)
        self.feed_forward.build(inputs_shape)
        self.feed_forward_norm.build(inputs_shape)

    def _attention(self, name: str) -> MultiHeadAttention:
        return MultiHeadAttention(
            self.config.d_model,
            self.config.num_heads,
            key_size=self.config.key_size,
            value_size=self.config.value_size,
            dropout=self.config.attention_dropout,
            name=name,
            dtype=self.dtype_policy,
        )

    def _add_and_norm(self, name: str) -> AddAndNorm:
        config = self.config
        return AddAndNorm(
            config.dropout, norm=config.norm, epsilon=config.norm_epsilon, name=name, dtype=self.dtype_policy
        )


@keras.saving.register_keras_serializable(package="ptenmt")
class EncoderBlock(_Block):
    """Self-attention, then a feed-forward layer."""

    def call(self, inputs: Any, attention_mask: Any = None) -> Any:
        """Map [B, S, D] to [B, S, D]; the mask is broadcastable to [B, H, S, S]."""

        def attend(y: Any) -> Any:
            return self.self_attention.attend(y, *self.self_attention.keys_and_values(y), attention_mask)[0]

        # Post-norm: x = norm(x + dropout(sublayer(x))); pre-norm: x = x + dropout(sublayer(norm(x))).
        x = self.self_attention_norm(inputs, sublayer=attend)
        return self.feed_forward_norm(x, sublayer=self.feed_forward)


@keras.saving.register_keras_serializable(package="ptenmt")
class DecoderBlock(_Block):
    """Masked self-attention, cross-attention to the encoder's output, then a feed-forward layer."""

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        self.cross_attention = self._attention("cross_attention")
        self.cross_attention_norm = self._add_and_norm("cross_attention_norm")

    def build(self, inputs_shape: Any, memory_shape: Any) -> None:  # type: ignore[override]
        """Build the sub-layers."""
        super().build(inputs_shape)
        self.cross_attention.build(inputs_shape, memory_shape)
        self.cross_attention_norm.build(inputs_shape)

    def call(self, inputs: Any, memory: Any, self_mask: Any = None, cross_mask: Any = None) -> Any:
        """Map targets [B, T, D] and the encoder's output, the memory [B, S, D], to [B, T, D].

        ``self_mask`` is broadcastable to [B, H, T, T]: causal, and no padding; ``cross_mask`` to
        [B, H, T, S]: the padding of the *source*.
        """
        memory = self.cross_attention.keys_and_values(memory)
        return self.forward(inputs, memory, self_mask, cross_mask)[0]

    def forward(
        self,
        x: Any,
        memory: KeysAndValues,
        self_mask: Any = None,
        cross_mask: Any = None,
        past: KeysAndValues | None = None,
    ) -> tuple[Any, KeysAndValues]:
        """Compute the output for all positions, or only for new positions after the cached ones in ``past``.

        Args:
            x: [B, T, D].
            memory: Keys and values [B, H, S, K] that the cross-attention made of the encoder's output.
            self_mask: As for ``call``.
            cross_mask: As for ``call``.
            past: KV cache [B, H, t, K] of the self-attention for earlier positions.

        Returns:
            The output [B, T, D], and ``past`` with the positions of ``x`` appended.
        """

        def attend_to_target(y: Any) -> Any:
            present = self.self_attention.keys_and_values(y, past=past)
            return self.self_attention.attend(y, *present, self_mask)[0], present

        def attend_to_source(y: Any) -> Any:
            return self.cross_attention.attend(y, *memory, cross_mask)[0]

        # Post-norm: x = norm(x + dropout(sublayer(x))); pre-norm: x = x + dropout(sublayer(norm(x))).
        x, present = self.self_attention_norm(x, sublayer=attend_to_target)
        x = self.cross_attention_norm(x, sublayer=attend_to_source)
        return self.feed_forward_norm(x, sublayer=self.feed_forward), present


class _Stack(FromConfig, keras.layers.Layer):
    """Embeddings, blocks, and under pre-norm a final layer norm for the sum of their residuals."""

    sizes = ("vocabulary_size",)

    def __init__(
        self,
        config: ModelConfig,
        vocabulary_size: int,
        block: type[_Block],
        num_blocks: int,
        *,
        tied: bool,
        embedding: keras.layers.Embedding | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.vocabulary_size = vocabulary_size
        dtype = self.dtype_policy
        self.embedding = PositionalEmbedding(
            vocabulary_size,
            config.d_model,
            max_positions=config.max_positions,
            positions=config.positions,
            dropout=config.dropout,
            word_dropout=config.word_dropout,
            tied=tied,
            embedding=embedding,
            name="embedding",
            dtype=dtype,
        )
        numbers = range(1, num_blocks + 1)
        self.blocks: list[Any] = [block(config, name=f"block{i}", dtype=dtype) for i in numbers]
        self.norm = keras.layers.Identity(name="norm", dtype=dtype)
        if config.norm == "pre":
            self.norm = layer_norm(config.norm_epsilon, dtype)

    def build(self, ids_shape: Any, *memory_shape: Any) -> None:
        """Build all layers."""
        hidden_shape = (*ids_shape, self.config.d_model)
        self.embedding.build(ids_shape)
        for block in self.blocks:
            block.build(hidden_shape, *memory_shape)
        self.norm.build(hidden_shape)


@keras.saving.register_keras_serializable(package="ptenmt")
class Encoder(_Stack):
    """Embeddings and encoder blocks: source ids [B, S] -> memory [B, S, D]."""

    def __init__(self, config: ModelConfig, vocabulary_size: int, **kwargs: Any) -> None:
        tied, num_blocks = config.tied_embeddings == "all", config.num_encoder_layers
        super().__init__(config, vocabulary_size, EncoderBlock, num_blocks, tied=tied, **kwargs)

    def call(self, source: Any, attention_mask: Any = None) -> Any:
        """Encode ids [B, S] -> [B, S, D]; the mask is broadcastable to [B, H, S, S]."""
        x = self.embedding(source)
        for block in self.blocks:
            x = block.call(x, attention_mask)  # a block's own checks would take a second to trace
        return self.norm(x)


class DecoderState(NamedTuple):
    """KV cache of incremental decoding. The first axis of every tensor is the batch."""

    source_mask: Any
    """Padding mask of the source: boolean [B, 1, 1, S]."""
    memory: list[KeysAndValues]
    """Cross-attention keys and values [B, H, S, K] of every decoder block."""
    past: list[KeysAndValues]
    """Self-attention keys and values [B, H, t, K] of every decoder block, of the t tokens so far."""


@keras.saving.register_keras_serializable(package="ptenmt")
class Decoder(_Stack):
    """Embeddings and decoder blocks: target ids [B, T] and a memory -> [B, T, D].

    ``embedding`` is the layer with the embedding matrix to share; by default a new one.
    """

    def __init__(
        self, config: ModelConfig, vocabulary_size: int, *, embedding: Any = None, **kwargs: Any
    ) -> None:
        tied, num_blocks = config.tied_embeddings != "none", config.num_decoder_layers
        super().__init__(
            config, vocabulary_size, DecoderBlock, num_blocks, tied=tied, embedding=embedding, **kwargs
        )

    def build(self, target_shape: Any, memory_shape: Any) -> None:
        """Build all layers."""
        super().build(target_shape, memory_shape)

    def call(self, target: Any, memory: Any, cross_mask: Any = None) -> Any:
        """Decode ids [B, T] -> [B, T, D], each position from those before it and the memory [B, S, D].

        ``cross_mask`` is the padding mask of the source, broadcastable to [B, H, T, S].
        """
        x = self.embedding(target)
        self_mask = decoder_mask(target)
        for block in self.blocks:
            keys_and_values = block.cross_attention.keys_and_values(memory)
            x, _ = block.forward(x, keys_and_values, self_mask, cross_mask)
        return self.norm(x)

    def step(self, tokens: Any, state: DecoderState) -> tuple[Any, DecoderState]:
        """Decode one more token [B] of each sentence with the KV cache -> [B, D], and the extended cache."""
        position = ops.shape(state.past[0][0])[2]
        x = self.embedding(tokens[:, None], first_position=position)  # [B, 1, D]
        longer_past = []
        for block, memory, past in zip(self.blocks, state.memory, state.past, strict=True):
            x, present = block.forward(x, memory, cross_mask=state.source_mask, past=past)
            longer_past.append(present)
        return self.norm(x)[:, 0], state._replace(past=longer_past)


@keras.saving.register_keras_serializable(package="ptenmt")
class Transformer(FromConfig, keras.Model):
    """The encoder–decoder Transformer, from token ids to logits; it derives the masks from the ids.

    ``name`` is the first part of every weight's path. Raises ValueError if all embeddings are tied, but the
    vocabularies differ in size.
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
        sizes = source_vocabulary_size, target_vocabulary_size
        if config.tied_embeddings == "all" and sizes[0] != sizes[1]:
            raise ValueError(
                f"tied_embeddings=all needs one vocabulary, not two of {sizes[0]} and {sizes[1]}"
            )
        self.config = config
        self.source_vocabulary_size, self.target_vocabulary_size = sizes
        dtype = self.dtype_policy
        self.encoder = Encoder(config, sizes[0], name="encoder", dtype=dtype)
        shared = self.encoder.embedding.embedding if config.tied_embeddings == "all" else None
        self.decoder = Decoder(config, sizes[1], embedding=shared, name="decoder", dtype=dtype)
        self.final: keras.layers.Layer
        if config.tied_embeddings == "none":
            self.final = Dense(sizes[1], name="final", dtype=dtype)
        else:
            self.final = TiedProjection(self.decoder.embedding.embedding, name="final", dtype=dtype)
        self.build(((None, None), (None, None)))

    def build(self, inputs_shape: Any) -> None:
        """Create all weights."""
        source_shape, target_shape = inputs_shape
        self.input_spec = [keras.layers.InputSpec(ndim=2) for _ in range(2)]
        self.encoder.build(source_shape)
        self.decoder.build(target_shape, (*source_shape, self.config.d_model))
        self.final.build((*target_shape, self.config.d_model))

    def call(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """Map source ids [B, S] and decoder input ids [B, T] to the logits [B, T, V] of the next tokens.

        Given the reference's ids, this is teacher forcing. Keras propagates ``training``, which enables
        dropout, to nested layers, whether or not their ``call`` declares it.
        """
        return self.final(self.hidden(inputs, training=training))

    def hidden(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """Return the decoder's output [B, T, D], which ``final`` maps to logits; see ``call``."""
        source, target = inputs
        memory, source_mask = self.encode(source, training=training)
        return self.decoder(target, memory, source_mask, training=training)

    def encode(self, source: Any, training: bool = False) -> tuple[Any, Any]:
        """Encode source ids [B, S] -> memory [B, S, D], and its padding mask, boolean [B, 1, 1, S].

        A model that reads no [START] has S - 1 positions there.
        """
        if self.config.source_marks == "none":  # [END] becomes padding
            source = ops.where(ops.equal(source, END), PAD, source)
        source = source if self.config.source_marks == "both" else source[:, 1:]
        source_mask = padding_mask(source)
        return self.encoder(source, source_mask, training=training), source_mask

    def start(self, source: Any) -> DecoderState:
        """Encode source ids [B, S] and return the state before the first ``decode_step``."""
        memory, source_mask = self.encode(source)
        caches = [block.cross_attention.keys_and_values(memory) for block in self.decoder.blocks]
        # An empty cache: slices of length 0 have the right batch, heads, widths and dtype.
        past = [(ops.zeros_like(keys[:, :, :0]), ops.zeros_like(values[:, :, :0])) for keys, values in caches]
        return DecoderState(source_mask, caches, past)

    def decode_step(self, tokens: Any, state: DecoderState) -> tuple[Any, DecoderState]:
        """Feed one token [B] of each sentence, no padding -> logits [B, V] of the next, and the new cache."""
        hidden, state = self.decoder.step(tokens, state)
        return self.final(hidden), state


def functional_transformer(
    config: ModelConfig,
    source_vocabulary_size: int,
    target_vocabulary_size: int | None = None,
    *,
    name: str = "transformer",
    **kwargs: Any,
) -> keras.Model:
    """Build a functional model, which ``keras.saving`` writes to one file and loads again.

    Its inputs are integers ``inputs`` [B, S] and ``dec_inputs`` [B, T], its output logits [B, T, V]. By
    default there are as many target ids as source ids; the embedding matrices are shared only if
    ``config.tied_embeddings`` is ``all``.
    """
    size = source_vocabulary_size if target_vocabulary_size is None else target_vocabulary_size
    transformer = Transformer(config, source_vocabulary_size, size, name="layers", **kwargs)
    source = keras.Input((None,), dtype="int64", name="inputs")
    target = keras.Input((None,), dtype="int64", name="dec_inputs")
    return keras.Model([source, target], transformer((source, target)), name=name)


@keras.saving.register_keras_serializable(package="ptenmt")
class NextWordModel(FromConfig, keras.Model):
    """Predicts the word after W words; id 0 is padding, neither attended to nor part of the mean.

    ``config.prediction`` is ``pooled``: every word attends to every other, and the mean of their states
    predicts the next word; or ``causal``: every word attends to those up to itself, and predicts the next.
    ``name`` is the first part of every weight's path.
    """

    sizes = ("vocabulary_size",)

    def __init__(
        self, config: ModelConfig, vocabulary_size: int, *, name: str = "next_word", **kwargs: Any
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.config = config
        self.vocabulary_size = vocabulary_size
        dtype = self.dtype_policy
        self.encoder = Encoder(config, vocabulary_size, name="encoder", dtype=dtype)
        self.final: keras.layers.Layer
        if config.tied_embeddings == "all":
            self.final = TiedProjection(self.encoder.embedding.embedding, name="final", dtype=dtype)
        else:
            self.final = Dense(vocabulary_size, name="final", dtype=dtype)
        self.build(((None, None), (None, None)))

    def build(self, inputs_shape: Any) -> None:
        """Create all weights."""
        words_shape, _ = inputs_shape
        self.input_spec = [keras.layers.InputSpec(ndim=2) for _ in range(2)]
        self.encoder.build(words_shape)
        self.final.build((*words_shape, self.config.d_model))

    def call(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """Predict the next word: logits [B, 1, V], or [B, W, V] if every word predicts; see ``hidden``."""
        return self.final(self.hidden(inputs, training=training))

    def hidden(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """Map words [B, W] to states [B, 1, D], or [B, W, D] if every word predicts.

        The second input, the decoder input of a ``Transformer``, is ignored.
        """
        words, _ = inputs
        encoded = self.encoder(words, self._mask(words), training=training)
        if self.config.prediction == "causal":
            return encoded
        real = ops.cast(ops.not_equal(words, 0), encoded.dtype)[..., None]  # [B, W, 1]
        count = ops.maximum(ops.sum(real, axis=1, keepdims=True), 1)
        return ops.sum(encoded * real, axis=1, keepdims=True) / count

    def _mask(self, words: Any) -> Any:
        return decoder_mask(words) if self.config.prediction == "causal" else padding_mask(words)


TrainableModel = Transformer | NextWordModel
"""A model that predicts ``target[:, 1:]`` from ``(source, target[:, :-1])``."""
