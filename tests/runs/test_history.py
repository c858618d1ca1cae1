from pathlib import Path

import pytest

from ptenmt.runs import History

LINES = [
    {"step": 50, "loss": 6.5},
    {"step": 81, "epoch": 1, "validation": {"bleu": 1.5}},
    {"step": 100, "loss": 6.0},
    {"step": 162, "epoch": 2, "validation": {"bleu": 2.5}},
]


@pytest.fixture
def history(tmp_path: Path) -> History:
    written = History(tmp_path)
    for line in LINES:
        written.add(line)
    return written


def test_validations_and_curves_come_back_apart(history: History, tmp_path: Path) -> None:
    assert history.validations() == [LINES[1], LINES[3]]
    assert history.curve() == [LINES[0], LINES[2]]
    assert History(tmp_path / "empty").validations() == []


def test_the_best_has_the_best_score_then_the_lowest_loss_then_the_fewest_steps(tmp_path: Path) -> None:
    history = History(tmp_path)
    assert history.best("bleu") is None
    scores = [(None, None), (2.0, 3.0), (2.0, 2.5), (2.0, 2.5), (1.0, 2.0), (float("nan"), 9.0)]
    for number, (bleu, loss) in enumerate(scores, start=1):
        history.add({"step": number, "epoch": 1, "validation": {"bleu": bleu, "loss": loss}})
    assert [(history.best(metric) or {})["step"] for metric in ("bleu", "loss")] == [3, 5]


@pytest.mark.parametrize("damage", ['{"step": 200, "lo', "", "5", '{"a": 1}', '{"step": "9"}'])
def test_a_damaged_line_ends_the_history(history: History, tmp_path: Path, damage: str) -> None:
    """Such as one that a kill cut short."""
    with (tmp_path / "history.jsonl").open("a") as file:
        file.write(f'{damage}\n{{"step": 200, "loss": 5.5}}\n')
    assert history.last() == LINES[3]
    assert history.curve() == [LINES[0], LINES[2]]
    assert history.best("bleu") == history.validations()[-1] == LINES[3]
    history.forget_after(162, 162)
    history.add({"step": 163, "loss": 5.0})
    assert history.curve() == [LINES[0], LINES[2], {"step": 163, "loss": 5.0}]


def test_what_is_no_number_is_null(tmp_path: Path) -> None:
    history = History(tmp_path)
    scores = {"bleu": 1.5, "loss": float("nan")}
    history.add({"step": 1, "epoch": 1, "validation": scores, "train": {"loss": float("inf")}})
    expected = '"validation": {"bleu": 1.5, "loss": null}, "train": {"loss": null}'
    assert (tmp_path / "history.jsonl").read_text() == f'{{"step": 1, "epoch": 1, {expected}}}\n'
    assert history.validations()[0]["validation"]["loss"] is None


def test_what_the_last_checkpoint_does_not_know_is_forgotten(history: History) -> None:
    """At step 162 the validation was not over when the checkpoint was written."""
    history.forget_after(162, 81)
    assert history.validations() == [LINES[1]]
    assert history.curve() == [LINES[0], LINES[2]]
    history.forget_after(99, 81)
    assert history.curve() == [LINES[0]]
