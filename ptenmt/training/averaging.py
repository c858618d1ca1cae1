"""Averaging the weights of several checkpoints into a run of its own."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from ptenmt.checkpoints import read_weights, save_weights
from ptenmt.errors import CheckpointError, OutputError, RunError
from ptenmt.export.ctranslate2 import CTRANSLATE2, make_export
from ptenmt.export.limits import why_not_ctranslate2
from ptenmt.export.origin import weights_id
from ptenmt.export.weights import WEIGHTS, make_weights
from ptenmt.runs import Model, Run, find_run, run_path
from ptenmt.tokenizers import TokenizerPair, load_tokenizers
from ptenmt.variable_files import DamagedError


def average(
    run: str | Path | None = None,
    *,
    last: int | None = None,
    best: int | None = None,
    to: str | Path | None = None,
) -> Path:
    """Average the weights of a run's last checkpoints or best models (Vaswani et al. 2017, section 6.1).

    Where the training keeps moving averages of the weights, those are averaged.

    Args:
        run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
        last: Average so many of the newest checkpoints; all there are if neither is given.
        best: Instead: so many of the models that scored best in validation.
        to: The new run, a path or name; by default beside the run, with ``-averaged`` behind its name.

    Returns:
        The new run's folder, which translates and is scored like any other. It is there whole or not at all.

    Raises:
        RunError: There is no such run, it has not so many, or the new one exists already.
        CheckpointError: One of them cannot be read, or the average cannot be written.
        OutputError: The folder cannot be written.
    """
    origin = find_run(run)
    chosen = _chosen(origin, last, best)
    path = origin.path.with_name(f"{origin.name}-averaged") if to is None else run_path(to)
    target = Run(path)
    target.check_writable()
    if path.exists():
        raise RunError(f"{path} exists already", "choose another name with --to")
    tokenizers = load_tokenizers(origin.tokenizer_folder)
    mean = _mean(chosen)
    step = max(map(_step, chosen))
    _write(target, origin, mean, tokenizers, [path.name for path in chosen], step)
    return path


def _chosen(run: Run, last: int | None, best: int | None) -> list[Path]:
    """What is to be averaged."""
    if last is not None and best is not None:
        raise RunError(f"--last {last} and --best {best} exclude each other", "give one of them")
    if best is None:
        paths, what, option, count = run.checkpoints(), "checkpoints", "checkpoint.keep", last
    else:
        paths = [run.path / model.name for model in run.best_models()]
        what, option, count = "best models", "checkpoint.keep_best", best
    if not paths and not run.checkpoints():
        raise RunError(
            f"{run.path} has no {what} yet", f"train it first: ptenmt train --config CONFIG --run {run.path}"
        )
    count = max(len(paths), 1) if count is None else count
    if not 1 <= count <= len(paths):
        raise RunError(
            f"{run.path} has {len(paths)} {what[:-1] if len(paths) == 1 else what}, {count} are asked for",
            f"a training keeps as many as {option} says",
        )
    return paths[:count]


def _mean(paths: Sequence[Path]) -> dict[str, np.ndarray]:
    """The mean of what the files hold, by the weights' paths; they are read one after the other."""
    sums: dict[str, np.ndarray] = {}
    try:
        for path in paths:
            weights = read_weights(path)
            sums = {name: sums.get(name, 0) + array.astype(np.float64) for name, array in weights.items()}
    except DamagedError as error:
        raise CheckpointError(error.message, "average fewer of them, or take it out of the run") from error
    return {name: (total / len(paths)).astype(weights[name].dtype) for name, total in sums.items()}


def _step(path: Path) -> int:
    if path.name.startswith("weights-"):
        return int(path.name.removeprefix("weights-"))
    return int(tf.train.load_checkpoint(str(path)).get_tensor("updates/.ATTRIBUTES/VARIABLE_VALUE"))


def _write(
    target: Run,
    origin: Run,
    mean: dict[str, np.ndarray],
    tokenizers: TokenizerPair,
    names: list[str],
    step: int,
) -> None:
    """Write the new run, exports included, beside its place, then put it there."""
    new = Run(target.path.absolute().with_name(f".{target.name}.{os.getpid()}.new"))
    averaged = {"run": str(origin.path.absolute()), "checkpoints": names}
    try:
        new.write(origin.config(), origin.facts() | {"averaged_from": averaged})
        tokenizers.save(new.tokenizer_folder)
        path = save_weights(
            {name: tf.Variable(array) for name, array in mean.items()}, new.path / f"weights-{step}"
        )
        model, exported = origin.config().model, weights_id(path)
        WEIGHTS.write(new.export_folder("best", WEIGHTS.name), make_weights(model, mean, exported))
        if origin.config().task == "translation" and not why_not_ctranslate2(model):
            CTRANSLATE2.write(new.export_folder(), make_export(model, mean, tokenizers, exported))
        new.write_best_models([Model(name=f"weights-{step}", step=step, score=None)])
        new.path.rename(target.path)
    except OSError as error:
        raise OutputError(f"cannot write {target.path}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(new.path, ignore_errors=True)
