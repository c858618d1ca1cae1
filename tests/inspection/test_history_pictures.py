"""How trainings went, drawn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptenmt.config import Config
from ptenmt.errors import PtenmtError, RunError
from ptenmt.history import History
from ptenmt.inspection.history import QUANTITIES, history_figure, history_plots
from ptenmt.inspection.pictures import Line
from ptenmt.runs import Run


def point(step: int, loss: float, seconds: float, tokens: int = 600) -> dict[str, Any]:
    spent = {"data": 0.25 * seconds, "step": 0.75 * seconds, "validation": 0.0, "saving": 0.0}
    figures = {"loss": loss, "accuracy": 0.5, "learning_rate": step / 1e4}
    return {"step": step, "tokens": tokens, "seconds": spent, **figures}


def validation(step: int, epoch: int, bleu: float | None, seconds: float) -> dict[str, Any]:
    scores = {"loss": 2.5, "accuracy": 0.25, "bleu": bleu, "chrf": 30.0}
    spent = {"data": 0.25 * seconds, "step": 0.75 * seconds, "validation": 60.0, "saving": 0.0}
    train = {"loss": 2.0, "accuracy": 0.75}
    told = {"step": step, "epoch": epoch, "learning_rate": 0.1}
    return told | {"train": train, "validation": scores, "seconds": spent}


LINES = [point(10, 4.0, 60), point(20, 3.0, 180), validation(20, 1, 5.0, 180), point(30, 2.0, 300)]


def make_run(folder: Path, lines: list[dict[str, Any]], facts: dict[str, Any] | None = None) -> Run:
    run = Run(folder)
    run.write(Config(), facts or {})
    for line in lines:
        History(folder).add(line)
    return run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return make_run(tmp_path / "first", LINES, {"steps_per_epoch": 20})


def drawn(*runs: Run, axis: str = "steps", **options: Any) -> dict[str, dict[str, Line]]:
    plots = history_plots(runs, axis, **options)  # type: ignore[arg-type]
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
    assert plots["Loss"]["validation"].has_marks
    assert not plots["Loss"]["training"].has_marks


def test_the_same_over_epochs_and_minutes(run: Run) -> None:
    loss = drawn(run, axis="epochs")["Loss"]
    assert points(loss["training"]) == [(0.5, 4.0), (1.0, 3.0), (1.5, 2.0)]
    loss = drawn(run, axis="minutes")["Loss"]  # the validation after step 20 took a minute
    assert points(loss["training"]) == [(1.0, 4.0), (4.0, 3.0), (5.0, 2.0)]
    assert points(loss["validation"]) == [(4.0, 2.5)]


def test_an_older_run_tells_time_and_epochs_by_its_validations(tmp_path: Path) -> None:
    lines = [{"step": step, "loss": loss} for step, loss in ((5, 4.0), (10, 3.0), (15, 2.0))]
    lines.insert(2, validation(10, 2, 5.0, 120))
    run = make_run(tmp_path / "old", lines)
    assert points(drawn(run, axis="minutes")["Loss"]["training"]) == [(1.5, 4.0), (3.0, 3.0), (4.5, 2.0)]
    assert points(drawn(run, axis="epochs")["Loss"]["training"]) == [(1.0, 4.0), (2.0, 3.0), (3.0, 2.0)]
    assert "Speed" not in drawn(run)
    oldest = make_run(tmp_path / "oldest", [validation(10, 1, 5.0, 60)])
    assert points(drawn(oldest)["Loss"]["training"]) == [(10, 2.0)]


def test_what_was_no_number_is_a_gap(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [validation(10, 1, None, 60), validation(20, 2, 6.0, 60)])
    np.testing.assert_array_equal(drawn(run)["BLEU"]["validation"].y, [np.nan, 6.0])


def test_several_runs_in_one_plot(run: Run, tmp_path: Path) -> None:
    other = make_run(tmp_path / "second", [point(10, 1.0, 30)])
    plots = drawn(run, other, quantities=["loss", "bleu"])
    assert list(plots) == ["Loss", "BLEU (not told by second)"]
    assert list(plots["Loss"]) == ["first, training", "first, validation", "second, training"]
    assert list(plots["BLEU (not told by second)"]) == ["first, validation"]
    figure = history_figure([run, other])
    assert [axis.get_title() for axis in figure.axes] == list(drawn(run, other))
    assert [line.get_label() for line in figure.axes[0].lines] == list(plots["Loss"])
    validations = [lines["first, validation"].colour for lines in plots.values()]
    assert validations == [0, 0], "a line has the same colour everywhere"
    assert len({line.colour for line in plots["Loss"].values()}) == 3


def test_what_a_history_does_not_tell(run: Run, tmp_path: Path) -> None:
    empty = make_run(tmp_path / "empty", [])
    with pytest.raises(RunError, match="empty has no history"):
        history_plots([run, empty])
    with pytest.raises(PtenmtError, match="a history has no BLEU") as refusal:
        history_plots([run], quantities=["BLEU"])
    assert refusal.value.hint == "it may have loss, accuracy, bleu, chrf, rate, speed"
    silent = make_run(tmp_path / "silent", [{"step": 10, "loss": 4.0}])
    assert list(drawn(silent)) == ["Loss"]
    for axis, told in (("minutes", "does not tell time"), ("epochs", "does not tell epochs")):
        with pytest.raises(RunError, match=told):
            drawn(silent, axis=axis)
    for quantity in set(QUANTITIES) - {"loss"}:
        with pytest.raises(RunError, match=f"no {quantity} in the history of"):
            drawn(silent, quantities=[quantity])
