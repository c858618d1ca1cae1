"""How fast a training goes, and how long it will take."""

from collections import deque

_RECENT_STEPS = 500
_RECENT_VALIDATIONS = 3  # an early model's translations are of other lengths


class Pace:
    """Means over the latest steps and validations of this process.

    The first step is left out, and the beginning of the first validation: they wait for compilations.
    """

    def __init__(self) -> None:
        self._num_steps = 0
        self._steps: deque[float] = deque(maxlen=_RECENT_STEPS)
        self._validations: deque[float] = deque(maxlen=_RECENT_VALIDATIONS)
        self._epoch_seconds = 0.0
        self._tokens_before = 0.0

    def start_epoch(self, tokens: float) -> None:
        """Begin an epoch, or what is left of one, of which so many tokens are learnt already."""
        self._epoch_seconds = 0.0
        self._tokens_before = tokens

    def add_step(self, seconds: float) -> None:
        """Count a step, the wait for its data included."""
        self._epoch_seconds += seconds
        if self._num_steps:
            self._steps.append(seconds)
        self._num_steps += 1

    def add_validation(self, seconds: float, until_first_sign: float) -> None:
        """Count a validation.

        Args:
            seconds: All of it.
            until_first_sign: The part before it told for the first time how far it is.
        """
        self._validations.append(seconds if self._validations else seconds - until_first_sign)

    def tokens_per_second(self, tokens: float) -> float:
        """The speed of the epoch so far, of which so many tokens are learnt now."""
        return (tokens - self._tokens_before) / self._epoch_seconds

    def seconds_left(self, steps: int, validations: int) -> float | None:
        """How long so many more steps and validations take; None before the second step."""
        if not self._steps:
            return None
        return steps * _mean(self._steps) + validations * _mean(self._validations)


def _mean(seconds: deque[float]) -> float:
    return sum(seconds) / max(len(seconds), 1)
