"""From token ids to vectors, and back to logits; letters as in attention.py."""

from typing import Any, Literal, Self

import keras
from keras import ops

from ptenmt.model.building import build_once
from ptenmt.model.choices import check_choice
from ptenmt.model.dropout import Dropout
from ptenmt.model.positions import positional_encoding

Positions = Literal["sinusoidal", "none"]


@keras.saving.register_keras_serializable(package="ptenmt")
class PositionalEmbedding(keras.layers.Layer):
    """Token embeddings, scaled by √D, plus the positional encoding, then dropout (sections 3.4, 3.5).

    Args:
        vocabulary_size: V.
        d_model: D.
        max_positions: The longest sequence.
        positions: ``none``: neither scaled nor told where they stand.
        dropout: Rate.
        word_dropout: Share of the words whose whole embedding is zeroed while training (the position stays).
        embedding: The layer that holds the table [V, D], if it is shared; by default one of its own.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.

    Raises:
        ValueError: There are no such positions, or they are sinusoidal and ``d_model`` is odd.
    """

    def __init__(
        self,
        vocabulary_size: int,
        d_model: int,
        *,
        max_positions: int,
        positions: Positions = "sinusoidal",
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        embedding: keras.layers.Embedding | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_choice("positions", positions, Positions)
        if positions == "sinusoidal" and d_model % 2:
            raise ValueError(
                f"d_model={d_model} must be even: sinusoidal positions are sines and cosines in turn"
            )
        self.input_spec = keras.layers.InputSpec(ndim=2, name="ids [B, T]")
        self.vocabulary_size = vocabulary_size
        self.d_model = d_model
        self.max_positions = max_positions
        self.embedding = embedding or keras.layers.Embedding(
            vocabulary_size, d_model, name="tokens", dtype=self.dtype_policy
        )
        self.word_dropout = Dropout(
            word_dropout, whole_vectors=True, name="word_dropout", dtype=self.dtype_policy
        )
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.positions: Positions = positions
        self.encoding = positional_encoding(max_positions, d_model) if positions == "sinusoidal" else None

    def build(self, ids_shape: Any) -> None:
        """Make the table of words, unless it is shared and there already."""
        build_once(self.embedding, ids_shape)

    def call(self, ids: Any, first_position: Any = 0, training: bool = False) -> Any:
        """Embed token ids [B, T], the first of which stands at ``first_position`` -> [B, T, D].

        In a graph of sequences of any length, nobody can refuse one while it is traced: TensorFlow fails on a
        CPU when it looks for the position, and takes a vector of zeros for it on a GPU.

        Raises:
            ValueError: The sequence ends behind ``max_positions``, and where it ends is known.
        """
        length = ids.shape[1]
        if isinstance(length, int) and isinstance(first_position, int):
            length += first_position
        if isinstance(length, int) and length > self.max_positions:
            raise ValueError(f"{length} tokens are more than max_positions={self.max_positions}")
        tokens = self.word_dropout(self.embedding(ids), training=training)
        if self.positions == "sinusoidal":
            tokens = tokens * ops.cast(self.d_model**0.5, tokens.dtype)
            indices = first_position + ops.arange(ops.shape(ids)[1])
            encoding = ops.convert_to_tensor(self.encoding, dtype=tokens.dtype)
            tokens = tokens + ops.take(encoding, indices, axis=0)
        return self.dropout(tokens, training=training)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras; a shared table becomes one of its own."""
        own = ("vocabulary_size", "d_model", "max_positions", "positions")
        values = {name: getattr(self, name) for name in own}
        rates = {"dropout": self.dropout.rate, "word_dropout": self.word_dropout.rate}
        return super().get_config() | values | rates


@keras.saving.register_keras_serializable(package="ptenmt")
class TiedProjection(keras.layers.Layer):
    """Logits from a table of embeddings: a hidden state's product with every word, plus a bias (section 3.4).

    Args:
        embedding: The layer that holds the table [V, D].
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    def __init__(self, embedding: keras.layers.Embedding, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        width = embedding.output_dim
        self.input_spec = keras.layers.InputSpec(axes={-1: width}, name=f"hidden states [..., D={width}]")
        self.embedding = embedding

    def build(self, _inputs_shape: Any) -> None:
        """Make the bias [V], and the table if nobody has."""
        build_once(self.embedding, None)
        self.bias = self.add_weight(shape=(self.embedding.input_dim,), initializer="zeros", name="bias")

    def call(self, inputs: Any) -> Any:
        """Map hidden states [..., D] to logits [..., V]."""
        *outer, width = ops.shape(inputs)
        rows = ops.reshape(inputs, (-1, width))  # one plain product, which TensorFlow fuses with the bias
        logits = ops.add(ops.matmul(rows, ops.transpose(self.embedding.embeddings)), self.bias)
        return ops.reshape(logits, (*outer, self.embedding.input_dim))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        return super().get_config() | {"embedding": keras.saving.serialize_keras_object(self.embedding)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Make it again."""
        embedding = keras.saving.deserialize_keras_object(config["embedding"])
        return super().from_config(config | {"embedding": embedding})


def token_embedding(vocabulary_size: int, d_model: int, *, tied: bool, dtype: Any) -> keras.layers.Embedding:
    """A trainable table [V, D], one row a word.

    Args:
        vocabulary_size: V.
        d_model: D.
        tied: Whether it makes the logits too. Then its weights are drawn from N(0, 1/√D): times √D they have
            variance 1 as inputs, and their products with a normalised hidden state have it as logits. With
            Keras' default, ±0.05 uniformly, neither scale is right, and how wrong it is depends on D.
        dtype: The precision.
    """
    initializer = keras.initializers.RandomNormal(stddev=d_model**-0.5) if tied else "uniform"
    return keras.layers.Embedding(
        vocabulary_size, d_model, embeddings_initializer=initializer, name="tokens", dtype=dtype
    )
