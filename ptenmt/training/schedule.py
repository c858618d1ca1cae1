"""How the learning rate goes: it climbs linearly for a while, then stays or falls."""

import math
from typing import Any

from keras import ops

from ptenmt.config import TrainingConfig


def num_warmup_steps(options: TrainingConfig, total_steps: int) -> int:
    """Steps over which the rate climbs: as given, or a share of all (one at least, unless it is 0)."""
    if options.warmup_fraction is None:
        assert options.warmup_steps is not None
        return options.warmup_steps
    return max(round(options.warmup_fraction * total_steps), int(options.warmup_fraction > 0))


def learning_rate(step: Any, options: TrainingConfig, d_model: int, total_steps: int) -> Any:
    """The rate of the ``step``-th update; 0 at step 0.

    It climbs linearly to the peak, which it reaches at the last step of the warm-up. Then it stays
    (``constant``), falls as the root of warm-up / step (``inverse_sqrt``; ``transformer``, with the peak
    (D · warm-up)^-0.5, is Vaswani et al. 2017, equation 3), or follows half a cosine that reaches 0 at
    ``total_steps`` (``cosine``; Loshchilov and Hutter 2017, equation 5, without restarts).

    Args:
        step: From 1; a number or a tensor.
        options: Schedule, peak and warm-up.
        d_model: D.
        total_steps: Updates in the whole training, those before a resumption counted.

    Returns:
        float32 tensor of the shape of ``step``.
    """
    warmup = num_warmup_steps(options, total_steps)
    peak = options.learning_rate or (d_model * warmup) ** -0.5
    step = ops.cast(step, "float32")
    risen = ops.minimum(step / max(warmup, 1), 1.0)
    if options.schedule == "constant":
        return peak * risen
    if options.schedule == "cosine":
        progress = ops.clip((step - warmup) / max(total_steps - warmup, 1), 0.0, 1.0)
        return peak * risen * (0.5 + 0.5 * ops.cos(math.pi * progress))
    return peak * risen * ops.rsqrt(ops.maximum(step / warmup, 1.0))
