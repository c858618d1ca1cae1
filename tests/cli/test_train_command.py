"""``ptenmt train``: what it says, resuming, refusing, stopping."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ptenmt.cli.options import COMMAND_LINE, resume_command
from ptenmt.cli.training_view import TrainingView
from ptenmt.runs import History, Run
from ptenmt.runs.weights import read_info
from ptenmt.training.events import Event, TrainingStarted, Validated

RUN = Path("checkpoints/tiny")


def epochs_recorded(run: Path = RUN) -> list[int]:
    return [line["epoch"] for line in History(run).validations()]


def test_a_first_training(trained: Path) -> None:
    lines = (trained / "train.err").read_text(encoding="utf-8").splitlines()
    epochs = [line for line in lines if line.startswith("epochs ") and "BLEU" in line]
    best = read_info(trained / RUN / "weights" / "best.safetensors")
    assert (trained / "train.out").read_text() == ""
    assert "48 training pairs, 6 validation pairs, vocabularies of 22 and 22" in lines
    assert "6,646 parameters, 6 steps per epoch" in lines
    assert [re.findall(r"\d+/10", line) for line in epochs] == [[f"{epoch}/10"] for epoch in range(1, 11)]
    assert lines[-3:] == [
        "saved after epoch 10: checkpoints/tiny/state/ckpt-1",
        f"done: checkpoints/tiny, best BLEU {best.score:.1f} at step {best.step}; translate with",
        "  ptenmt translate --run tiny TEXT",
    ]


@pytest.mark.usefixtures("copied_run", "_uncompiled")
def test_a_resumed_training_stops_after_the_step_on_ctrl_c_and_saves(
    ptenmt, monkeypatch: pytest.MonkeyPatch
) -> None:
    show, run = TrainingView.show, RUN.rename("checkpoints/my long run")

    def show_and_interrupt(view: TrainingView, event: Event) -> None:
        show(view, event)
        if isinstance(event, Validated):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(TrainingView, "show", show_and_interrupt)
    more = ["--set", "training.epochs=1000000", "--set", "checkpoint.keep=1"]
    words = ["train", "--config", "tiny.yaml", *more, "--run", "my long run"]
    said = ptenmt(*words, code=128 + signal.SIGINT).stderr
    assert f"resuming after epoch 10 of 1000000, from {run / 'state' / 'ckpt-1'}\n" in said
    assert re.findall(r"^epochs +(\d+)/1000000 ", said, re.MULTILINE) == ["11"]
    assert epochs_recorded(run) == [*range(1, 12)]
    (path,) = re.findall(r"^saved after (?:step \d of )?epoch \d+: (.*)$", said, re.MULTILINE)
    assert Path(f"{path}.index").exists()
    assert [path.name for path in Run(run).checkpoints()] == ["ckpt-2"]
    *_, message, command = said.splitlines()
    assert (message, shlex.split(command)) == ("stopped; resume with", ["ptenmt", *words])


@pytest.mark.usefixtures("copied_run", "_uncompiled")
def test_a_fresh_start_keeps_the_old_run(ptenmt) -> None:
    arguments = ["--set", "training.epochs=1", "--set", "model.d_ff=16", "--fresh", "--json"]
    answer = ptenmt("train", "--config", "tiny.yaml", *arguments)
    (aside,) = Path("checkpoints").glob("tiny.*")
    assert f"warning: the old run is kept as {aside}\n" in answer.stderr
    assert epochs_recorded() == [1]
    report = json.loads(answer.stdout)
    assert (report["run"], report["last"]["epoch"]) == ("tiny", 1)
    advice = "below 10 BLEU, translations have little to do with their sources"
    assert advice in answer.stderr
    assert advice not in Path("train.err").read_text()


@pytest.mark.usefixtures("beside")
def test_a_refused_training_leaves_no_run(ptenmt) -> None:
    command = ["train", "--config", "tiny.yaml", "--run", "new", "--set", "data.path=no.tsv"]
    assert ptenmt(*command, code=1).stderr.startswith("error: cannot read ")
    assert not Path("checkpoints/new").exists()


@pytest.mark.slow  # starts a training of its own; Ctrl-C's test above is in this process
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_closed_terminal_saves_too(copied_run: Path) -> None:
    ours, theirs = os.openpty()
    arguments = ["--config", "tiny.yaml", "--set", "training.epochs=1000000", "--run", "left"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ptenmt", "train", *arguments],
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "dumb"},
    )
    os.close(theirs)
    try:
        with open(ours, encoding="utf-8") as terminal:
            assert any("best so far" in line for line in islice(terminal, 200))
            process.send_signal(signal.SIGHUP)  # before the terminal is gone, as the kernel does
        assert process.wait() == 128 + signal.SIGHUP
        assert Run(copied_run / "checkpoints/left").checkpoints()
    finally:
        process.kill()


def test_a_run_that_somebody_removed_is_not_done(
    ptenmt, copied_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = TrainingView.show

    def show_and_remove(view: TrainingView, event: Event) -> None:
        show(view, event)
        if isinstance(event, TrainingStarted):
            (copied_run / RUN / "run.json").unlink()

    monkeypatch.setattr(TrainingView, "show", show_and_remove)
    error = ptenmt("train", "--config", "tiny.yaml", code=1).stderr
    assert "error: checkpoints/tiny/run.json is missing" in error
    assert "done: " not in error


def test_a_stop_before_the_first_step_reports_that_nothing_is_saved(
    ptenmt, copied_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_arguments: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("ptenmt.training.translation_task.load_corpus", interrupt)
    arguments = ["train", "--config", "tiny.yaml", "--run", "new", "--init-from", "tiny"]
    answer = ptenmt(*arguments, code=128 + signal.SIGTERM)
    assert answer.stderr == (
        "stopped without saving; resume with\n  ptenmt train --config tiny.yaml --run new --init-from tiny\n"
    )
    assert not (copied_run / "checkpoints/new").exists()


@pytest.mark.usefixtures("_uncompiled")
def test_a_dry_run_reports_sizes_and_what_is_left_and_writes_nothing(
    ptenmt, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptenmt.training.dry_run.MAX_STEPS", 1)
    before = sorted(beside.rglob("*"))
    with Run(beside / RUN).locked():  # it is being trained
        answer = ptenmt("train", "--config", "tiny.yaml", "--dry-run", "--set", "training.epochs=12")
    facts = dict(re.split(r" {2,}", line) for line in answer.lines[1:])
    expected = {
        "pairs": "48 train, 6 validation, 6 test",
        "parameters": "6,646",
        "steps": "6 per epoch, 12 left",
    }
    assert facts.items() >= expected.items()
    assert facts.keys() >= {"peak memory", "time left"}
    assert facts["largest batch"].startswith("8 pairs of ")
    assert sorted(beside.rglob("*")) == before


@pytest.mark.parametrize("given", [["--init-from", "base"], ["--init-from=base"]])
def test_the_command_that_resumes_does_not_start_over(given: list[str]) -> None:
    words = ["train", "--fresh", "-c", "mine.yaml", *given, "--quiet"]
    context: Any = SimpleNamespace(meta={COMMAND_LINE: words})
    resumed = resume_command(context, remove={"--fresh": 1, "--init-from": 2})
    assert resumed == ["ptenmt", "train", "-c", "mine.yaml", "--quiet"]
    assert resume_command(context, add="--resume") == ["ptenmt", "train", "--resume", *words[1:]]
