import numpy as np
import pytest

from ptenmt.model import TokenSums, token_sums

LABELS = np.array([[3, 1, 4, 0, 0], [2, 0, 0, 0, 0]])
LOGITS = np.random.default_rng(0).normal(size=(2, 5, 6)).astype("float32")


def as_floats(sums: TokenSums) -> list[float]:
    return [float(value) for value in sums]


def test_loss_and_accuracy_are_over_real_tokens_only():
    logits = LOGITS.copy()
    logits[0, 1, 1] = logits[0, 2, 4] = 9  # two of the four real labels are the argmax
    logits[0, 0, 5] = logits[1, 0, 5] = 9
    logits[:, 3:, 0] = 9  # right where padded: must not count
    log_probabilities = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    real = [(0, 0, 3), (0, 1, 1), (0, 2, 4), (1, 0, 2)]
    loss = -sum(float(log_probabilities[place]) for place in real)
    assert as_floats(token_sums(logits, LABELS)) == pytest.approx([loss, 2, 4], rel=1e-5)


def test_more_padding_changes_nothing():
    logits = np.concatenate([LOGITS, 50 + LOGITS], axis=1)
    labels = np.concatenate([LABELS, np.zeros_like(LABELS)], axis=1)
    assert as_floats(token_sums(logits, labels)) == pytest.approx(as_floats(token_sums(LOGITS, LABELS)))


def test_a_batch_without_real_tokens_sums_to_zero():
    assert as_floats(token_sums(LOGITS, np.zeros_like(LABELS))) == [0, 0, 0]


def test_half_precision_logits_are_summed_in_float32():
    labels = np.full((40, 100), 1)
    logits = np.zeros((40, 100, 8), dtype="float16")
    sums = token_sums(logits, labels)
    assert as_floats(sums) == pytest.approx([4000 * np.log(8), 0, 4000], rel=1e-5)


def test_sums_add_up_to_floats():
    total = TokenSums(1.0, 2.0, 3.0).plus(token_sums(LOGITS, LABELS))
    loss, correct, tokens = as_floats(token_sums(LOGITS, LABELS))
    assert total == pytest.approx((1 + loss, 2 + correct, 3 + tokens))
    assert all(isinstance(value, float) for value in total)
