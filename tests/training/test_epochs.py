import pytest

from ptenmt.config.schedule import EpochSteps

STAGES = EpochSteps(((0, 4), (2, 10), (3, 1)))
"""Epochs of 4, 4, 10, 1, 1, … steps."""


def test_steps_of_epochs() -> None:
    assert [STAGES.of(epoch) for epoch in range(6)] == [4, 4, 10, 1, 1, 1]
    assert [STAGES.before(epoch) for epoch in range(6)] == [0, 4, 8, 18, 19, 20]
    assert STAGES.total(5, None) == 20
    assert STAGES.total(5, 7) == 7
    assert STAGES.total(1, 7) == 4


@pytest.mark.parametrize("steps", [STAGES, EpochSteps(((0, 3),))])
def test_positions_are_the_inverse_of_steps(steps: EpochSteps) -> None:
    for step in range(25):
        epoch, rest = steps.locate(step)
        assert steps.before(epoch) + rest == step
        assert 0 <= rest < steps.of(epoch)
        assert steps.position(step) == epoch + rest / steps.of(epoch)


def test_the_fact_of_a_run() -> None:
    assert STAGES.fact == {"1": 4, "3": 10, "4": 1}
    assert EpochSteps(((0, 29),)).fact == 29
    for steps in (STAGES, EpochSteps(((0, 29),))):
        assert EpochSteps.from_fact(steps.fact) == steps
