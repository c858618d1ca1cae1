"""The teacher-forced loss that NumPy computes against the Keras model's."""

import numpy as np
import pytest
from random_models import SMALL, log_probs, made_up_words, random_model, weights_of

from ptenmt.evaluation.systems import teacher_forced
from ptenmt.model.numpy_transformer import NumpyTransformer
from ptenmt.tokenizers import END, START

SIZE = 30


def test_it_is_the_keras_models() -> None:
    """Of more labels than are projected at once, in batches of several lengths."""
    model, random = random_model(SMALL, SIZE, SIZE), np.random.default_rng(7)
    sides = [
        [random.integers(4, SIZE, size=length).tolist() for length in random.integers(1, 22, size=150)]
        for _ in range(2)
    ]
    texts = [
        [" ".join(f"{letter}{word}" for word in words) for words in side]
        for letter, side in zip("st", sides, strict=True)
    ]
    found = teacher_forced(
        NumpyTransformer(SMALL, weights_of(model)),
        made_up_words(SIZE, SIZE),
        list(zip(*texts, strict=True)),
        lambda *_: None,
    )
    sources, targets = ([[START, *words, END] for words in side] for side in sides)
    predictions = log_probs(model, sources, [target[:-1] for target in targets])
    losses, correct = [], []
    for rows, target in zip(predictions, targets, strict=True):
        losses += [-row[label] for row, label in zip(rows, target[1:], strict=True)]
        correct += [row.argmax() == label for row, label in zip(rows, target[1:], strict=True)]
    assert len(losses) > 1024
    assert found.loss == pytest.approx(np.mean(losses), abs=1e-4)
    assert found.accuracy == np.mean(correct)
    assert found.num_truncated == 0
