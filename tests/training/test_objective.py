"""Label smoothing, seen from what a training makes of the weights."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from ptenmt.config import Config, TrainingConfig
from ptenmt.training.events import StepDone


class Learnt(NamedTuple):
    """What came out of one update."""

    loss: float
    accuracy: float
    weights: np.ndarray


@pytest.fixture
def learn(
    _every_step: None,
    _uncompiled: None,
    quick: Config,
    build_trainer: Callable[[Config, Path], Any],
    tmp_path: Path,
) -> Callable[..., Learnt]:
    """One update of the same weights by the same batch, with these options."""

    def one_update(dropout: float, **options: Any) -> Learnt:
        training = TrainingConfig(
            epochs=1, max_steps=1, schedule="constant", learning_rate=0.01, warmup_steps=0, **options
        )
        config = replace(quick, model=replace(quick.model, dropout=dropout), training=training)
        trainer, model, *_ = build_trainer(config, tmp_path / f"{dropout}{options}")
        (step,) = (event for event in trainer.fit() if isinstance(event, StepDone))
        weights = np.concatenate([np.ravel(weight.numpy()) for weight in model.trainable_variables])
        return Learnt(step.loss, step.accuracy, weights)

    return one_update


def test_smoothing_moves_the_weights_elsewhere_and_reports_the_same_loss(learn: Callable[..., Learnt]):
    """Without dropout, nothing but the smoothing can make a difference."""
    plain, smooth = learn(0.0), learn(0.0, label_smoothing=0.2)
    assert (plain.loss, plain.accuracy) == pytest.approx((smooth.loss, smooth.accuracy), rel=1e-5)
    # Adam's first update goes by the gradient's sign, which smoothing turns for some weights.
    assert np.mean(np.abs(plain.weights - smooth.weights) > 1e-3) > 0.01
