"""Beginning a training with another run's weights and tokenizers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ptenmt.config import Config
from ptenmt.config.loading import flat_options, show_value
from ptenmt.errors import RunError
from ptenmt.runs import Run, find_run
from ptenmt.tasks import check_task
from ptenmt.trained_model import TrainedModel, assign_weights

_TOKENIZER_OPTIONS = ("kind", "vocabulary_size", "shared", "algorithm", "punctuation", "order")


class Origin:
    """A run that another one begins with.

    Args:
        name: A path, or a name below ``checkpoints/``.
        config: The new run's options.
        run: The new run.

    Raises:
        RunError: There is no run of that name, it is the new run itself, it has learnt another task, or its
            model or tokenizers are others than the config says.
    """

    def __init__(self, name: str | Path, config: Config, run: Run) -> None:
        self._run = find_run(name)
        if self._run.path.absolute() == run.path.absolute():
            raise RunError(
                f"{run.path} cannot begin with its own weights",
                "choose another name for the new run: --run NAME",
            )
        before = self._run.config()
        check_task(self._run, before.task, config.task)
        wanted, given = flat_options(config), flat_options(before)
        differences = [option for option in wanted if _must_agree(option) and wanted[option] != given[option]]
        if differences:
            told = "; ".join(
                f"{option}: {show_value(given[option])} → {show_value(wanted[option])}"
                for option in differences
            )
            mended = " ".join(f"--set {option}={show_value(given[option])}" for option in differences)
            raise RunError(
                f"{self._run.path} gives its model and tokenizers, and the config asks for others: {told}",
                f"take them as they are: {mended}",
            )

    @property
    def tokenizer_folder(self) -> Path:
        """Where its tokenizers are."""
        return self._run.tokenizer_folder

    def restore(self, model: Any, on_warning: Callable[[str], None]) -> Path:
        """Give a model the run's best weights, or if it was never validated, its latest.

        Args:
            model: Built.
            on_warning: Called with a message for each damaged file of weights.

        Returns:
            The file they are from.

        Raises:
            CheckpointError: The run has no weights that can be read.
        """
        trained = TrainedModel.load(self._run, on_warning=on_warning)
        assign_weights(model, trained.weights, trained.info.file)
        return trained.info.file


def _must_agree(option: str) -> bool:
    section, _, name = option.partition(".")
    if section == "tokenizer":
        return name in _TOKENIZER_OPTIONS
    return section == "model" and "dropout" not in name
