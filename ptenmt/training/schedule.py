"""How the learning rate goes (Vaswani et al. 2017, section 5.3)."""

from typing import Any

import keras
from keras import ops


def learning_rate(step: Any, d_model: int, warmup_steps: int) -> Any:
    """The rate of the ``step``-th update: ``D^-0.5 · min(step^-0.5, step · warmup^-1.5)``.

    It climbs linearly for ``warmup_steps``, then falls with the root of the step; it is 0 at step 0.

    Args:
        step: From 1; a number or a tensor.
        d_model: D.
        warmup_steps: Where the peak is.

    Returns:
        float32 scalar tensor.
    """
    step = ops.cast(step, "float32")
    decay = ops.rsqrt(ops.maximum(step, 1.0))
    return d_model**-0.5 * ops.minimum(decay, step * warmup_steps**-1.5)


class WarmupSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """``learning_rate`` as Keras' optimizers want it: called with the number of updates *before* this one.

    Args:
        d_model: D.
        warmup_steps: Where the peak is.
    """

    def __init__(self, d_model: int, warmup_steps: int) -> None:
        self.d_model = d_model
        self.warmup_steps = warmup_steps

    def __call__(self, step: Any) -> Any:
        """The rate of update ``step + 1``."""
        return learning_rate(ops.cast(step, "float32") + 1, self.d_model, self.warmup_steps)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        return {"d_model": self.d_model, "warmup_steps": self.warmup_steps}
