from math import cos, pi
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from ptenmt.config import TrainingConfig
from ptenmt.config.schedule import learning_rate, num_steps
from ptenmt.errors import ConfigError

TOTAL = 200
PEAK = 0.01


def rates(first: int = 1, total: int = TOTAL, **options: Any) -> list[float]:
    """The rates of the updates from ``first`` to ``total``, asked for one by one."""
    config = TrainingConfig(**options)
    return [float(learning_rate(step, config, 128, total, np)) for step in range(first, total + 1)]


@pytest.mark.parametrize(
    ("step", "rate"),
    [(0, 0.0), (1, 3.493856e-07), (1_000, 3.493856e-04), (4_000, 1.397542e-03), (16_000, 6.987712e-04)],
)
def test_rates_are_the_published_ones(step: int, rate: float):
    assert float(learning_rate(step, TrainingConfig(), 128, 16_200, np)) == pytest.approx(rate, rel=1e-6)


def test_inverse_square_root_falls_from_the_peak_that_is_asked_for():
    rate = rates(schedule="inverse_sqrt", learning_rate=PEAK, warmup_steps=50)
    assert rate[0] == pytest.approx(PEAK / 50)
    assert rate[24] == pytest.approx(PEAK / 2)
    assert max(rate) == rate[49] == pytest.approx(PEAK)
    assert rate[97] == pytest.approx(PEAK * 5 / 7, rel=1e-6)  # step 98 = 2 · 49, so √(50/98) = 5/7
    assert rate[199] == pytest.approx(PEAK / 2)


def test_the_cosine_ends_at_zero_with_the_training():
    rate = rates(schedule="cosine", learning_rate=PEAK, warmup_steps=50)
    assert rate[24] == pytest.approx(PEAK / 2)
    assert max(rate) == rate[49] == pytest.approx(PEAK)
    assert rate[99] == pytest.approx(0.75 * PEAK, rel=1e-6)  # a third of the way: (1 + cos 60°) / 2
    assert rate[124] == pytest.approx(PEAK / 2, rel=1e-6)
    assert rate[149] == pytest.approx(0.25 * PEAK, rel=1e-6)
    assert rate[199] == pytest.approx(0, abs=1e-9)
    longer = rates(schedule="cosine", learning_rate=PEAK, warmup_steps=50, total=350)
    assert longer[199] == pytest.approx(PEAK / 2, rel=1e-6)


def test_without_a_warmup_the_first_update_has_the_whole_rate():
    np.testing.assert_allclose(
        rates(schedule="constant", learning_rate=PEAK, warmup_steps=0), PEAK, rtol=1e-6
    )
    np.testing.assert_allclose(
        rates(schedule="cosine", learning_rate=PEAK, warmup_fraction=0),
        [PEAK * (1 + cos(pi * n / TOTAL)) / 2 for n in range(1, TOTAL + 1)],
        rtol=1e-4,
        atol=1e-9,
    )


@pytest.mark.parametrize("schedule", ["transformer", "cosine"])
def test_a_fraction_is_that_share_of_all_steps(schedule: str):
    peak = {} if schedule == "transformer" else {"learning_rate": PEAK}
    share = rates(schedule=schedule, warmup_fraction=0.25, **peak)
    assert share == rates(schedule=schedule, warmup_steps=50, **peak)
    longer = rates(schedule=schedule, warmup_fraction=0.25, total=400, **peak)
    assert longer == rates(schedule=schedule, warmup_steps=100, total=400, **peak)


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "cosine", "constant"])
@pytest.mark.parametrize("total", [1, 50])
def test_a_warmup_as_long_as_the_training_gives_finite_rates(schedule: str, total: int):
    rate = rates(first=0, total=total, schedule=schedule, learning_rate=PEAK, warmup_steps=50)
    np.testing.assert_allclose(rate, [PEAK * n / 50 for n in range(total + 1)], rtol=1e-5)


@pytest.mark.parametrize("schedule", ["transformer", "inverse_sqrt", "cosine", "constant"])
def test_a_tensor_of_steps_gives_the_rates_of_each_in_a_graph(schedule: str):
    peak = {} if schedule == "transformer" else {"learning_rate": PEAK}
    config = TrainingConfig(schedule=schedule, warmup_steps=50, **peak)  # type: ignore[arg-type]
    compiled = tf.function(lambda steps: learning_rate(ops.cast(steps, "float32"), config, 128, TOTAL, ops))
    together = compiled(tf.range(TOTAL + 1, dtype="int64"))
    assert together.dtype == tf.float32
    one_by_one = rates(first=0, schedule=schedule, warmup_steps=50, **peak)
    np.testing.assert_allclose(together, one_by_one, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": 0.1}, "learning_rate=0.1 does not go with training.schedule=transformer"),
        ({"schedule": "cosine"}, "training.schedule=cosine needs training.learning_rate"),
        ({"schedule": "constant", "learning_rate": 0.0}, "training.learning_rate=0.0 must be above 0"),
        (
            {"warmup_steps": 5, "warmup_fraction": 0.1},
            "training.warmup_steps=5 and training.warmup_fraction=0.1 cannot be used together",
        ),
        ({"warmup_steps": 0}, "schedule=transformer needs training.warmup_steps or warmup_fraction above 0"),
        ({"warmup_steps": -1}, "training.warmup_steps=-1 must be 0 or more"),
        ({"warmup_fraction": 1.5}, "training.warmup_fraction=1.5 must be at most 1"),
    ],
)
def test_options_that_do_not_go_together_are_refused_by_name(options: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        TrainingConfig(**options)


def test_max_steps_ends_a_training_before_its_epochs() -> None:
    assert num_steps(TrainingConfig(epochs=5), 4) == 20
    assert num_steps(TrainingConfig(epochs=5, max_steps=7), 4) == 7
    assert num_steps(TrainingConfig(epochs=1, max_steps=7), 4) == 4
