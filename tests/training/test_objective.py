"""Label smoothing, R-Drop and SimCut, seen from what a training makes of the weights."""

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
    """Without dropout, R-Drop's two passes agree and nothing but the smoothing can make a difference."""
    agreeing, smooth = learn(0.0, r_drop=5.0), learn(0.0, label_smoothing=0.2)
    assert (agreeing.loss, agreeing.accuracy) == pytest.approx((smooth.loss, smooth.accuracy), rel=1e-5)
    # Adam's first update goes by the gradient's sign, which smoothing turns for some weights.
    assert np.mean(np.abs(agreeing.weights - smooth.weights) > 1e-3) > 0.01


def test_r_drop_weighs_the_disagreement_of_passes_with_dropout(learn: Callable[..., Learnt]):
    weak, strong = learn(0.3, r_drop=1e-6), learn(0.3, r_drop=5.0)
    assert weak.loss == pytest.approx(strong.loss, rel=1e-6)
    assert np.mean(np.abs(weak.weights - strong.weights) > 1e-3) > 0.01


def test_simcut_that_cuts_nothing_off_is_the_plain_loss(
    learn: Callable[..., Learnt], monkeypatch: pytest.MonkeyPatch
):
    plain, changed = learn(0.0), []
    for share in (0.0, 0.5):
        monkeypatch.setattr("ptenmt.training.step.SIMCUT_CUTOFF", share)
        cut = learn(0.0, simcut=20 + share)
        assert (cut.loss, cut.accuracy) == pytest.approx((plain.loss, plain.accuracy), rel=1e-5)
        changed.append(np.mean(np.abs(plain.weights - cut.weights) > 1e-3))
    # Adam's first update goes by the gradient's sign, which rounding turns where the gradient is zero.
    assert changed[0] < 0.01 < changed[1]


def test_simcut_cuts_off_tokens_of_the_second_pass(
    quick: Config, build_trainer: Callable[[Config, Path], Any], tmp_path: Path
):
    config = replace(quick, training=replace(quick.training, simcut=3.0))
    step = build_trainer(config, tmp_path / "run").trainer._train_step
    source = np.repeat([[2, *range(4, 44), 3]], 2000, axis=0)

    def kept(draw: int) -> tuple[np.ndarray, np.ndarray]:
        sides = step._with_cutoff(source, source[:, :-1], np.int64(draw))
        for side in sides:
            np.testing.assert_array_equal(
                np.where(side == -1, source[:, : side.shape[1]], side), source[:, : side.shape[1]]
            )
        return tuple(side.numpy() != -1 for side in sides)

    first, again, other = kept(7), kept(7), kept(8)
    for side, same, different in zip(first, again, other, strict=True):
        assert side[:1000].all()
        assert side[:, 0].all(), "[START]"
        assert side[1000:, 1:41].mean() == pytest.approx(
            0.95, abs=0.005
        )  # 40,000 draws: 4.6 standard deviations
        np.testing.assert_array_equal(side, same)
        assert (side != different).any()
    assert first[0][:, -1].all(), "[END]"
    assert (first[0][:, :-1] != first[1]).any()
