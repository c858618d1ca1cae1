"""How the learning rate goes: it climbs linearly for a while, then stays or falls."""

import math
from typing import Any

import numpy as np

from ptenmt.config import TrainingConfig


def num_warmup_steps(options: TrainingConfig, total_steps: int) -> int:
    """Steps over which the rate climbs: as given, or a share of all (one at least, unless it is 0)."""
    if options.warmup_fraction is None:
        assert options.warmup_steps is not None
        return options.warmup_steps
    return max(round(options.warmup_fraction * total_steps), int(options.warmup_fraction > 0))


def learning_rate(
    step: Any, options: TrainingConfig, d_model: int, total_steps: int, arrays: Any = np
) -> Any:
    """The rate of the ``step``-th update; 0 at step 0.

    It climbs linearly to the peak, which it reaches at the last step of the warm-up. Then it stays
    (``constant``), falls as the root of warm-up / step (``inverse_sqrt``; ``transformer``, with the peak
    (D · warm-up)^-0.5, is Vaswani et al. 2017, equation 3), or follows half a cosine that reaches 0 at
    ``total_steps`` (``cosine``; Loshchilov and Hutter 2017, equation 5, without restarts).

    Args:
        step: From 1; a float, or an array or tensor of them.
        options: Schedule, peak and warm-up.
        d_model: D.
        total_steps: Updates in the whole training, those before a resumption counted.
        arrays: Computes with ``step``: NumPy, or ``keras.ops`` for tensors.

    Returns:
        As many rates as there are steps, of their type.
    """
    warmup = num_warmup_steps(options, total_steps)
    peak = options.learning_rate or (d_model * warmup) ** -0.5
    risen = arrays.minimum(step / max(warmup, 1), 1.0)
    if options.schedule == "constant":
        return peak * risen
    if options.schedule == "cosine":
        progress = arrays.clip((step - warmup) / max(total_steps - warmup, 1), 0.0, 1.0)
        return peak * risen * (0.5 + 0.5 * arrays.cos(math.pi * progress))
    return peak * risen / arrays.sqrt(arrays.maximum(step / warmup, 1.0))
