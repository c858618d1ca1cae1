"""Averaging the weights of several checkpoints into a run of its own."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np

from ptenmt.errors import RunError
from ptenmt.model.ctranslate2_model import why_not_ctranslate2
from ptenmt.runs import Run, find_run, run_path, written_whole
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.runs.weights import best_weights, read_weights, write_weights
from ptenmt.tokenizers import load_tokenizers

_AtStep = tuple[int, dict[str, np.ndarray]]


def average(
    run: str | Path | None = None,
    *,
    last: int | None = None,
    best: int | None = None,
    to: str | Path | None = None,
) -> Path:
    """Average the weights of a run's last checkpoints or best models (Vaswani et al. 2017, section 6.1).

    If the training kept an EMA of the weights, that is averaged. ``last`` is the number of the newest
    checkpoints, by default all; ``best`` instead that of the best models by validation, which works without
    TensorFlow. ``to`` is the new run, a path or name; by default beside the run, its name plus ``-averaged``.

    Returns:
        The new run's folder, a run like any other. It is written whole or not at all.

    Raises:
        RunError: There is no such run, it has fewer, or the new one exists already.
        CheckpointError: One of them cannot be read, or the average cannot be written.
        OutputError: The folder cannot be written.
    """
    origin = find_run(run)
    names, readers = _chosen(origin, last, best)
    name = f"{origin.name}-averaged"
    beside = run_path(name) if origin.is_bundled else origin.path.with_name(name)
    target = Run(beside if to is None else run_path(to))
    with written_whole(target, "--to") as new:
        step, mean = _mean(read() for read in readers)
        _write(new, origin, step, mean, names)
    return target.path


def _chosen(run: Run, last: int | None, best: int | None) -> tuple[list[str], list[Callable[[], _AtStep]]]:
    """The checkpoints or best models to average: names for display, and functions that read them."""
    if last is not None and best is not None:
        raise RunError(f"--last {last} and --best {best} cannot be used together", "give one of them")
    if best is None:
        from ptenmt.training.state import read_checkpoint

        what, option, count, keep = "checkpoints", "last", last, run.config().checkpoint.keep
        readable = [(path.name, partial(read_checkpoint, path)) for path in run.checkpoints()]
    else:
        what, option, count, keep = "best models", "best", best, run.config().checkpoint.keep_best
        infos = best_weights(run.weights_folder)
        readable = [(f"step-{info.step}", partial(_read_best, info.file)) for info in infos]
    if not readable and not run.checkpoints():
        if run.record().averaged_from is not None:
            raise RunError(f"{run.path} is an average itself", "average the run that it was made from")
        if run.is_bundled:
            raise RunError(f"{run.name} comes without {what}", "average a run of your own with --run NAME")
        raise RunError(
            f"{run.path} has no {what} yet", f"train it first: ptenmt train --config CONFIG --run {run.path}"
        )
    count = max(len(readable), 1) if count is None else count
    if not 1 <= count <= len(readable):
        use = f"use --{option} {len(readable)}, or " if readable else ""
        limit = "checkpoint.keep" if best is None else "checkpoint.keep_best"
        more = "" if len(readable) < keep else f"; raise {limit} to keep more"
        available = f"{len(readable)} {what[:-1] if len(readable) == 1 else what}"
        raise RunError(
            f"{run.path} has {available}, fewer than the {count} requested",
            f"{use}train longer{more}",
        )
    return [name for name, _ in readable[:count]], [read for _, read in readable[:count]]


def _read_best(file: Path) -> _AtStep:
    info, arrays = read_weights(file)
    return info.step, arrays


def _mean(models: Iterable[_AtStep]) -> _AtStep:
    """The largest step, and the mean of the weights; one model at a time is in memory."""
    steps: list[int] = []
    sums: dict[str, np.ndarray] = {}
    for step, weights in models:
        steps.append(step)
        sums = {name: sums.get(name, 0) + array.astype(np.float64) for name, array in weights.items()}
    return max(steps), {name: (total / len(steps)).astype(np.float32) for name, total in sums.items()}


def _write(new: Run, origin: Run, step: int, mean: dict[str, np.ndarray], names: list[str]) -> None:
    config = origin.config()
    averaged = {"run": str(origin.path.absolute()), "checkpoints": names}
    new.write(config, origin.facts() | {"averaged_from": averaged})
    tokenizers = load_tokenizers(origin.tokenizer_folder)
    tokenizers.save(new.tokenizer_folder)
    info = write_weights(new.weights_folder / "best.safetensors", mean, config, step)
    if config.task == "translation" and not why_not_ctranslate2(config.model):
        ctranslate2_model(TrainedModel(new, config, tokenizers, info))  # which fills the cache
