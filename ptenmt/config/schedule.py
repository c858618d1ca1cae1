"""The course of a training: its number of steps, and the learning rate of each."""

import math
from typing import Any

from ptenmt.config import TrainingConfig


def num_steps(options: TrainingConfig, steps_per_epoch: int) -> int:
    """Number of steps of a whole training: of all epochs, or as many as ``max_steps`` allows."""
    steps = options.epochs * steps_per_epoch
    return min(steps, options.max_steps or steps)


def num_warmup_steps(options: TrainingConfig, total_steps: int) -> int:
    """Number of warm-up steps: as configured, or a fraction of all (at least one, unless it is 0)."""
    if options.warmup_fraction is None:
        return options.warmup_steps or 0
    return max(round(options.warmup_fraction * total_steps), int(options.warmup_fraction > 0))


def learning_rate(step: Any, options: TrainingConfig, d_model: int, total_steps: int, arrays: Any) -> Any:
    """Return the learning rate of the ``step``-th update; 0 at step 0.

    The rate rises linearly to its peak at the last step of the warm-up. After it:

    - ``constant``: the peak
    - ``inverse_sqrt``: peak · √(warm-up / step)
    - ``transformer``: the same with the peak (D · warm-up)^-0.5 (Vaswani et al. 2017, equation 3)
    - ``cosine``: half a cosine, down to 0 at ``total_steps`` (Loshchilov & Hutter 2017, equation 5)

    Args:
        step: From 1; a float, or an array or tensor of them.
        options: Schedule, peak and warm-up.
        d_model: D.
        total_steps: Updates in the whole training, including those before it was resumed.
        arrays: Module that computes with ``step``: NumPy, or ``keras.ops`` for tensors.

    Returns:
        Learning rates of the same shape and type as ``step``.
    """
    warmup = num_warmup_steps(options, total_steps)
    peak = options.learning_rate or (d_model * warmup) ** -0.5
    rising = peak * arrays.minimum(step / max(warmup, 1), 1.0)
    if options.schedule == "constant":
        return rising
    if options.schedule == "cosine":
        progress = arrays.clip((step - warmup) / max(total_steps - warmup, 1), 0.0, 1.0)
        return rising * (0.5 + 0.5 * arrays.cos(math.pi * progress))
    return rising / arrays.sqrt(arrays.maximum(step / warmup, 1.0))
