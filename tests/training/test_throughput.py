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


def test_the_first_step_is_left_out_of_the_mean(clock: list[float]) -> None:
    measured = Throughput()
    measured.start(100)
    add_steps(measured, clock, 60.0)
    assert measured.seconds_left(10, 5.0) is None
    add_steps(measured, clock, 1.0, 3.0)
    assert measured.seconds_left(10, 5.0) == 25
    assert measured.tokens_per_second(228) == 128 / 64


def test_pauses_do_not_count(clock: list[float]) -> None:
    measured = Throughput()
    measured.start(0)
    add_steps(measured, clock, 2.0)
    clock[0] += 1.0  # reading the figures waits for the device: part of the next step
    with measured.paused():
        clock[0] += 100.0
    add_steps(measured, clock, 2.0)
    assert measured.seconds_left(1, 0.0) == 3
    assert measured.tokens_per_second(10) == 10 / 5
