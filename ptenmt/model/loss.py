"""Loss and accuracy of a batch over its real (non-padding) labels; letters as in layers.py."""

from typing import Any, NamedTuple

from keras import ops


class TokenSums(NamedTuple):
    """Sums over the real labels of one or more batches."""

    loss: Any
    """Cross-entropy in nats, float32 scalar."""
    correct: Any
    """Number of labels with the highest logit, float32 scalar."""
    tokens: Any
    """Number of real labels, float32 scalar."""

    def plus(self, other: "TokenSums") -> "TokenSums":
        """Add two batches' sums, as floats."""
        return TokenSums(*(float(mine) + float(theirs) for mine, theirs in zip(self, other, strict=True)))

    @property
    def mean_loss(self) -> float:
        """Cross-entropy per real label, in nats."""
        return float(self.loss / self.tokens)

    @property
    def accuracy(self) -> float:
        """Share of real labels with the highest logit."""
        return float(self.correct / self.tokens)


def token_sums(logits: Any, labels: Any) -> TokenSums:
    """Sum cross-entropy and argmax accuracy over the real labels; arguments as for ``training_loss``."""
    return training_loss(logits, labels, 0.0)[1]


def training_loss(logits: Any, labels: Any, label_smoothing: float) -> tuple[Any, TokenSums]:
    """Return the objective of training and the sums to report.

    The sums report unsmoothed cross-entropy, comparable with that of validation.

    Args:
        logits: [B, T, V], or [N, V] from ``real_positions``.
        labels: Ids [B, T] or [N], 0 where padded.
        label_smoothing: ε, see ``TrainingConfig``.

    Returns:
        The objective summed over real labels, a differentiable float32 scalar, and the sums.
    """
    labels = ops.reshape(labels, (-1,))
    logits = ops.cast(ops.reshape(logits, (-1, logits.shape[-1])), "float32")
    objective, losses, correct = _cross_entropy(logits, labels, label_smoothing)
    real = ops.cast(ops.not_equal(labels, 0), "float32")
    sums = TokenSums(ops.sum(losses * real), ops.sum(correct * real), ops.sum(real))
    if not label_smoothing:
        return sums.loss, sums
    return ops.sum(objective * real), sums


def real_positions(hidden: Any, labels: Any) -> tuple[Any, Any]:
    """Remove the padding, so that no logits are computed for it: [B, T, D] and ids [B, T] -> [N, D] and [N].

    The N real labels stay in order, sentence by sentence. Their number differs between batches, so this is
    not for XLA, which needs fixed shapes.
    """
    flat = ops.reshape(labels, (-1,))
    (indices,) = ops.nonzero(flat)
    return ops.take(ops.reshape(hidden, (-1, hidden.shape[-1])), indices, axis=0), ops.take(flat, indices)


def _cross_entropy(logits: Any, labels: Any, smoothing: float) -> tuple[Any, Any, Any]:
    """Return cross-entropy with and without label smoothing, and whether the label is the argmax.

    Needs fewer passes over the logits than Keras' functions: the backward pass reuses the exponentials of
    the forward pass. The argmax is that of their bits as integers, which order like positive floats; Keras'
    argmax of floats first looks for negative zeros.

    Args:
        logits: float32 [N, V].
        labels: Ids [N].
        smoothing: ε, spread evenly over all V tokens, [PAD] included (Szegedy et al. 2016, section 7).

    Returns:
        float32 [N] each: the smoothed cross-entropy, differentiable; the plain one, to report; 1 or 0.
    """
    fixed = ops.stop_gradient(logits)
    highest = ops.max(fixed, axis=-1, keepdims=True)
    exponentials = ops.exp(fixed - highest)  # -> [N, V]
    total = ops.sum(exponentials, axis=-1, keepdims=True)  # -> [N, 1]
    log_total = (ops.log(total) + highest)[:, 0]
    plain = log_total - ops.take_along_axis(fixed, labels[:, None], axis=-1)[:, 0]
    best = ops.argmax(ops.view(exponentials, dtype="int32"), axis=-1)
    correct = ops.cast(ops.equal(best, ops.cast(labels, best.dtype)), "float32")
    objective = plain
    if smoothing:
        objective = (1 - smoothing) * plain + smoothing * (log_total - ops.mean(fixed, axis=-1))

    @ops.custom_gradient
    def with_gradient(_: Any) -> tuple[Any, Any]:
        # ∂objective/∂logits = softmax − (1−ε)·onehot(label) − ε/V; keep in step with ``objective``.
        def gradient(*arguments: Any, upstream: Any = None) -> Any:
            upstream = arguments[0] if upstream is None else upstream
            spread = smoothing / logits.shape[-1]
            slopes = exponentials * (upstream[:, None] / total)
            if smoothing:
                slopes = slopes - upstream[:, None] * spread
            at_label = upstream * (ops.exp(-plain) - (1 - smoothing) - spread)
            places = ops.stack([ops.arange(ops.shape(labels)[0], dtype=labels.dtype), labels], axis=1)
            return ops.scatter_update(slopes, places, at_label)

        return objective, gradient

    objective = with_gradient(logits)
    return objective, plain if smoothing else objective, correct
