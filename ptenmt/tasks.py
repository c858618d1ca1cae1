"""What runs have learnt, and which command is for which."""

from ptenmt.config import TaskName
from ptenmt.errors import RunError
from ptenmt.runs import Run

UNITS: dict[TaskName, str] = {"translation": "pairs", "next-word": "windows"}
"""What the data are counted in."""
COMMANDS: dict[TaskName, str] = {"translation": "translate", "next-word": "complete"}
"""What a trained model is used with."""

_DOES: dict[TaskName, str] = {"translation": "translates sentences", "next-word": "predicts next words"}


def check_task(run: Run, learnt: TaskName, wanted: TaskName) -> None:
    """Refuse a run that has learnt something else than what is asked of it.

    Args:
        run: A trained one.
        learnt: The option ``task`` of its config.
        wanted: What is asked of it.

    Raises:
        RunError: It says what the run does, and what fits it.
    """
    if learnt != wanted:
        raise RunError(
            f"{run.path} {_DOES[learnt]}, and this is for a run that {_DOES[wanted]}",
            f'what fits it: ptenmt {COMMANDS[learnt]} --run {run.path} "TEXT"',
        )
