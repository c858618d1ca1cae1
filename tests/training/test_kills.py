"""A training that is killed again and again ends as one that nothing happened to, bit for bit."""

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from copy_task import copy_config, write_pairs
from saved_states import assert_same, tensors

from ptenmt.cli.app import main
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
from ptenmt.runs import History, Run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL there"),
]
KILLS = 24
SECONDS = 300  # the most for a part of the training
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["ptenmt.training.session", "ptenmt.cli.app"])  # TensorFlow is imported once
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


def train_in(folder: Path) -> None:
    """What ``python -m ptenmt train`` does there; its output is in ``log``."""
    os.chdir(folder)
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["ptenmt", "train", "--config", "config.yaml", "--run", "./run"]
    main()


def start(folder: Path) -> Any:
    """The process of a training."""
    process = PROCESSES.Process(target=train_in, args=(folder,))
    process.start()
    return process


def finish(process: Any) -> int:
    """Wait for its end, and return its exit code."""
    process.join(SECONDS)
    assert process.exitcode is not None, "it takes too long"
    return int(process.exitcode)


def wait_until(process: Any, is_reached: Callable[[], bool]) -> bool:
    """Wait for a moment of a training; returns whether it came before the end."""
    end = time.monotonic() + SECONDS
    while process.is_alive():
        if is_reached():
            return True
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.0005)
    return False


def steps_saved(folder: Path) -> int:
    """The last step in the history, which goes before a save."""
    with suppress(FileNotFoundError):  # the training may set the folder aside meanwhile
        if line := History(folder / "run").last():
            return int(line["step"])
    return 0


def deliver(process: Any, number: int, folder: Path, kind: str, target: int, chance: random.Random) -> bool:
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
        os.kill(process.pid, number)
    except ProcessLookupError:
        return False
    finish(process)
    return True


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def lines(run: Path) -> list[dict[str, Any]]:
    """The history, but for times and memory."""
    found = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    return [{name: line[name] for name in line.keys() - {"seconds", "peak_memory"}} for line in found]


def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(tmp_path: Path):
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    for folder in (straight, killed):
        folder.mkdir()
        (folder / "config.yaml").write_text(dump_config(everything(write_pairs(tmp_path / "pairs.tsv", 150))))
    assert finish(start(straight)) == 0
    chance = random.Random(1)
    total = steps_saved(straight)
    kinds = ["start"] * 5 + ["step"] * 9 + ["saving"] * 7 + ["writing"] * 3
    chance.shuffle(kinds)
    num_killed = 0
    for number, (kind, share) in enumerate(zip(kinds, TARGETS, strict=True)):
        sent = signal.SIGTERM if number % 6 == 5 else signal.SIGKILL
        num_killed += deliver(start(killed), sent, killed, kind, int(share * total), chance)
    assert num_killed >= 20
    assert finish(start(killed)) == 0

    mine, theirs = Run(killed / "run"), Run(straight / "run")
    assert_same(tensors(mine), tensors(theirs))
    assert lines(mine.path) == lines(theirs.path)
    for folder in ("weights", "ctranslate2", "tokenizer"):
        assert contents(mine.path / folder) == contents(theirs.path / folder), folder
    assert {file.name for file in mine.path.iterdir()} == {file.name for file in theirs.path.iterdir()}
    assert len(mine.checkpoints()) == 2
    names = {file.name.split(".")[0] for file in mine.state_folder.iterdir()}
    assert names == {"checkpoint", *(path.name for path in mine.checkpoints())}, "nothing is left behind"
    log = (killed / "log").read_text()
    assert "Traceback" not in log
    assert "damaged" not in log
