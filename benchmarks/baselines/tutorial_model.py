"""Baseline: the Transformer of the TensorFlow tutorial from which ptenmt started, and its loss.

Not optimized on purpose: separate dense layers for query, key and value, transposes around every attention,
masks in which 1 means hidden, dropout after every sub-layer, logits for padding too. It shares no code with
ptenmt's model. Letters in shape comments as in ptenmt/model/layers.py.
"""

import keras
import tensorflow as tf
from task import WARMUP_STEPS, Sizes, positional_encoding


def padding_mask(ids: tf.Tensor) -> tf.Tensor:
    """Mark padding [B, S] -> [B, 1, 1, S], 1 = hidden."""
    return tf.cast(tf.equal(ids, 0), tf.float32)[:, tf.newaxis, tf.newaxis, :]


def look_ahead_mask(length: tf.Tensor) -> tf.Tensor:
    """Mark later positions -> [T, T], 1 = hidden."""
    return 1 - tf.linalg.band_part(tf.ones((length, length)), -1, 0)


class Attention(keras.layers.Layer):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.num_heads = sizes.num_heads
        self.depth = sizes.d_model // sizes.num_heads
        self.width = sizes.d_model
        self.to_query = keras.layers.Dense(sizes.d_model)
        self.to_key = keras.layers.Dense(sizes.d_model)
        self.to_value = keras.layers.Dense(sizes.d_model)
        self.to_output = keras.layers.Dense(sizes.d_model)

    def split_heads(self, projected: tf.Tensor, batch: tf.Tensor) -> tf.Tensor:
        heads = tf.reshape(projected, (batch, -1, self.num_heads, self.depth))
        return tf.transpose(heads, perm=[0, 2, 1, 3])  # -> [B, H, T, K]

    def call(self, query, memory, hidden) -> tuple[tf.Tensor, tf.Tensor]:
        batch = tf.shape(query)[0]
        queries = self.split_heads(self.to_query(query), batch)
        keys = self.split_heads(self.to_key(memory), batch)
        values = self.split_heads(self.to_value(memory), batch)
        scores = tf.matmul(queries, keys, transpose_b=True)  # -> [B, H, T, S]
        scores = scores / tf.math.sqrt(tf.cast(tf.shape(keys)[-1], tf.float32))
        scores += hidden * -1e9
        weights = tf.nn.softmax(scores, axis=-1)
        heads = tf.transpose(tf.matmul(weights, values), perm=[0, 2, 1, 3])  # -> [B, T, H, K]
        return self.to_output(tf.reshape(heads, (batch, -1, self.width))), weights


def feed_forward(sizes: Sizes) -> keras.Sequential:
    return keras.Sequential(
        [keras.layers.Dense(sizes.d_ff, activation="relu"), keras.layers.Dense(sizes.d_model)]
    )


class EncoderLayer(keras.layers.Layer):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention = Attention(sizes)
        self.feed_forward = feed_forward(sizes)
        self.norms = [keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]
        self.dropouts = [keras.layers.Dropout(sizes.dropout) for _ in range(2)]

    def call(self, inputs, hidden, training=False) -> tf.Tensor:
        attended, _ = self.attention(inputs, inputs, hidden)
        first = self.norms[0](inputs + self.dropouts[0](attended, training=training))
        fed = self.feed_forward(first)
        return self.norms[1](first + self.dropouts[1](fed, training=training))


class DecoderLayer(keras.layers.Layer):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.self_attention = Attention(sizes)
        self.cross_attention = Attention(sizes)
        self.feed_forward = feed_forward(sizes)
        self.norms = [keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(3)]
        self.dropouts = [keras.layers.Dropout(sizes.dropout) for _ in range(3)]

    def call(self, inputs, memory, hidden_targets, hidden_sources, training=False) -> tuple:
        attended, block1 = self.self_attention(inputs, inputs, hidden_targets)
        first = self.norms[0](inputs + self.dropouts[0](attended, training=training))
        attended, block2 = self.cross_attention(first, memory, hidden_sources)
        second = self.norms[1](first + self.dropouts[1](attended, training=training))
        fed = self.feed_forward(second)
        return self.norms[2](second + self.dropouts[2](fed, training=training)), block1, block2


class Embedding(keras.layers.Layer):
    """Word vectors times √D, plus positions, then dropout."""

    def __init__(self, vocabulary: int, sizes: Sizes) -> None:
        super().__init__()
        self.scale = sizes.d_model**0.5
        self.words = keras.layers.Embedding(vocabulary, sizes.d_model)
        self.positions = tf.constant(positional_encoding(sizes.max_positions, sizes.d_model))
        self.dropout = keras.layers.Dropout(sizes.dropout)

    def call(self, ids, training=False) -> tf.Tensor:
        embedded = self.words(ids) * self.scale + self.positions[tf.newaxis, : tf.shape(ids)[1]]
        return self.dropout(embedded, training=training)


class TutorialTransformer(keras.Model):
    """Source ids [B, S] and decoder input [B, T] -> logits [B, T, V], and the decoder's attention."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.source_embedding = Embedding(sizes.source_vocabulary, sizes)
        self.target_embedding = Embedding(sizes.target_vocabulary, sizes)
        self.encoder_layers = [EncoderLayer(sizes) for _ in range(sizes.num_layers)]
        self.decoder_layers = [DecoderLayer(sizes) for _ in range(sizes.num_layers)]
        self.final = keras.layers.Dense(sizes.target_vocabulary)

    def call(self, inputs, training=False) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        source, target = inputs
        hidden_sources = padding_mask(source)
        hidden_targets = tf.maximum(look_ahead_mask(tf.shape(target)[1]), padding_mask(target))
        memory = self.source_embedding(source, training=training)
        for layer in self.encoder_layers:
            memory = layer(memory, hidden_sources, training=training)
        decoded = self.target_embedding(target, training=training)
        attention = {}
        for number, layer in enumerate(self.decoder_layers, 1):
            decoded, block1, block2 = layer(
                decoded, memory, hidden_targets, hidden_sources, training=training
            )
            attention[f"decoder_layer{number}_block1"] = block1
            attention[f"decoder_layer{number}_block2"] = block2
        return self.final(decoded), attention


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    """``D^-0.5 · min(step^-0.5, step · warmup^-1.5)``"""

    def __init__(self, sizes: Sizes) -> None:
        self.d_model = tf.cast(sizes.d_model, tf.float32)

    def __call__(self, step) -> tf.Tensor:
        step = tf.cast(step, tf.float32) + 1
        return tf.math.rsqrt(self.d_model) * tf.minimum(tf.math.rsqrt(step), step * WARMUP_STEPS**-1.5)


_cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def loss_of(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """Mean cross-entropy of real labels [B, T], computed for all positions, then masked."""
    losses = _cross_entropy(labels, logits)
    real = tf.cast(tf.not_equal(labels, 0), losses.dtype)
    return tf.reduce_sum(losses * real) / tf.reduce_sum(real)


def accuracy_of(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    real = tf.not_equal(labels, 0)
    right = tf.logical_and(real, tf.equal(labels, tf.argmax(logits, axis=2)))
    return tf.reduce_sum(tf.cast(right, tf.float32)) / tf.reduce_sum(tf.cast(real, tf.float32))
