"""How fast a training goes, and how long it will take."""


class Pace:
    """Means over the steps and validations of this process.

    The first step is left out: it waits for the compilation.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._step_seconds = 0.0
        self._epoch_seconds = 0.0
        self._tokens_before = 0.0
        self._validations = 0
        self._validation_seconds = 0.0

    def start_epoch(self, tokens: float) -> None:
        """Begin an epoch, or what is left of one, of which so many tokens are learnt already."""
        self._epoch_seconds = 0.0
        self._tokens_before = tokens

    def add_step(self, seconds: float) -> None:
        """Count a step, the wait for its data included."""
        self._epoch_seconds += seconds
        if self._steps:
            self._step_seconds += seconds
        self._steps += 1

    def add_validation(self, seconds: float) -> None:
        """Count a validation."""
        self._validations += 1
        self._validation_seconds += seconds

    def tokens_per_second(self, tokens: float) -> float:
        """The speed of the epoch so far, of which so many tokens are learnt now."""
        return (tokens - self._tokens_before) / self._epoch_seconds

    def seconds_left(self, steps: int, validations: int) -> float | None:
        """How long so many more steps and validations take; None before the second step."""
        if self._steps < 2:
            return None
        a_step = self._step_seconds / (self._steps - 1)
        a_validation = self._validation_seconds / max(self._validations, 1)
        return steps * a_step + validations * a_validation
