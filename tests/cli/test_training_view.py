"""How a training looks, fed with events by hand."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from ptenmt.cli.console import Screen
from ptenmt.cli.training_view import TrainingView
from ptenmt.config import Config
from ptenmt.training import events

FIGURES = "loss 7.1234  accuracy 0.0512  rate 3.50e-05  12,346 tokens/s"
LONG = "uma frase que não acaba nunca, com [b]parêntesis[/b] e :cat: e 猫は食べる, " * 3
READY = events.CorpusReady(
    train=51_785,
    validation=1_193,
    removed={"empty": 0, "over 100 words": 1_234},
    num_truncated=7,
    vocabulary_sizes=(7_765, 7_010),
    samples=[("este é um problema .", "this is a problem ."), (LONG, LONG)],
)
STARTED = events.TrainingStarted(
    run=Path("checkpoints/base"),
    parameters=4_646_882,
    epochs=20,
    pairs_by_file={"ted": 6_000, "web": 4_000},
    steps_per_epoch=810,
    total_steps=16_200,
    **{"epoch": 0, "step_in_epoch": 0, "is_over": False, "resumed_from": None},
)
SAMPLES = [
    events.Sample(source="olá .", reference="hi .", translation="hello ."),
    events.Sample(source="a", reference="b", translation=""),
]
VALIDATED = events.Validated(
    **{"epoch": 1, "global_step": 810, "train_loss": 6.5432, "train_accuracy": 0.1234},
    **{"learning_rate": 2.8e-4, "is_best": True, "patience_left": None},
    scores=events.Scores(loss=5.4321, accuracy=0.2345, bleu=12.34, chrf=30.1, samples=SAMPLES),
)


def step(number: int) -> events.StepDone:
    figures = {"loss": 7.1234, "accuracy": 0.0512, "learning_rate": 3.5e-5}
    return events.StepDone(
        epoch=1, step_in_epoch=number, tokens_per_second=12_345.6, seconds_left=3_661.0, **figures
    )


def training() -> Iterator[events.Event]:
    yield events.Warned(message="[b] a checkpoint was passed over")
    yield READY
    yield STARTED
    yield from (step(number) for number in range(10, 811, 10))
    yield from (events.ValidationStep(done=done, total=1_212) for done in (1, 19, 600, 1_212))
    yield VALIDATED
    yield events.CheckpointSaved(epoch=1, step_in_epoch=0, path=Path("checkpoints/base/ckpt-1"))
    yield events.CheckpointSaved(epoch=1, step_in_epoch=350, path=Path("checkpoints/base/ckpt-2"))
    yield events.PatienceExhausted(best_score=12.34, num_stale=3)
    yield events.Stopped(epoch=1, step_in_epoch=350)


@contextmanager
def view(console: Console) -> Iterator[TrainingView]:
    screen = Screen()
    screen.console = console
    with TrainingView(screen, Config()).showing() as showing:
        yield showing


def shown(console: Console, happened: Iterator[events.Event]) -> list[str]:
    with view(console) as showing:
        for event in happened:
            showing.show(event)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def console(width: int, **options: Any) -> Console:
    return Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False, **options)


def piped() -> Console:
    return console(40)


def terminal(width: int = 80) -> Console:
    environment = {"TERM": "xterm-256color"}
    return console(width, force_terminal=True, height=30, legacy_windows=False, _environ=environment)


def test_in_a_file_every_message_is_one_plain_line() -> None:
    assert shown(piped(), training()) == [
        "warning: [b] a checkpoint was passed over",
        "training pairs left out: 1,234 over 100 words",
        "7 sentences truncated to model.max_positions tokens",
        "51,785 training pairs, 1,193 validation pairs, vocabularies of 7,765 and 7,010",
        "    pt  este é um problema .",
        "    en  this is a problem .",
        f"    pt  {LONG}",
        f"    en  {LONG}",
        "4,646,882 parameters, 810 steps per epoch",
        "an epoch reads ted 60.0% (6,000), web 40.0% (4,000)",
        "figures of each validation: training|validation",
        "compiling the first step…",
        *(f"epoch 1  step {number}/810  1 h 01 min left  {FIGURES}" for number in (210, 410, 610)),
        "epochs 1/20  step 810  BLEU 12.3  chrF 30.1  loss 6.543|5.432  accuracy 0.123|0.234  best so far",
        "    pt  olá .",
        "   ref  hi .",
        "   now  hello .",
        "    pt  a",
        "   ref  b",
        "   now  ",
        "saved after epoch 1: checkpoints/base/ckpt-1",
        "saved after step 350 of epoch 2: checkpoints/base/ckpt-2",
        "early stopping: 3 validations in a row without a better BLEU than 12.3",
    ]


def test_a_resumed_training_reports_its_start_position_and_the_patience_left() -> None:
    started = replace(STARTED, epoch=3, step_in_epoch=200, resumed_from=Path("runs/a/ckpt-4"))
    assert shown(piped(), iter([started]))[2] == (
        "resuming after step 200 of epoch 4 of 20, from runs/a/ckpt-4"
    )
    finished = replace(STARTED, epoch=20, is_over=True, resumed_from=Path("runs/a/ckpt-4"))
    assert shown(piped(), iter([finished]))[2:] == [
        "resuming after epoch 20 of 20, from runs/a/ckpt-4",
        "nothing left to do: raise training.epochs, training.max_steps or validation.patience, "
        "or use --fresh",
    ]
    worse = replace(VALIDATED, is_best=False, patience_left=2)
    assert shown(piped(), iter([started, worse]))[-7].endswith("  patience: 2 validations left")


def test_on_a_terminal_no_line_is_longer_than_the_screen() -> None:
    width = 60
    console = terminal(width)
    shown(console, training())
    assert isinstance(console.file, io.StringIO)
    text = re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())  # colours
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "\n", text).split("\n")  # the cursor moves

    assert max(cell_len(line) for line in lines) <= width
    assert sum(line.startswith("    pt  uma frase") and line.rstrip().endswith("…") for line in lines) == 1


def test_an_error_leaves_the_terminal_tidy() -> None:
    console = terminal()

    def interrupted() -> Iterator[events.Event]:
        yield STARTED
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shown(console, interrupted())
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().rstrip("\n").endswith("\x1b[2K")  # the last bar is wiped out
    assert "\x1b[?25h" in console.file.getvalue()  # the cursor is back


def test_quiet_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    screen = Screen(quiet=True)
    screen.console.file = io.StringIO()
    assert shown(screen.console, training()) == []
