"""Saving and restoring everything that the next training step depends on."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from ptenmt.atomic_files import write_text
from ptenmt.config import ModelConfig
from ptenmt.errors import CheckpointError, RunError
from ptenmt.history import rank
from ptenmt.model import Transformer
from ptenmt.runs import Choice, Model, Run
from ptenmt.tokenizers import TokenizerPair
from ptenmt.variable_files import (
    DamagedError,
    reading,
    remove_unfinished_variables,
    remove_variables,
    saving,
    write_variables,
)


class Checkpoints:
    """The checkpoints of one run directory: everything that the next training step depends on.

    Nothing is written or removed before ``restore`` or ``save``.

    Args:
        state: What is saved and restored, variable by variable.
        folder: The run directory.
        keep: How many checkpoints stay.
    """

    def __init__(self, state: tf.train.Checkpoint, folder: Path, keep: int) -> None:
        self._run = Run(folder)
        self._checkpoint = state
        self._keep = keep
        self._number = max(map(_number, self._run.checkpoints()), default=0)

    def save(self, step: int) -> Path:
        """Write a checkpoint; the ones before it stay valid whatever happens.

        Args:
            step: Of the training, which whoever has no TensorFlow can read in ``checkpoint``.

        Raises:
            CheckpointError: The disk is full or the folder cannot be written.
        """
        path = self._run.path / f"ckpt-{self._number + 1}"
        write_variables(self._checkpoint, path)
        self._number += 1
        newest_first = [found for found in self._run.checkpoints() if _number(found) <= self._number]
        kept = newest_first[: self._keep]
        with saving(self._run.path):
            for old in self._run.checkpoints():  # those with a higher number were damaged and passed over
                if old not in kept:
                    remove_variables(old)
            write_text(self._run.path / "checkpoint", _listing(kept, step))
        return path

    def restore(self, on_damaged: Callable[[str], None]) -> Path | None:
        """Restore the newest checkpoint that can be read; what killed saves left behind is removed.

        Args:
            on_damaged: Told, in a sentence, of each newer checkpoint that cannot.

        Returns:
            The checkpoint, or None if the run has none yet.

        Raises:
            CheckpointError: There are checkpoints, but none can be read.
        """
        with saving(self._run.path):
            remove_unfinished_variables(self._run.path)
        paths = self._run.checkpoints()
        for path in paths:
            try:
                with reading(path):
                    self._checkpoint.read(str(path)).assert_existing_objects_matched()
            except DamagedError as error:
                on_damaged(f"{error.message}; it is passed over")
                continue
            self._number = _number(path)
            return path
        if paths:
            raise CheckpointError(
                f"none of the {len(paths)} checkpoints in {self._run.path} can be read",
                "put copies of them back, or start anew with --fresh",
            )
        self._number = 0
        return None


class BestModels:
    """The best models of a training so far, weights alone, which is what translates.

    Args:
        run: Where they are.
        keep: How many stay.
        metric: The score they are chosen by.
    """

    def __init__(self, run: Run, keep: int, metric: str) -> None:
        self._run = run
        self._keep = keep
        self._metric = metric

    def add(self, weights: Mapping[str, Any], step: int, score: float, loss: float) -> Path | None:
        """Keep a model if it is among the best; the worst of those before gives way to it.

        Whenever the process dies, ``best.json`` names whole models only. Of models with equal scores
        the one with the lower loss is the better, of equal ones the earlier.

        Args:
            weights: TensorFlow's variables by their Keras paths.
            step: After which the model was scored.
            score: What it scored.
            loss: Of the same validation.

        Returns:
            Where it is, or None if others are better.

        Raises:
            CheckpointError: The disk is full or the folder cannot be written.
        """
        before = self._run.best_models()
        others = [model for model in before if model.step != step]
        new = Model(name=f"weights-{step}", step=step, score=score, loss=loss)
        kept = sorted([*others, new], key=self._rank, reverse=True)[: self._keep]
        with saving(self._run.path):
            if others != before:  # what is written over must not be named meanwhile
                self._run.write_best_models(others)
            if new in kept:
                save_weights(weights, self._run.path / new.name)
            if kept != others:
                self._run.write_best_models(kept)
            self._tidy()
        return self._run.path / new.name if new in kept else None

    def tidy(self) -> None:
        """Remove models that are not among the best any more or not whole, and forget lost ones.

        Raises:
            CheckpointError: The folder cannot be written.
        """
        with saving(self._run.path):
            self._tidy()

    def _tidy(self) -> None:
        models = self._run.best_models()
        found = [model for model in models if (self._run.path / f"{model.name}.index").exists()]
        if found != models:
            self._run.write_best_models(found)
        names = {model.name for model in found}
        for file in self._run.path.glob("weights-*.*"):
            name = file.name.split(".")[0]
            if name.removeprefix("weights-").isdigit() and name not in names:
                file.unlink(missing_ok=True)

    def _rank(self, model: Model) -> tuple[float, float, int]:
        return rank(self._metric, model.score, model.loss) + (-model.step,)


def save_weights(weights: Mapping[str, Any], path: Path) -> Path:
    """Write a model's weights alone.

    Args:
        weights: TensorFlow's variables by their Keras paths.
        path: Without an ending.

    Raises:
        CheckpointError: The disk is full or the folder cannot be written.
    """
    write_variables(tf.train.Checkpoint(weights=dict(weights)), path)
    return path


def restore_weights(model: Any, run: Run, on_damaged: Callable[[str], None], choice: Choice = "best") -> Path:
    """Give a model the weights of a run (see ``load_weights``); tells from which file."""
    path, weights = load_weights(run, on_damaged, choice)
    assign_weights(model, weights, path)
    return path


def load_weights(
    run: Run, on_damaged: Callable[[str], None], choice: Choice = "best"
) -> tuple[Path, dict[str, np.ndarray]]:
    """Read a run's weights alone; where the training keeps a moving average of them, that.

    Args:
        run: Where they are.
        on_damaged: Told, in a sentence, of each checkpoint that is passed over because it is damaged.
        choice: Which weights; if none of the best can be read, the latest.

    Returns:
        The file they are from, without its ending, and arrays by Keras path.

    Raises:
        CheckpointError: The run has no checkpoint that can be read.
    """
    best = _best_paths(run, on_damaged) if choice == "best" else []
    latest = run.checkpoints()
    for path in (*best, *latest):
        try:
            return path, read_weights(path)
        except DamagedError as error:
            on_damaged(f"{error.message}; it is passed over")
    if latest or best:
        raise CheckpointError(
            f"none of the {len(latest) + len(best)} checkpoints in {run.path} can be read",
            "put copies of them back, or train anew: ptenmt train --fresh",
        )
    raise CheckpointError(
        f"no checkpoint in {run.path}", f"train it first: ptenmt train --config CONFIG --run {run.path}"
    )


def _best_paths(run: Run, on_damaged: Callable[[str], None]) -> list[Path]:
    try:
        return [run.path / found.name for found in run.best_models()]
    except RunError as error:
        on_damaged(f"{error.message}; the latest weights are taken")
        return []


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Read a model's weights from a checkpoint; where it has a moving average of them, that.

    Args:
        path: Without an ending.

    Returns:
        Arrays by Keras path, such as ``transformer/encoder/block1/self_attention/query/kernel``.

    Raises:
        DamagedError: Its files are cut short, spoilt or lost.
        CheckpointError: It cannot be read.
    """
    with reading(path):
        reader = tf.train.load_checkpoint(str(path))
        names = reader.get_variable_to_shape_map()
        kind = "averages/" if any(name.startswith("averages/") for name in names) else "weights/"
        return {_keras_path(name, kind): reader.get_tensor(name) for name in names if name.startswith(kind)}


def _keras_path(name: str, kind: str) -> str:
    """TensorFlow writes a blank-free name, in which ``.S`` stands for a slash."""
    return name.removeprefix(kind).split("/")[0].replace(".S", "/")


def assign_weights(model: Any, weights: Mapping[str, np.ndarray], path: Path) -> None:
    """Give a model its weights.

    Raises:
        CheckpointError: They are another model's.
    """
    for weight in model.trainable_variables:
        found = weights.get(weight.path)
        if found is None or found.shape != tuple(weight.shape):
            raise CheckpointError(
                f"checkpoint {path} does not fit the model: {weight.path}",
                "another version of ptenmt wrote it: go on with that one, or train anew with --fresh",
            )
        weight.assign(found)


def model_with(
    config: ModelConfig, tokenizers: TokenizerPair, weights: Mapping[str, np.ndarray], path: Path
) -> Transformer:
    """Build a model that has weights already; for arguments and errors see ``assign_weights``."""
    model = Transformer(config, tokenizers.source.vocabulary_size, tokenizers.target.vocabulary_size)
    assign_weights(model, weights, path)
    return model


def _number(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("ckpt-"))


def _listing(checkpoints: Sequence[Path], step: int) -> str:
    """The file by which TensorFlow's own tools find the checkpoints, newest first here, oldest there.

    To them the step, of the newest, is a comment; see ``run_facts.newest_step``.
    """
    names = [f'all_model_checkpoint_paths: "{path.name}"\n' for path in reversed(checkpoints)]
    return "".join([f"# step {step}\n", f'model_checkpoint_path: "{checkpoints[0].name}"\n', *names])


def by_path(variables: Sequence[Any]) -> dict[str, Any]:
    """TensorFlow's variables by their Keras paths, such as ``transformer/encoder/block1/…/kernel``."""
    named = {variable.path: variable.value for variable in variables}
    assert len(named) == len(variables), "two variables share a path"
    return named
