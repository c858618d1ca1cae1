"""Averaging the weights of several checkpoints into a run of its own."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ptenmt.errors import RunError
from ptenmt.model.ctranslate2_model import why_not_ctranslate2
from ptenmt.runs import Run, find_run, run_path, written_whole
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.runs.weights import write_weights
from ptenmt.tokenizers import load_tokenizers

_AtStep = tuple[int, dict[str, np.ndarray]]


def average(run: str | Path | None = None, *, last: int | None = None, to: str | Path | None = None) -> Path:
    """Average the weights of a run's last checkpoints (Vaswani et al. 2017, section 6.1).

    If the training kept an EMA of the weights, that is averaged. ``last`` is the number of the newest
    checkpoints, by default all. ``to`` is the new run, a path or name; by default beside the run, its name
    plus ``-averaged``.

    Returns:
        The new run's folder, a run like any other. It is written whole or not at all.

    Raises:
        RunError: There is no such run, it has fewer, or the new one exists already.
        CheckpointError: One of them cannot be read, or the average cannot be written.
        OutputError: The folder cannot be written.
    """
    from ptenmt.training.state import read_checkpoint  # which imports TensorFlow

    origin = find_run(run)
    checkpoints = _chosen(origin, last)
    name = f"{origin.name}-averaged"
    beside = run_path(name) if origin.is_bundled else origin.path.with_name(name)
    target = Run(beside if to is None else run_path(to))
    with written_whole(target, "--to") as new:
        step, mean = _mean(map(read_checkpoint, checkpoints))
        config, tokenizers = origin.config(), load_tokenizers(origin.tokenizer_folder)
        averaged = {"run": str(origin.path.absolute()), "checkpoints": [path.name for path in checkpoints]}
        new.write(config, origin.facts() | {"averaged_from": averaged})
        tokenizers.save(new.tokenizer_folder)
        info = write_weights(new.weights_folder / "best.safetensors", mean, config, step)
        if config.task == "translation" and not why_not_ctranslate2(config.model):
            ctranslate2_model(TrainedModel(new, config, tokenizers, info))  # which fills the cache
    return target.path


def _chosen(run: Run, last: int | None) -> list[Path]:
    """The checkpoints to average, the newest first."""
    checkpoints = run.checkpoints()
    if not checkpoints:
        hint = "average a run that training has saved here: --run NAME"
        raise RunError(f"{run.path} has no checkpoints", hint)
    last = len(checkpoints) if last is None else last
    if not 1 <= last <= len(checkpoints):
        raise RunError(
            f"--last {last} is not between 1 and {len(checkpoints)}, the number of checkpoints of {run.path}",
            "checkpoint.keep is how many a training keeps",
        )
    return checkpoints[:last]


def _mean(models: Iterable[_AtStep]) -> _AtStep:
    """The largest step, and the mean of the weights; one model at a time is in memory."""
    steps: list[int] = []
    sums: dict[str, np.ndarray] = {}
    for step, weights in models:
        steps.append(step)
        sums = {name: sums.get(name, 0) + array.astype(np.float64) for name, array in weights.items()}
    return max(steps), {name: (total / len(steps)).astype(np.float32) for name, total in sums.items()}
