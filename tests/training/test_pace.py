import pytest

from ptenmt.training.pace import Pace


def test_the_first_step_tells_nothing_and_then_all_that_is_ahead_counts():
    pace = Pace()
    pace.start_epoch(100)
    pace.add_step(60.0)
    assert pace.seconds_left(10, 2) is None
    pace.add_step(1.0)
    pace.add_step(3.0)
    assert pace.seconds_left(10, 2) == 20
    pace.add_validation(8.0, 3.0)  # of which it compiled for 3 seconds
    assert pace.seconds_left(10, 2) == 30
    pace.add_validation(7.0, 3.0)
    assert pace.seconds_left(10, 2) == 32
    assert pace.tokens_per_second(228) == 128 / 64


def test_the_present_speed_counts_not_that_of_hours_ago():
    pace = Pace()
    for seconds in [1.0] * 1_000 + [2.0] * 500:
        pace.add_step(seconds)
    for seconds in (90.0, 1.0, 2.0, 3.0):
        pace.add_validation(seconds, 0.0)
    assert pace.seconds_left(10, 1) == pytest.approx(22)
