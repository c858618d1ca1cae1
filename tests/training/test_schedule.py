from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from ptenmt.training.schedule import WarmupSchedule, learning_rate


@pytest.mark.parametrize(
    ("step", "rate"),
    [(0, 0.0), (1, 3.493856e-07), (1_000, 3.493856e-04), (4_000, 1.397542e-03), (16_000, 6.987712e-04)],
)
def test_rates_are_the_published_ones(step: int, rate: float):
    assert float(learning_rate(step, 128, 4_000)) == pytest.approx(rate, rel=1e-6)


def test_the_peak_is_at_the_end_of_the_warmup():
    rates = [float(learning_rate(step, 128, 50)) for step in range(1, 201)]
    assert rates.index(max(rates)) + 1 == 50
    assert rates[:50] == sorted(rates[:50])
    assert rates[49:] == sorted(rates[49:], reverse=True)
    assert max(rates) == pytest.approx(128**-0.5 * 50**-0.5, rel=1e-5)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_nth_update_uses_the_nth_rate(compiled: bool):
    """Plain gradient descent with gradient 1 moves by the rate itself; so does Adam."""
    schedule = WarmupSchedule(128, 3)
    for optimizer in (
        keras.optimizers.SGD(schedule),
        keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9),
    ):
        variable = keras.Variable(np.zeros(2, dtype="float32"))
        optimizer.build([variable])

        update = partial(optimizer.apply, [tf.ones(2)], [variable])
        step = tf.function(update) if compiled else update
        moves = []
        for _ in range(6):
            before = variable.numpy()
            step()
            moves.append(float(before[0] - variable.numpy()[0]))
        expected = [128**-0.5 * min(n**-0.5, n * 3**-1.5) for n in range(1, 7)]
        np.testing.assert_allclose(moves, expected, rtol=1e-4)


def test_a_schedule_survives_its_own_config():
    schedule = WarmupSchedule(64, 500)
    copy = WarmupSchedule.from_config(schedule.get_config())
    assert [float(copy(step)) for step in (0, 499, 2_000)] == [
        float(schedule(step)) for step in (0, 499, 2_000)
    ]
    assert float(copy(0)) == pytest.approx(64**-0.5 * 500**-1.5)
