import pytest

from ptenmt.training import trainer
from ptenmt.training.trainer import Throughput


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds, as the module reads them."""
    now = [0.0]
    monkeypatch.setattr(trainer.time, "perf_counter", lambda: now[0])
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


def test_pauses_count_for_what_is_left_alone(clock: list[float]) -> None:
    measured = Throughput()
    add_steps(measured, clock, 2.0)
    with measured.paused():
        clock[0] += 100.0
    add_steps(measured, clock, 2.0)
    assert measured.seconds_left(2) == 204
    assert measured.tokens_per_second(10) == 10 / 4
    with measured.paused():
        clock[0] += 5.0
        measured.start(0)  # an epoch
        clock[0] += 5.0
    add_steps(measured, clock, 3.0)
    assert measured.tokens_per_second(6) == 2
