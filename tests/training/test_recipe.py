"""What the recipe's options do to a training; their formulas have tests of their own."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from copy_task import uncompiled
from recorded_events import ends_of_epochs

from ptenmt.config import BatchConfig, Config, MachineConfig, TrainingConfig
from ptenmt.errors import TrainingError
from ptenmt.runs import History
from ptenmt.training.events import Event, StepDone, Warned
from ptenmt.training.step import TrainStep

Build = Callable[[Config, Path], Any]


@pytest.fixture(scope="module")
def steady(quick: Config) -> Config:
    """The quick training without dropout."""
    return replace(quick, model=replace(quick.model, dropout=0.0))


def weights(model: Any) -> dict[str, np.ndarray]:
    return {weight.path: weight.numpy() for weight in model.trainable_variables}


def losses(events: Iterable[Event]) -> list[float]:
    return [event.loss for event in ends_of_epochs(events)]


@pytest.mark.usefixtures("_every_step")  # compiled, as one trains
def test_a_step_that_is_not_finite_is_skipped_and_reported(
    steady: Config, build_trainer: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """With the first 3 of 6 updates skipped, Adam and its moving sums know of 3 only."""
    whole = TrainStep._replica_gradients

    def spoilt(self: Any, *parts: Any) -> Any:
        sums, gradients = whole(self, *parts)
        factor = tf.where(self._state.global_step < 3, np.nan, 1.0)
        return tf.concat([sums[:1] * factor, sums[1:]], 0), [part * factor for part in gradients]

    monkeypatch.setattr(TrainStep, "_replica_gradients", spoilt)
    built = build_trainer(replace(steady, training=replace(steady.training, epochs=1)), tmp_path / "run")
    events = list(built.trainer.fit())
    state = built.trainer._state
    assert (int(state.global_step), int(state.skipped), int(state.skipped_in_row)) == (6, 3, 0)
    assert int(built.trainer._optimizer.variables["count"]) == 3
    assert [event.message for event in events if isinstance(event, Warned)] == [
        f"skipped a step (now at step {number}): the loss or its gradients are not finite"
        for number in (1, 2, 3)
    ]
    assert np.isfinite(losses(events)).all()
    assert all(np.isfinite(value).all() for value in weights(built.model).values())
    assert [line["skipped_steps"] for line in History(built.run.path).validations()] == [3]


@pytest.mark.usefixtures("_every_step", "_uncompiled")
def test_out_of_memory_is_an_error_with_a_hint(
    steady: Config, build_trainer: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def starve(*_parts: Any) -> None:
        raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating\nand a long trace")

    built = build_trainer(steady, tmp_path / "run")
    monkeypatch.setattr(built.trainer._train_step, "_update", starve)
    with pytest.raises(TrainingError, match=r"^out of memory at step 1: OOM when allocating$") as failure:
        list(built.trainer.fit())
    assert "batch.tokens" in failure.value.hint


@pytest.mark.slow  # XLA compiles for half a minute of processor time
def test_xla_computes_the_same(steady: Config, build_trainer: Build, tmp_path: Path):
    one_shape = replace(
        steady, batch=BatchConfig(sentences=64), training=TrainingConfig(epochs=2, warmup_steps=20)
    )
    with uncompiled():
        expected = losses(build_trainer(one_shape, tmp_path / "plain").trainer.fit())
    compiled = build_trainer(replace(one_shape, machine=MachineConfig(xla="always")), tmp_path / "xla")
    assert losses(compiled.trainer.fit()) == pytest.approx(expected, rel=1e-4)


@pytest.mark.usefixtures("_every_step", "_uncompiled")
def test_smoothing_moves_the_weights_elsewhere_and_reports_the_same_loss(
    steady: Config, build_trainer: Build, tmp_path: Path
):
    """One update of the same weights by the same batch."""
    once = TrainingConfig(epochs=1, max_steps=1, schedule="constant", learning_rate=0.01, warmup_steps=0)
    steps, moved = [], []
    for smoothing in (0.0, 0.2):
        config = replace(steady, training=replace(once, label_smoothing=smoothing))
        built = build_trainer(config, tmp_path / str(smoothing))
        steps += [event for event in built.trainer.fit() if isinstance(event, StepDone)]
        moved.append(np.concatenate([np.ravel(value) for value in weights(built.model).values()]))
    plain, smooth = steps
    assert (plain.loss, plain.accuracy) == pytest.approx((smooth.loss, smooth.accuracy), rel=1e-5)
    # Adam's first update goes by the gradient's sign, which smoothing turns for some weights.
    assert np.mean(np.abs(moved[0] - moved[1]) > 1e-3) > 0.01
