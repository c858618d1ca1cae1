"""The learning rate before a training."""

from typing import Any

import pytest

from ptenmt.config import Config, ModelConfig, TrainingConfig
from ptenmt.errors import ConfigError
from ptenmt.inspection.schedule import schedule_figure, schedule_plot


def config(**training: Any) -> Config:
    return Config(training=TrainingConfig(**training), model=ModelConfig(d_model=128))


def rates(of: Config, steps: int | None = None) -> dict[int, float]:
    (line,) = schedule_plot(of, steps).lines
    return dict(zip(map(int, line.x), map(float, line.y), strict=True))


def test_the_published_rates_are_drawn() -> None:
    drawn = rates(config(), 16_000)
    for step, rate in {1: 3.493856e-07, 4_000: 1.397542e-03, 16_000: 6.987712e-04}.items():
        assert drawn[step] == pytest.approx(rate, rel=1e-6)
    assert max(drawn, key=drawn.__getitem__) == 4_000
    assert schedule_plot(config(), 16_000).title == (
        "Learning rate (transformer): 0.001398 at step 4,000, 0.0006988 at step 16,000"
    )
    short = rates(config(warmup_steps=4), 10)
    assert list(short) == list(range(1, 11))  # every step, where there are few


def test_how_far_is_drawn() -> None:
    constant = {"schedule": "constant", "learning_rate": 0.1, "warmup_steps": 0}
    cosine = {"schedule": "cosine", "learning_rate": 0.1, "warmup_steps": 5}
    assert max(rates(config(warmup_steps=300))) == 1_500
    assert max(rates(config(**constant))) == 100
    assert max(rates(config(warmup_steps=300, max_steps=700))) == 700
    assert max(rates(config(warmup_steps=300, max_steps=700), 800)) == 800
    assert rates(config(**cosine), 50)[50] == pytest.approx(0, abs=1e-9)
    assert rates(config(**cosine), 90)[50] > 0.01


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"schedule": "cosine", "learning_rate": 0.1}, "training.schedule=cosine"),
        ({"warmup_fraction": 0.1}, "training.warmup_fraction"),
    ],
)
def test_a_schedule_that_depends_on_the_end_wants_to_know_it(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=f"{named}: how the learning rate goes depends on") as refusal:
        schedule_plot(config(**options))
    assert "--steps N" in refusal.value.hint
    assert max(rates(config(**options, max_steps=30))) == 30


def test_the_figure_is_labelled() -> None:
    (axis,) = schedule_figure(config(), 100).axes
    assert axis.get_xlabel() == "step"
    assert len(axis.lines[0].get_xdata()) == 100
