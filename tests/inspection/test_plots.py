"""Curves of recorded histories, learning-rate schedules, positions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptenmt.config import Config, ModelConfig, TrainingConfig
from ptenmt.errors import ConfigError, PtenmtError, RunError
from ptenmt.inspection.figures import (
    Line,
    history_plots,
    positions_map,
    schedule_plot,
)
from ptenmt.model.numpy_transformer import positional_encoding
from ptenmt.runs import History, Run


def point(step: int, loss: float, seconds: float, tokens: int = 600) -> dict[str, Any]:
    spent = {"data": 0.25 * seconds, "step": 0.75 * seconds, "validation": 0.0, "saving": 0.0}
    figures = {"loss": loss, "accuracy": 0.5, "learning_rate": step / 1e4}
    return {"step": step, "tokens": tokens, "seconds": spent, **figures}


def validation(step: int, epoch: int, bleu: float | None, seconds: float) -> dict[str, Any]:
    scores = {"loss": 2.5, "accuracy": 0.25, "bleu": bleu, "chrf": 30.0}
    spent = {"data": 0.25 * seconds, "step": 0.75 * seconds, "validation": 60.0, "saving": 0.0}
    train = {"loss": 2.0, "accuracy": 0.75}
    line = {"step": step, "epoch": epoch, "learning_rate": 0.1}
    return line | {"train": train, "validation": scores, "seconds": spent}


LINES = [point(10, 4.0, 60), point(20, 3.0, 180), validation(20, 1, 5.0, 180), point(30, 2.0, 300)]


def make_run(folder: Path, lines: list[dict[str, Any]]) -> Run:
    run = Run(folder)
    run.write(Config(), {"steps_per_epoch": 20})
    for line in lines:
        History(folder).add(line)
    return run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return make_run(tmp_path / "first", LINES)


def drawn(*runs: Run, axis: str = "steps") -> dict[str, dict[str, Line]]:
    plots = history_plots(runs, axis)  # type: ignore[arg-type]
    assert {plot.x_name for plot in plots} == {axis}
    return {plot.title: {line.name: line for line in plot.lines} for plot in plots}


def points(line: Line) -> list[tuple[float, float]]:
    return list(zip(line.x.tolist(), line.y.tolist(), strict=True))


def test_every_quantity_over_steps(run: Run) -> None:
    plots = drawn(run)
    assert list(plots) == ["Loss", "Token accuracy", "BLEU", "chrF", "Learning rate", "Speed"]
    assert points(plots["Loss"]["training"]) == [(10, 4.0), (20, 3.0), (30, 2.0)]
    assert points(plots["Loss"]["validation"]) == [(20, 2.5)]
    assert points(plots["Token accuracy"]["validation"]) == [(20, 0.25)]
    assert points(plots["BLEU"]["validation"]) == [(20, 5.0)]
    assert points(plots["Learning rate"]["training"]) == [(10, 0.001), (20, 0.002), (30, 0.003)]
    assert points(plots["Speed"]["training"]) == [(10, 10.0), (20, 5.0), (30, 5.0)]  # 600 in 60, 120, 120 s


def test_the_same_over_epochs_and_minutes(run: Run) -> None:
    loss = drawn(run, axis="epochs")["Loss"]
    assert points(loss["training"]) == [(0.5, 4.0), (1.0, 3.0), (1.5, 2.0)]
    loss = drawn(run, axis="minutes")["Loss"]  # the validation after step 20 took a minute
    assert points(loss["training"]) == [(1.0, 4.0), (4.0, 3.0), (5.0, 2.0)]
    assert points(loss["validation"]) == [(4.0, 2.5)]


def test_several_runs_in_one_plot(run: Run, tmp_path: Path) -> None:
    other = make_run(tmp_path / "second", [point(10, 1.0, 30)])
    plots = drawn(run, other)
    assert list(plots)[::2] == ["Loss", "BLEU (not recorded by second)", "Learning rate"]
    assert list(plots["Loss"]) == ["first, training", "first, validation", "second, training"]
    assert list(plots["BLEU (not recorded by second)"]) == ["first, validation"]


def test_what_a_history_does_not_tell(run: Run, tmp_path: Path) -> None:
    empty = make_run(tmp_path / "empty", [])
    with pytest.raises(RunError, match="empty has no history"):
        history_plots([run, empty])
    silent = make_run(tmp_path / "silent", [point(10, 4.0, 60)])
    assert list(drawn(silent)) == ["Loss", "Token accuracy", "Learning rate", "Speed"]


def config_of(**training: Any) -> Config:
    return Config(training=TrainingConfig(**training), model=ModelConfig(d_model=128))


def rates(of: Config, steps: int | None = None) -> dict[int, float]:
    (line,) = schedule_plot(of, steps).lines
    return dict(zip(map(int, line.x), map(float, line.y), strict=True))


def test_the_published_rates_are_drawn() -> None:
    drawn = rates(config_of(), 16_000)
    assert max(drawn, key=drawn.__getitem__) == 4_000
    assert schedule_plot(config_of(), 16_000).title == (
        "Learning rate (transformer): 0.001398 at step 4,000, 0.0006988 at step 16,000"
    )
    short = rates(config_of(warmup_steps=4), 10)
    assert list(short) == list(range(1, 11))  # every step, where there are few


def test_how_far_is_drawn() -> None:
    constant = {"schedule": "constant", "learning_rate": 0.1, "warmup_steps": 0}
    cosine = {"schedule": "cosine", "learning_rate": 0.1, "warmup_steps": 5}
    assert max(rates(config_of(warmup_steps=300))) == 1_500
    assert max(rates(config_of(**constant))) == 100
    assert max(rates(config_of(warmup_steps=300, max_steps=700), 800)) == 800
    assert rates(config_of(**cosine), 50)[50] == pytest.approx(0, abs=1e-9)
    assert rates(config_of(**cosine), 90)[50] > 0.01


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"schedule": "cosine", "learning_rate": 0.1}, "training.schedule=cosine"),
        ({"warmup_fraction": 0.1}, "training.warmup_fraction"),
    ],
)
def test_a_schedule_that_depends_on_the_end_wants_to_know_it(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=f"{named}: this schedule depends on") as refusal:
        schedule_plot(config_of(**options))
    assert "--steps N" in refusal.value.hint
    assert max(rates(config_of(**options, max_steps=30))) == 30


def test_the_encoding_of_the_model_is_drawn() -> None:
    drawn = positions_map(4, 8)
    np.testing.assert_array_equal(drawn.values, positional_encoding(4, 8))
    assert (drawn.low, drawn.high, drawn.palette) == (-1.0, 1.0, "diverging")
    assert positions_map().values.shape == (50, 128)
    with pytest.raises(PtenmtError, match="cannot draw"):
        positions_map(8, 7)
