"""The tasks that runs are trained for, and their units and commands."""

from ptenmt.config import TaskName
from ptenmt.errors import RunError
from ptenmt.runs import Run

UNITS: dict[TaskName, str] = {"translation": "pairs", "next-word": "windows"}
"""What the data is counted in."""
COMMANDS: dict[TaskName, str] = {"translation": "translate", "next-word": "complete"}
"""The command that uses a trained model."""

_DOES: dict[TaskName, str] = {"translation": "translates sentences", "next-word": "predicts next words"}


def check_task(run: Run, learnt: TaskName, wanted: TaskName) -> None:
    """Refuse a run that was trained for another task.

    Args:
        run: A trained run.
        learnt: The option ``task`` of its config.
        wanted: The task that is needed.

    Raises:
        RunError: It was trained for another task.
    """
    if learnt != wanted:
        raise RunError(
            f"{run.path} {_DOES[learnt]}, and this is for a run that {_DOES[wanted]}",
            f'what fits it: ptenmt {COMMANDS[learnt]} --run {run.path} "TEXT"',
        )
