"""The loss and accuracy of a batch, over its real tokens only."""

from typing import Any, NamedTuple

from keras import ops


class TokenSums(NamedTuple):
    """Sums over the real (non-padding) labels of a batch; divided by ``tokens`` they are means."""

    loss: Any
    """Cross-entropy in nats, float32 scalar."""
    correct: Any
    """Labels that had the highest logit, float32 scalar."""
    tokens: Any
    """Real labels, float32 scalar."""

    def plus(self, other: "TokenSums") -> "TokenSums":
        """Both batches' sums together, as floats."""
        return TokenSums(*(float(mine) + float(theirs) for mine, theirs in zip(self, other, strict=True)))


def token_sums(logits: Any, labels: Any) -> TokenSums:
    """Sparse categorical cross-entropy and argmax accuracy, summed over the labels that are not 0.

    Args:
        logits: [B, T, V].
        labels: int64 [B, T], 0 where padded.
    """
    real = ops.cast(ops.not_equal(labels, 0), "float32")  # -> [B, T]
    logits = ops.cast(logits, "float32")
    losses = ops.sparse_categorical_crossentropy(labels, logits, from_logits=True)
    correct = ops.equal(ops.argmax(logits, axis=-1), ops.cast(labels, "int32"))
    return TokenSums(ops.sum(losses * real), ops.sum(ops.cast(correct, "float32") * real), ops.sum(real))
