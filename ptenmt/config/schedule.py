"""The course of a training: the steps of its epochs, and the learning rate of each step."""

import math
from dataclasses import dataclass
from typing import Any

from ptenmt.config import TrainingConfig


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


@dataclass(frozen=True)
class EpochSteps:
    """The number of steps of each epoch; constant within a stage of the training.

    ``stages`` has the first epoch of each stage, from 0, and the steps of each of its epochs.
    """

    stages: tuple[tuple[int, int], ...]

    @classmethod
    def from_fact(cls, fact: Any) -> "EpochSteps":
        """Read the entry ``steps_per_epoch`` of ``run.json``."""
        if isinstance(fact, dict):
            return cls(tuple((int(first) - 1, steps) for first, steps in fact.items()))
        return cls(((0, fact),))

    @property
    def fact(self) -> int | dict[str, int]:
        """The entry of ``run.json``: a number; with several stages the steps from each epoch on, from 1."""
        if len(self.stages) == 1:
            return self.stages[0][1]
        return {str(first + 1): steps for first, steps in self.stages}

    def of(self, epoch: int) -> int:
        """Steps of one epoch, counted from 0."""
        return next(steps for first, steps in reversed(self.stages) if first <= epoch)

    def before(self, epoch: int) -> int:
        """Steps of the first ``epoch`` epochs together."""
        ends = [first for first, _ in self.stages[1:]] + [epoch]
        stages = zip(self.stages, ends, strict=True)
        return sum(max(0, min(end, epoch) - first) * steps for (first, steps), end in stages)

    def total(self, options: TrainingConfig) -> int:
        """Steps of a whole training."""
        steps = self.before(options.epochs)
        return min(steps, options.max_steps or steps)

    def position(self, step: int) -> float:
        """Return the number of epochs after a global step, as a fraction."""
        first, steps = next(stage for stage in reversed(self.stages) if self.before(stage[0]) <= step)
        return first + (step - self.before(first)) / steps
