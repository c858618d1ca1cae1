"""The layers of a Transformer (Vaswani et al. 2017): attention, feed-forward, add & norm, embeddings.

Letters in the models' shape comments (other files define those they add):

    B  sentences in a batch        H  attention heads
    S  source tokens               K  width of a head (of its keys or of its values)
    T  target tokens               F  inner width of a feed-forward layer
    D  d_model, width of the model V  vocabulary size

Masks are boolean: True = may attend. Id 0 is padding. Section numbers are those of Vaswani et al. 2017.

Every layer also takes the arguments of any Keras layer (``name``, ``dtype``).
Keras builds a layer (creates its weights) at its first call; methods other than ``call`` need a built layer.
A layer made of others builds them all at once, so that no weight's path depends on the order of calls.
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, get_args

import keras
from keras import ops

from ptenmt.config.schema import Activation, NormPosition, Positions
from ptenmt.model.numpy_transformer import MASKED_SCORE, positional_encoding

KeysAndValues = tuple[Any, Any]  # [B, H, S, K] each


def padding_mask(ids: Any) -> Any:
    """Mask the padding of ids [B, S]: boolean [B, 1, 1, S], the same for every head and every query."""
    return ops.not_equal(ids, 0)[:, None, None, :]


def causal_mask(length: Any) -> Any:
    """Mask the future: boolean [T, T], where query (row) t may attend to keys (columns) 0 to t."""
    positions = ops.arange(length)
    return positions[:, None] >= positions[None, :]


def decoder_mask(target: Any) -> Any:
    """Mask the padding and the future of target ids [B, T]: boolean [B, 1, T, T]."""
    return ops.logical_and(causal_mask(ops.shape(target)[1]), padding_mask(target))


@keras.saving.register_keras_serializable(package="ptenmt")
class MultiHeadAttention(keras.layers.Layer):
    """Scaled dot-product attention in several heads (section 3.2).

    Each head computes ``softmax(Q Kᵀ / √key_size) V`` on learned projections of the inputs; the outputs of
    all heads are concatenated and projected to ``d_model``. The softmax is in float32 at any precision.

    Args:
        d_model: D, the width of the output.
        num_heads: H.
        key_size: Width of a head's queries and keys; by default D / H.
        value_size: Width of a head's values; by default D / H.
        dropout: Rate at which attention weights are dropped in training.

    Raises:
        ValueError: ``d_model`` is not divisible by ``num_heads`` and a head size is left open, or a size is
            below 1.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        key_size: int | None = None,
        value_size: int | None = None,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        sizes = {"d_model": d_model, "num_heads": num_heads, "key_size": key_size, "value_size": value_size}
        for name, size in sizes.items():
            if size is not None and size < 1:
                raise ValueError(f"{name}={size} must be 1 or more")
        if None in (key_size, value_size) and d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        self.num_heads = num_heads
        self.key_size = key_size or d_model // num_heads
        self.value_size = value_size or d_model // num_heads
        dtype = self.dtype_policy
        self.dropout = Dropout(dropout, name="dropout", dtype=dtype)
        self.query_projection = Dense(num_heads * self.key_size, name="query", dtype=dtype)
        self.key_projection = Dense(num_heads * self.key_size, name="key", dtype=dtype)
        self.value_projection = Dense(num_heads * self.value_size, name="value", dtype=dtype)
        self.output_projection = Dense(d_model, name="output", dtype=dtype)

    def build(self, query_shape: Any, key_shape: Any = None, value_shape: Any = None) -> None:
        """Build the projections."""
        self.input_spec = keras.layers.InputSpec(ndim=3, name="query [B, T, D]")
        self.query_projection.build(query_shape)
        self.key_projection.build(key_shape or query_shape)
        self.value_projection.build(value_shape or key_shape or query_shape)
        self.output_projection.build((*query_shape[:-1], self.num_heads * self.value_size))
        self.dropout.build(query_shape)

    def call(self, query: Any, key: Any = None, value: Any = None, attention_mask: Any = None) -> Any:
        """Attend over the keys and return the weighted sum of the values.

        Args:
            query: [B, T, D].
            key: [B, S, D]; by default the query: self-attention.
            value: [B, S, D]; by default the key.
            attention_mask: Boolean, broadcastable to [B, H, T, S], True = may attend; None masks nothing.

        Returns:
            [B, T, D].
        """
        keys, values = self.keys_and_values(query if key is None else key, value)
        return self.attend(query, keys, values, attention_mask)[0]

    def keys_and_values(
        self, key: Any, value: Any = None, past: KeysAndValues | None = None
    ) -> KeysAndValues:
        """Project ``key`` [B, S, D], and ``value`` [B, S, D] or again the key, to [B, H, S, K] each.

        They are appended to the keys and values of earlier positions in ``past``, if it is given.
        """
        keys = self._split_heads(self.key_projection(key), self.key_size)
        values = self._split_heads(self.value_projection(key if value is None else value), self.value_size)
        if past is None:
            return keys, values
        return ops.concatenate([past[0], keys], axis=2), ops.concatenate([past[1], values], axis=2)

    def attend(self, query: Any, keys: Any, values: Any, attention_mask: Any = None) -> tuple[Any, Any]:
        """Attend from queries to projected keys and values.

        Args:
            query: [B, T, D].
            keys: [B, H, S, K].
            values: [B, H, S, K].
            attention_mask: As for ``call``.

        Returns:
            The output [B, T, D], and the attention weights before dropout, float32 [B, H, T, S].

        Raises:
            ValueError: The mask is not boolean.
        """
        queries = self._split_heads(self.query_projection(query), self.key_size)  # [B, H, T, K]
        queries = queries * ops.cast(self.key_size**-0.5, queries.dtype)
        scores = ops.matmul(queries, ops.transpose(keys, (0, 1, 3, 2)))  # [B, H, T, S]
        scores = ops.cast(scores, "float32")
        if attention_mask is not None:
            # Added, not selected with ops.where: the gradient of a sum costs nothing.
            scores = scores + MASKED_SCORE * ops.cast(ops.logical_not(_boolean(attention_mask)), "float32")
        weights = ops.softmax(scores, axis=-1)
        heads = ops.matmul(self.dropout(ops.cast(weights, values.dtype)), values)  # [B, H, T, K]
        heads = ops.transpose(heads, (0, 2, 1, 3))  # [B, T, H, K]
        concatenated = ops.reshape(heads, (*ops.shape(query)[:2], self.num_heads * self.value_size))
        return self.output_projection(concatenated), weights

    def _split_heads(self, projected: Any, size: int) -> Any:
        heads = ops.reshape(projected, (*ops.shape(projected)[:2], self.num_heads, size))  # [B, T, H, K]
        return ops.transpose(heads, (0, 2, 1, 3))  # [B, H, T, K]


def _boolean(mask: Any) -> Any:
    mask = ops.convert_to_tensor(mask)
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if dtype != "bool":
        raise ValueError(
            f"an attention mask must be boolean, True = may attend, not {dtype}: "
            "use `mask == 0` if 1 or -1e9 means masked, `mask != 0` if 1 means visible"
        )
    return mask


@keras.saving.register_keras_serializable(package="ptenmt")
class FeedForward(keras.layers.Layer):
    """Two dense layers with an activation between them, applied to each position alike (section 3.3).

    Args:
        d_model: D, width of the output.
        d_ff: F, inner width.
        activation: ``relu``; ``gelu``, the exact one, with the error function; ``swish``, x · sigmoid(x); or
            ``swiglu``, with a third dense layer: ``contract(swish(gate(x)) · expand(x))`` (Shazeer 2020).
        dropout: Rate at which inner activations are dropped in training.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: Activation = "relu",
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        _check_choice("activation", activation, Activation)
        self.supports_masking = True
        self.d_ff = d_ff
        dtype = self.dtype_policy
        function = None if activation == "swiglu" else activation  # Keras' gelu is the exact one
        self.expand = Dense(d_ff, activation=function, name="expand", dtype=dtype)
        self.gate = None
        if activation == "swiglu":
            self.gate = Dense(d_ff, activation="silu", name="gate", dtype=dtype)
        self.dropout = Dropout(dropout, name="dropout", dtype=dtype)
        self.contract = Dense(d_model, name="contract", dtype=dtype)

    def build(self, inputs_shape: Any) -> None:
        """Build the dense layers."""
        self.expand.build(inputs_shape)
        if self.gate is not None:
            self.gate.build(inputs_shape)
        self.dropout.build(inputs_shape)
        self.contract.build((*inputs_shape[:-1], self.d_ff))

    def call(self, inputs: Any) -> Any:
        """Map [B, T, D] to [B, T, D]."""
        hidden = self.expand(inputs)  # [B, T, F]
        if self.gate is not None:
            hidden = self.gate(inputs) * hidden
        return self.contract(self.dropout(hidden))


@keras.saving.register_keras_serializable(package="ptenmt")
class AddAndNorm(keras.layers.Layer):
    """The residual connection around a sub-layer, with its dropout and layer norm (sections 3.1, 5.4).

    - ``post``, as in the paper: ``LayerNorm(x + Dropout(sublayer(x)))``
    - ``pre``, for deep stacks (Xiong et al. 2020): ``x + Dropout(sublayer(LayerNorm(x)))``

    Args:
        dropout: Rate.
        norm: Position of the layer norm.
        epsilon: Added to the variance in the layer norm.
    """

    def __init__(
        self, dropout: float = 0.0, *, norm: NormPosition = "post", epsilon: float = 1e-6, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        _check_choice("norm", norm, NormPosition)
        self.norm_position = norm
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.norm = layer_norm(epsilon, dtype=self.dtype_policy)

    def build(self, inputs_shape: Any) -> None:
        """Build the layer norm."""
        self.norm.build(inputs_shape)
        self.dropout.build(inputs_shape)

    def call(self, inputs: Any, sublayer: Callable[[Any], Any]) -> Any:
        """Apply a sub-layer and add its output to its input.

        Args:
            inputs: x, [B, T, D].
            sublayer: Returns for its input [B, T, D], or a tuple that begins with it.

        Returns:
            [B, T, D], or a tuple of it and the sub-layer's other outputs.
        """
        outputs = sublayer(self.norm(inputs) if self.norm_position == "pre" else inputs)
        output, *others = outputs if isinstance(outputs, tuple) else (outputs,)
        output = inputs + self.dropout(output)
        if self.norm_position == "post":
            output = self.norm(output)
        return (output, *others) if others else output


def layer_norm(epsilon: float, dtype: Any) -> keras.layers.LayerNormalization:
    """Return a layer norm named ``norm``; Keras computes its statistics in float32 at any precision."""
    return keras.layers.LayerNormalization(epsilon=epsilon, name="norm", dtype=dtype)


@keras.saving.register_keras_serializable(package="ptenmt")
class PositionalEmbedding(keras.layers.Layer):
    """Token embeddings, scaled by √D, plus the positional encoding, then dropout (sections 3.4, 3.5, 5.4).

    Args:
        vocabulary_size: V.
        d_model: D.
        max_positions: The longest sequence.
        positions: ``sinusoidal``; or ``none``: the embeddings alone, not scaled.
        dropout: Rate.
        word_dropout: Rate at which whole embeddings are zeroed in training, before the position is added.
        tied: Whether the matrix is also the output projection (tied embeddings). It then starts with a
            standard deviation of 1/√D, so that embeddings times √D and logits of normalized states have
            variance 1.
        embedding: The layer with the embedding matrix [V, D] to share; by default a new one.

    Raises:
        ValueError: Positions are sinusoidal and ``d_model`` is odd.
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
        tied: bool = False,
        embedding: keras.layers.Embedding | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        _check_choice("positions", positions, Positions)
        if positions == "sinusoidal" and d_model % 2:
            raise ValueError(
                f"d_model={d_model} must be even: sines and cosines alternate in sinusoidal positions"
            )
        self.d_model = d_model
        self.max_positions = max_positions
        dtype = self.dtype_policy
        if embedding is None:
            initializer = keras.initializers.RandomNormal(stddev=d_model**-0.5) if tied else "uniform"
            embedding = keras.layers.Embedding(
                vocabulary_size, d_model, embeddings_initializer=initializer, name="tokens", dtype=dtype
            )
        self.embedding = embedding
        self.word_dropout = Dropout(word_dropout, whole_vectors=True, name="word_dropout", dtype=dtype)
        self.dropout = Dropout(dropout, name="dropout", dtype=dtype)
        self.encoding = positional_encoding(max_positions, d_model) if positions == "sinusoidal" else None

    def build(self, ids_shape: Any) -> None:
        """Build the embedding matrix, unless it is shared and built."""
        self.input_spec = keras.layers.InputSpec(ndim=2, name="ids [B, T]")
        if not self.embedding.built:
            self.embedding.build(ids_shape)
        self.word_dropout.build(ids_shape)
        self.dropout.build(ids_shape)

    def call(self, ids: Any, first_position: Any = 0) -> Any:
        """Embed token ids [B, T], the first of which is at ``first_position`` -> [B, T, D].

        While a graph for any length is traced, the length is unknown: for a position that is too large,
        TensorFlow then raises an error on a CPU, and takes a zero vector on a GPU.

        Raises:
            ValueError: The sequence is longer than ``max_positions``, and its length is known.
        """
        length = ids.shape[1]
        if isinstance(length, int) and isinstance(first_position, int):
            length += first_position
        if isinstance(length, int) and length > self.max_positions:
            raise ValueError(f"{length} tokens are more than max_positions={self.max_positions}")
        x = self.word_dropout(self.embedding(ids))  # [B, T, D]
        if self.encoding is not None:
            x = x * ops.cast(self.d_model**0.5, x.dtype)
            indices = first_position + ops.arange(ops.shape(ids)[1])
            x = x + ops.take(ops.convert_to_tensor(self.encoding, dtype=x.dtype), indices, axis=0)
        return self.dropout(x)


class TiedProjection(keras.layers.Layer):
    """Tied embeddings (weight tying, Press & Wolf 2017): logits are hidden states times the embedding matrix.

    A bias is added (section 3.4). ``embedding`` is the layer with the matrix [V, D].
    """

    def __init__(self, embedding: keras.layers.Embedding, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.embedding = embedding

    def build(self, inputs_shape: Any) -> None:
        """Create the bias [V]."""
        self.input_spec = keras.layers.InputSpec(axes={-1: inputs_shape[-1]})
        self.bias = self.add_weight(shape=(self.embedding.input_dim,), initializer="zeros", name="bias")

    def call(self, inputs: Any) -> Any:
        """Map hidden states [..., D] to logits [..., V]."""
        *outer, width = ops.shape(inputs)
        rows = ops.reshape(inputs, (-1, width))  # one matrix product, which TensorFlow fuses with the bias
        logits = ops.add(ops.matmul(rows, ops.transpose(self.embedding.embeddings)), self.bias)
        return ops.reshape(logits, (*outer, self.embedding.input_dim))


@keras.saving.register_keras_serializable(package="ptenmt")
class Dense(keras.layers.Dense):
    """Keras' dense layer, with inputs [..., D] reshaped to two axes and back.

    Keras contracts three axes with ``tensordot``: a dozen small operations around a product, which TensorFlow
    cannot fuse with the bias and the activation.
    """

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Map [..., D] to [..., units]."""
        *outer, width = ops.shape(inputs)
        outputs = super().call(ops.reshape(inputs, (-1, width)), training=training)
        return ops.reshape(outputs, (*outer, self.units))


_current_seed: ContextVar[tuple[int, Any] | None] = ContextVar("_current_seed", default=None)


@contextmanager
def dropout_seed(seed: int, draw: Any) -> Iterator[None]:
    """Make the dropout masks of every layer a function of these numbers and the layer's path.

    No variable is read or written: it works in a replica of a distributed step, and training resumes with the
    same masks without any saved random state::

        with dropout_seed(config.seed, step * num_replicas + replica):
            logits = model((source, target), training=True)

    Without it, every call draws new masks from Keras' global seed generator.

    Args:
        seed: At least 0; constant throughout a training run.
        draw: Integer or int64 scalar tensor, at least 0; different in each forward pass.
    """
    token = _current_seed.set((seed, draw))
    try:
        yield
    finally:
        _current_seed.reset(token)


@keras.saving.register_keras_serializable(package="ptenmt")
class Dropout(keras.layers.Layer):
    """Zero a share of the inputs in training, and scale up the others to preserve the mean.

    Args:
        rate: The share, at least 0 and below 1.
        whole_vectors: Zero vectors (along the last axis) instead of single numbers.

    Raises:
        ValueError: The rate is out of range.
    """

    def __init__(self, rate: float, *, whole_vectors: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"{self.name}: rate={rate} must be at least 0 and below 1")
        self.supports_masking = True
        self.rate = rate
        self.whole_vectors = whole_vectors

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Map a tensor of any shape to one of the same shape."""
        if not training or not self.rate:
            return inputs
        shape = ops.shape(inputs)
        kept = self._keep((*shape[:-1], 1) if self.whole_vectors else shape)
        return inputs * (ops.cast(kept, inputs.dtype) * ops.cast(1 / (1 - self.rate), inputs.dtype))

    def _keep(self, shape: tuple[Any, ...]) -> Any:
        """Sample the keep mask, boolean of this shape.

        Random numbers dominate the cost of dropout, so each gives two mask elements. A float32 below 1 has 23
        random bits: the second element uses the lowest 11, which are practically independent of the first.
        """
        *outer, width = shape
        draws = keras.random.uniform((*outer, (width + 1) // 2), dtype="float32", seed=self._seed())
        lowest_bits = draws * 4096
        lowest_bits = lowest_bits - ops.floor(lowest_bits)
        return ops.concatenate([draws >= self.rate, lowest_bits >= self.rate], axis=-1)[..., :width]

    def _seed(self) -> keras.random.SeedGenerator | None:
        current = _current_seed.get()
        if current is None:
            return None
        seed, draw = current
        layer_seed = seed + zlib.crc32(self.path.encode())
        return _Seed(ops.stack([ops.cast(layer_seed, "int64"), ops.cast(draw, "int64")]))


class _Seed(keras.random.SeedGenerator):
    """Two given numbers as the stateless seed of ``keras.random``."""

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers  # the parent's constructor would create a state variable

    def next(self, ordered: bool = True) -> Any:  # noqa: ARG002 — of the parent's signature
        """Return the numbers, int64 [2]."""
        return self._numbers


def _check_choice(name: str, value: str, choices: Any) -> None:
    if value not in get_args(choices):
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, get_args(choices)))}")
