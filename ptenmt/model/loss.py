"""The loss and accuracy of a batch, over its real tokens only."""

from typing import Any, NamedTuple

from keras import ops

from ptenmt.config import TrainingConfig


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
    """Cross-entropy and argmax accuracy, summed over the labels that are not 0.

    Args:
        logits: [B, T, V], or [N, V] from ``real_positions``.
        labels: Ids [B, T] or [N], 0 where padded.
    """
    return _objective_and_sums(logits, labels, 0.0)[1]


def training_loss(logits: Any, labels: Any, options: TrainingConfig) -> tuple[Any, TokenSums]:
    """What training minimises, and what it reports.

    The two differ with label smoothing and R-Drop: reported is the plain cross-entropy all the same, to be
    compared with that of validation. With R-Drop the batch holds every pair twice, in its first and its
    second half; objective and sums are those of the mean of both passes.

    Args:
        logits: [B, T, V], or [N, V] from ``real_positions``.
        labels: Ids [B, T] or [N], 0 where padded.
        options: ``label_smoothing`` and ``r_drop``.

    Returns:
        The objective summed over real labels, a float32 scalar that gradients flow from, and the sums.
    """
    objective, sums = _objective_and_sums(logits, labels, options.label_smoothing)
    if not options.r_drop:
        return objective, sums
    divergence = symmetric_divergence(logits, labels)
    return objective / 2 + options.r_drop / 2 * divergence, TokenSums(*(part / 2 for part in sums))


def symmetric_divergence(logits: Any, labels: Any) -> Any:
    """How much two passes over the same pairs disagree: ``(KL(p‖q) + KL(q‖p)) / 2`` (Wu et al. 2021, R-Drop).

    Args:
        logits: [2B, T, V] or [2N, V]; p is the first half's softmax, q the second's.
        labels: Ids [2B, T] or [2N], 0 where padded; both halves are equal.

    Returns:
        Sum over the real labels of one half, float32 scalar.
    """
    p, q = ops.split(ops.log_softmax(ops.cast(logits, "float32"), axis=-1), 2)
    divergences = ops.sum((ops.exp(p) - ops.exp(q)) * (p - q), axis=-1) / 2
    return ops.sum(divergences * _is_real(ops.split(labels, 2)[0]))


def real_positions(hidden: Any, labels: Any) -> tuple[Any, Any]:
    """Leave the padding out, so that no logits are computed for it.

    The number of real labels differs from batch to batch: not for compilers that need fixed shapes (XLA).

    Args:
        hidden: [B, T, D].
        labels: Ids [B, T], 0 where padded.

    Returns:
        Hidden states [N, D] and labels [N] of the N real labels, sentence by sentence.
    """
    flat = ops.reshape(labels, (-1,))
    (places,) = ops.nonzero(flat)
    return ops.take(ops.reshape(hidden, (-1, hidden.shape[-1])), places, axis=0), ops.take(flat, places)


def _objective_and_sums(logits: Any, labels: Any, smoothing: float) -> tuple[Any, TokenSums]:
    """The objective's sum over real labels, and the sums that are reported."""
    labels = ops.reshape(labels, (-1,))
    logits = ops.cast(ops.reshape(logits, (-1, logits.shape[-1])), "float32")
    objective, losses, correct = _cross_entropy(logits, labels, smoothing)
    real = _is_real(labels)
    sums = TokenSums(ops.sum(losses * real), ops.sum(correct * real), ops.sum(real))
    if not smoothing:
        return sums.loss, sums
    return ops.sum(objective * real), sums


def _cross_entropy(logits: Any, labels: Any, smoothing: float) -> tuple[Any, Any, Any]:
    """Cross-entropy with and without smoothing, and whether the label was the argmax.

    It goes through the logits far fewer times than Keras' functions: the backward pass reuses the forward
    pass' exponentials. The argmax is taken of these, as whole numbers, which order like the positive floats
    that they are; Keras' of floats first looks for negative zeros.

    Args:
        logits: float32 [N, V].
        labels: Ids [N].
        smoothing: ε, which is spread evenly over all V tokens, [PAD] too (Szegedy et al. 2016, section 7).

    Returns:
        float32 [N] each: the smoothed cross-entropy, the only one through which a gradient flows unless
        they are the same; the plain cross-entropy; 1 where the label had the highest logit.
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


def _is_real(labels: Any) -> Any:
    return ops.cast(ops.not_equal(labels, 0), "float32")
