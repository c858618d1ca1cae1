"""The number of steps of each epoch, which depends on the stage of the training."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EpochSteps:
    """The number of steps of each epoch; constant within a stage of the training.

    ``stages`` has of each stage its first epoch, from 0, and the steps of each of its epochs.
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

    def total(self, epochs: int, max_steps: int | None) -> int:
        """Steps of a whole training, by ``training.epochs`` and ``training.max_steps``."""
        return min(self.before(epochs), max_steps or self.before(epochs))

    def locate(self, step: int) -> tuple[int, int]:
        """Return the number of complete epochs after a global step, and the steps of the next one."""
        first, steps = next(stage for stage in reversed(self.stages) if self.before(stage[0]) <= step)
        epochs, rest = divmod(step - self.before(first), steps)
        return first + epochs, rest

    def position(self, step: int) -> float:
        """Return the number of epochs after a global step, as a fraction."""
        epoch, rest = self.locate(step)
        return epoch + rest / self.of(epoch)
