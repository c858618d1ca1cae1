"""CPU time of the layers of a base-size model, compared with Keras' layers: forward and backward, one thread.

    python benchmarks/layers.py

The layers run in turns; CPU time instead of elapsed time reduces the effect of other processes.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from ptenmt.model.layers import Dense, Dropout, FeedForward, MultiHeadAttention, TiedProjection

SENTENCES, LENGTH, WIDTH, HEADS, INNER, WORDS = 128, 32, 128, 8, 512, 7010
ROUNDS, CALLS = 12, 4

Step = Callable[[], Any]


def step(layer: Any, call: Callable[[Any, tf.Tensor], tf.Tensor]) -> Step:
    """A compiled forward and backward pass of a layer over 4,096 tokens."""
    inputs = tf.random.stateless_normal((SENTENCES, LENGTH, WIDTH), [1, 2])
    upstream = tf.random.stateless_normal(call(layer, inputs).shape, [3, 4])

    @tf.function
    def compiled(inputs: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            loss = tf.reduce_sum(call(layer, inputs) * upstream)
        return tape.gradient(loss, [inputs, *layer.trainable_variables])

    compiled(inputs)
    return lambda: compiled(inputs)


def candidates() -> dict[str, Step]:
    """The layers by name; Keras' counterpart follows each layer of ptenmt."""
    lengths = np.random.default_rng(0).integers(24, LENGTH + 1, SENTENCES)
    visible = tf.sequence_mask(lengths, LENGTH)
    table = keras.layers.Embedding(WORDS, WIDTH)
    table.build()
    feed_forward = keras.Sequential([keras.layers.Dense(INNER, "relu"), keras.layers.Dense(WIDTH)])
    attention = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    return {
        "dropout": step(Dropout(0.1), lambda layer, x: layer(x, training=True)),
        "  Keras": step(keras.layers.Dropout(0.1), lambda layer, x: layer(x, training=True)),
        "attention": step(
            MultiHeadAttention(WIDTH, HEADS), lambda layer, x: layer(x, attention_mask=visible[:, None, None])
        ),
        "  Keras ": step(attention, lambda layer, x: layer(x, x, attention_mask=visible[:, None])),
        "feed-forward": step(FeedForward(WIDTH, INNER), lambda layer, x: layer(x)),
        "  Keras  ": step(feed_forward, lambda layer, x: layer(x)),
        "layer norm (Keras)": step(keras.layers.LayerNormalization(), lambda layer, x: layer(x)),
        "logits": step(Dense(WORDS), lambda layer, x: layer(x)),
        "  Keras   ": step(keras.layers.Dense(WORDS), lambda layer, x: layer(x)),
        "tied logits": step(TiedProjection(table), lambda layer, x: layer(x)),
    }


def main() -> None:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    steps = candidates()
    milliseconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(ROUNDS):
        for name, run in steps.items():
            started = time.process_time()
            for _ in range(CALLS):
                run()
            milliseconds[name].append((time.process_time() - started) / CALLS * 1000)
    for name, values in milliseconds.items():
        print(f"{name:20} {statistics.median(values):7.2f} ms (minimum {min(values):.2f})")


if __name__ == "__main__":
    main()
