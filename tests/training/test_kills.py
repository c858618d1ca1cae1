"""A training that is killed again and again ends as one that nothing happened to, bit for bit."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from copy_task import copy_config, write_pairs
from saved_states import assert_same, tensors

from ptenmt.config import (
    AugmentConfig,
    BatchConfig,
    CheckpointConfig,
    Config,
    DataConfig,
    OptimizerConfig,
    TokenizerConfig,
    TrainingConfig,
    ValidationConfig,
)
from ptenmt.config.loading import dump_config
from ptenmt.runs import Run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL there"),
]
KILLS = 24
SECONDS = 300  # the most for a part of the training
# What ``python -m ptenmt`` does, but TensorFlow is imported once: each line names a folder in which a child
# process trains; its process id is the answer.
NURSERY = """
import os, signal, sys
import ptenmt.training
from ptenmt.cli.app import main
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os.chdir(line.strip())
        log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        sys.argv = ["ptenmt", "train", "--config", "config.yaml", "--run", "./run"]
        main()
        os._exit(0)
    print(child, flush=True)
"""
MOST_STEPS = 12  # with three saves
TARGETS = np.linspace(0.02, 0.95, KILLS)


def everything(pairs: Path) -> Config:
    """All that a training can carry from step to step, switched on; about 400 steps and 100 saves."""
    config = copy_config(
        pairs,
        data=DataConfig(path=str(pairs), validation_pairs=12, test_pairs=1, augment=AugmentConfig(typos=0.5)),
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=40, shared=True),
        batch=BatchConfig(tokens=96, accumulate=2),
        training=TrainingConfig(
            epochs=80, warmup_steps=40, label_smoothing=0.1, deterministic=True, log_every_steps=3
        ),
        optimizer=OptimizerConfig(kind="adamw", clip_norm=1.0, ema=0.9),
        validation=ValidationConfig(every_epochs=7, every_steps=25, metric="chrf", patience=1000),
        checkpoint=CheckpointConfig(every_epochs=9, every_steps=4, keep=2),
    )
    return replace(config, model=replace(config.model, dropout=0.2))


class Nursery:
    """Starts trainings as processes of their own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )

    def start(self, folder: Path) -> int:
        """Train in a folder; gives the process id."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery()
    with nursery.process:
        yield nursery
        nursery.process.stdin.close()


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(process: int, is_reached: Callable[[], bool]) -> bool:
    """Wait for a moment of a training; returns whether it came before the end."""
    end = time.monotonic() + SECONDS
    while is_alive(process):
        if is_reached():
            return True
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.0005)
    return False


def steps_saved(folder: Path) -> int:
    """The last step in a training curve, which goes before a save."""
    try:
        lines = (folder / "run" / "history.jsonl").read_text(errors="replace").splitlines()
        return max((json.loads(line)["step"] for line in lines if line.endswith("}")), default=0)
    except (OSError, ValueError):
        return 0


def deliver(process: int, number: int, folder: Path, kind: str, target: int, chance: random.Random) -> bool:
    """Send a signal at some moment of a training; returns whether the training was still running."""

    def is_between(pattern: str) -> bool:
        """Whether there is such a file after the step, or so many steps later, when all have been missed."""
        steps = steps_saved(folder) - target
        return steps >= MOST_STEPS or (steps >= 0 and any((folder / "run").glob(pattern)))

    marks = {
        "start": lambda: True,
        "step": lambda: steps_saved(folder) >= target,
        "saving": lambda: is_between("state/*_temp"),
        "writing": lambda: is_between("**/.*.unfinished"),
    }
    if not wait_until(process, marks[kind]):
        return False
    longest = {"start": 4.0, "step": 0.3, "saving": 0.01, "writing": 0.001}[kind]
    time.sleep(longest * chance.random())
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return False
    assert not wait_until(process, lambda: False)
    return True


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def lines(run: Path) -> list[dict[str, Any]]:
    """The history, but for times and memory."""
    found = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    return [{name: line[name] for name in line.keys() - {"seconds", "peak_memory"}} for line in found]


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained in one go, by the command itself."""
    folder = tmp_path_factory.mktemp("straight")
    (folder / "config.yaml").write_text(dump_config(everything(write_pairs(folder / "pairs.tsv", 150))))
    command = [sys.executable, "-m", "ptenmt", "train", "--config", "config.yaml", "--run", "./run"]
    subprocess.run(command, cwd=folder, check=True)
    return folder


def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(
    nursery: Nursery, straight: Path, tmp_path: Path
):
    chance = random.Random(1)
    (tmp_path / "config.yaml").write_text((straight / "config.yaml").read_text())
    total = steps_saved(straight)
    kinds = ["start"] * 5 + ["step"] * 9 + ["saving"] * 7 + ["writing"] * 3
    chance.shuffle(kinds)
    killed = 0
    for number, (kind, share) in enumerate(zip(kinds, TARGETS, strict=True)):
        process = nursery.start(tmp_path)
        sent = signal.SIGTERM if number % 6 == 5 else signal.SIGKILL
        killed += deliver(process, sent, tmp_path, kind, int(share * total), chance)
    assert killed >= 20
    last = nursery.start(tmp_path)
    assert not wait_until(last, lambda: False)

    mine, theirs = Run(tmp_path / "run"), Run(straight / "run")
    assert_same(tensors(mine), tensors(theirs))
    assert lines(mine.path) == lines(theirs.path)
    for folder in ("weights", "ctranslate2", "tokenizer"):
        assert contents(mine.path / folder) == contents(theirs.path / folder), folder
    assert {file.name for file in mine.path.iterdir()} == {file.name for file in theirs.path.iterdir()}
    assert len(mine.checkpoints()) == 2
    names = {file.name.split(".")[0] for file in mine.state_folder.iterdir()}
    assert names == {"checkpoint", *(path.name for path in mine.checkpoints())}, "nothing is left behind"
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    assert "damaged" not in log
