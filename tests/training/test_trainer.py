from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from recorded_events import ends_of_epochs

from ptenmt.config import BatchConfig, Config, TrainingConfig
from ptenmt.data.batches import Batch, BatchPlan
from ptenmt.model.transformer import Transformer
from ptenmt.training import trainer as trainer_module
from ptenmt.training.events import StepDone
from ptenmt.training.trainer import Throughput


class HandLoop:
    """A training loop written by hand: loss and Adam, without the product's training code."""

    def __init__(self, model: Transformer, d_model: int, warmup: int) -> None:
        self.model = model
        self.d_model, self.warmup = d_model, warmup
        self.means = [np.zeros(weight.shape) for weight in model.trainable_variables]
        self.squares = [np.zeros(weight.shape) for weight in model.trainable_variables]
        self.updates = 0

    def step(self, batches: Sequence[Batch]) -> np.ndarray:
        """Make an update; return the summed loss, and the numbers of correct and of real labels."""
        sums, losses = np.zeros(3), []
        weights = self.model.trainable_variables
        with tf.GradientTape() as tape:
            for source, target in batches:
                labels = target[:, 1:]
                rows, columns = np.nonzero(labels)
                real = labels[rows, columns]
                logits = self.model((source, target[:, :-1]), training=True)
                chosen = tf.gather_nd(logits, np.stack([rows, columns], axis=1))
                right = tf.gather_nd(chosen, np.stack([np.arange(len(real)), real], axis=1))
                losses.append(tf.reduce_logsumexp(chosen, axis=-1) - right)
                correct = (np.array(chosen).argmax(axis=-1) == real).sum()
                sums += [float(tf.reduce_sum(losses[-1])), correct, len(real)]
            mean = tf.reduce_mean(tf.concat(losses, axis=0))
        self.update(tape.gradient(mean, [weight.value for weight in weights]))
        return sums

    def update(self, gradients: list[Any]) -> None:
        self.updates += 1
        n = self.updates
        rate = self.d_model**-0.5 * min(n**-0.5, n * self.warmup**-1.5)
        for index, (weight, gradient) in enumerate(
            zip(self.model.trainable_variables, gradients, strict=True)
        ):
            self.means[index] = 0.9 * self.means[index] + 0.1 * dense(gradient)
            self.squares[index] = 0.98 * self.squares[index] + 0.02 * dense(gradient) ** 2
            mean, square = self.means[index] / (1 - 0.9**n), self.squares[index] / (1 - 0.98**n)
            weight.assign(weight.numpy() - rate * mean / (np.sqrt(square) + 1e-9))


def dense(gradient: Any) -> np.ndarray:
    return tf.convert_to_tensor(gradient).numpy().astype("float64")


NEWER: dict[str, str] = {"norm": "pre", "tied_embeddings": "all", "activation": "swiglu"}


# Step by step in NumPy: one model in each run of all tests, another with the slow ones.
# Compiled steps learn the same in test_strategy.py.
@pytest.mark.parametrize(("options", "accumulate"), [(NEWER, 2), pytest.param({}, 1, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("_every_step", "_uncompiled")
def test_it_trains_as_a_loop_written_by_hand_does(
    quick: Config,
    build_trainer: Callable[[Config, Path], Any],
    tmp_path: Path,
    options: dict[str, str],
    accumulate: int,
):
    """Three batches an epoch: two accumulate, and one is left."""
    config = replace(
        quick,
        batch=BatchConfig(sentences=16, accumulate=accumulate),
        tokenizer=replace(quick.tokenizer, shared=True),
        model=replace(quick.model, dropout=0.0, **options),
        training=TrainingConfig(epochs=2, warmup_steps=40),
    )
    trainer, model, pairs, _ = build_trainer(config, tmp_path / "run")
    by_hand = HandLoop(build_trainer(config, tmp_path / "hand").model, 16, 40)
    events = list(trainer.fit())
    steps = [event for event in events if isinstance(event, StepDone)]
    epochs = ends_of_epochs(events)
    for epoch in range(2):
        sums = np.zeros(3)
        batches = BatchPlan(pairs, config.batch, config.seed).batches(epoch)
        while update := list(islice(batches, accumulate)):
            sums += by_hand.step(update)
            loss, correct, tokens = sums
            done = steps.pop(0)
            assert (done.loss, done.accuracy) == pytest.approx((loss / tokens, correct / tokens), rel=1e-4)
            n = by_hand.updates
            assert done.learning_rate == pytest.approx(16**-0.5 * min(n**-0.5, n * 40**-1.5), rel=1e-5)
        assert sums[2] == int(pairs.target.lengths.sum()) - len(pairs)
        assert epochs[epoch].loss == pytest.approx(sums[0] / sums[2], rel=1e-4)
        assert epochs[epoch].accuracy == pytest.approx(sums[1] / sums[2], rel=1e-4)
    assert not steps
    for found, expected in zip(model.trainable_variables, by_hand.model.trainable_variables, strict=True):
        if found.path.endswith("attention/key/bias"):
            continue  # its gradient is zero but for rounding, and Adam makes full steps of the rounding
        np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=2e-3, err_msg=found.path)


def test_a_trainer_that_is_stopped_before_its_first_step_saves_its_state(
    quick: Config, build_trainer: Callable[[Config, Path], Any], tmp_path: Path
):
    trainer, _, _, run = build_trainer(quick, tmp_path / "run")
    trainer.stop()
    names = [type(event).__name__ for event in trainer.fit()]
    assert names == ["TrainingStarted", "CheckpointSaved", "Stopped"]
    assert len(run.checkpoints()) == 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds, as the module reads them."""
    now = [0.0]
    monkeypatch.setattr(trainer_module.time, "perf_counter", lambda: now[0])
    return now


def add_steps(measured: Throughput, clock: list[float], *seconds: float) -> None:
    for each in seconds:
        clock[0] += each
        measured.add_step()


def test_what_is_left_is_the_mean_of_all_steps_but_the_first(clock: list[float]) -> None:
    measured = Throughput()
    measured.start(100)
    add_steps(measured, clock, 60.0)
    assert measured.seconds_left(10) is None
    add_steps(measured, clock, 1.0, 3.0)
    assert measured.seconds_left(10) == 20
    assert measured.tokens_per_second(228) == 128 / 64
    clock[0] += 100.0  # a validation
    measured.start(228)
    add_steps(measured, clock, 4.0)
    assert measured.seconds_left(3) == 108
    assert measured.tokens_per_second(240) == 12 / 4
