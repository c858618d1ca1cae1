"""System under test: ``ptenmt.train``, as ``ptenmt train`` calls it.

    python ptenmt_training.py TASK_FOLDER

Validation and saving are not counted. The task has the number of tokens of each step: the seed determines the
batches.
"""

import sys
from itertools import accumulate
from pathlib import Path

from interleave import Turns
from task import Task

import ptenmt
from ptenmt.training.events import CheckpointSaved, Event, StepDone, Validated, ValidationStep

NOT_COUNTED = (ValidationStep, Validated, CheckpointSaved)
"""Events between two steps that exclude the second step's time."""


class Stopwatch:
    """Counts the tokens of each step; between turns it blocks the training.

    Args:
        label_counts: For each epoch, the number of real labels of each step.
    """

    def __init__(self, label_counts: list[list[int]]) -> None:
        self._tokens_after = [[0, *accumulate(counts)] for counts in label_counts]
        self._turns = Turns()
        self._previous: StepDone | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, NOT_COUNTED):
            self._previous = None
        if not isinstance(event, StepDone):
            return
        previous, self._previous = self._previous, event
        if previous is None or previous.epoch != event.epoch:
            self._turns.mark()
            return
        tokens_after = self._tokens_after[event.epoch - 1]
        self._turns.count(tokens_after[event.step_in_epoch] - tokens_after[previous.step_in_epoch])


def main() -> None:
    task = Task(Path(sys.argv[1]))
    ptenmt.train(
        ptenmt.load_config(task.config_file),
        task.run_folder,
        on_event=Stopwatch(task.label_counts()),
    )


if __name__ == "__main__":
    main()
