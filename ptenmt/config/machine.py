"""The options of the section machine: what a training runs on."""

from dataclasses import dataclass
from typing import Literal

from ptenmt.config.options import require, resumable


@dataclass(frozen=True, kw_only=True)
class MachineConfig:
    """What computes, in which numbers, and how many of it."""

    strategy: Literal["auto", "single", "mirrored", "multi_worker"] = resumable("auto")
    """``single``: one device; ``mirrored``: all GPUs of this machine; ``multi_worker``: several machines,
    named in TF_CONFIG; ``auto``: whichever of them fits what is there (docs/scaling.md)."""
    precision: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"
    """What layers compute in; weights, softmax and loss are float32 always. ``mixed_float16`` scales the
    loss, so that small gradients do not vanish."""
    xla: Literal["auto", "always", "never"] = resumable("auto")
    """Compile the step with XLA, once for every shape of a batch; ``auto``: on a GPU, with ``batch.tokens``,
    whose batches have few shapes."""
    threads: int | None = resumable(None)
    """Threads that compute; by default as many as this process may use cores."""

    def __post_init__(self) -> None:
        require(
            self.threads is None or self.threads >= 1, f"machine.threads={self.threads} must be 1 or more"
        )
