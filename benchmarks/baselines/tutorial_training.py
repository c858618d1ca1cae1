"""Baseline: the tutorial's training loop. Random batches of 64, each side padded to its longest sentence.

    python tutorial_training.py TASK_FOLDER

Without tokenization, which the tutorial does for every batch. Always float32.
"""

import sys
from itertools import count
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from interleave import Turns
from task import Task, count_labels
from tutorial_model import Schedule, TutorialTransformer, accuracy_of, loss_of

BATCH = 64
BUFFER = 20_000
BATCHES_BETWEEN_LINES = 50
PUBLISHED_SIZE = {(4, 128, 7765, 7010): 4_646_882}  # parameters by layers, D and vocabularies


def sentences(ids: list[np.ndarray]) -> tf.RaggedTensor:
    """All rows of padded id tables, without their padding."""
    lengths = np.concatenate([np.count_nonzero(table, axis=1) for table in ids])
    values = np.concatenate([table[table != 0] for table in ids])
    return tf.RaggedTensor.from_row_lengths(values, lengths)


def batched(task: Task) -> tf.data.Dataset:
    sources, targets = zip(*task.batches(), strict=True)
    pairs = tf.data.Dataset.from_tensor_slices((sentences(list(sources)), sentences(list(targets))))
    return (
        pairs.cache()
        .shuffle(BUFFER)
        .batch(BATCH)
        .map(lambda source, target: (source.to_tensor(), target.to_tensor()), tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
    )


def main() -> None:
    task = Task(Path(sys.argv[1]))
    sizes = task.sizes()
    turns = Turns()
    model = TutorialTransformer(sizes)
    model((tf.ones((1, 2), tf.int64), tf.ones((1, 2), tf.int64)))
    kind = sizes.num_layers, sizes.d_model, sizes.source_vocabulary, sizes.target_vocabulary
    assert model.count_params() == PUBLISHED_SIZE.get(kind, model.count_params())
    optimizer = keras.optimizers.Adam(Schedule(sizes), beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    mean_loss, mean_accuracy = keras.metrics.Mean(), keras.metrics.Mean()
    ids = tf.TensorSpec((None, None), tf.int64)

    @tf.function(input_signature=[ids, ids])
    def train_step(source, target):
        decoder_input, labels = target[:, :-1], target[:, 1:]
        with tf.GradientTape() as tape:
            logits, _ = model((source, decoder_input), training=True)
            loss = loss_of(labels, logits)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        mean_loss(loss)
        mean_accuracy(accuracy_of(labels, logits))

    batches = batched(task)
    for epoch in count(1):
        for batch, (source, target) in enumerate(batches):
            train_step(source, target)
            if batch % BATCHES_BETWEEN_LINES == 0:
                print(
                    f"epoch {epoch} batch {batch} loss {mean_loss.result():.4f} {mean_accuracy.result():.4f}"
                )
            turns.count(count_labels(target.numpy()))


if __name__ == "__main__":
    main()
