"""What a training runs on: threads, determinism, devices."""

import os
from pathlib import Path

import pytest
import tensorflow as tf

from ptenmt.config import Config, MachineConfig
from ptenmt.errors import ConfigError
from ptenmt.processes import available_cores
from ptenmt.training.distributed import prepare


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("150000 100000", 2), ("50000 100000", 1), ("400000 100000", 3), ("max 100000", 3), ("", 3)],
)
def test_a_containers_share_of_the_cores_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, expected: int
):
    (tmp_path / "cpu.max").write_text(limit)
    monkeypatch.setattr("ptenmt.processes._CPU_LIMIT", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1, 5}, raising=False)
    assert available_cores() == expected


def test_threads_set_after_initialization_are_a_warning():
    tf.constant(1.0)
    warnings: list[str] = []
    prepare(Config(), warnings.append)
    assert warnings == []
    prepare(Config(machine=MachineConfig(threads=available_cores() + 1)), warnings.append)
    assert warnings == ["TensorFlow is already initialized: machine.threads has no effect"]


def test_which_devices_a_strategy_takes(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ConfigError, match=r"mirrored needs several devices"):
        prepare(Config(machine=MachineConfig(strategy="mirrored")), pytest.fail)
    gpus = [tf.config.LogicalDevice(f"/device:GPU:{number}", "GPU") for number in range(2)]
    monkeypatch.setattr(
        tf.config, "list_logical_devices", lambda kind=None: gpus if kind in (None, "GPU") else []
    )
    taken: list[list[str]] = []
    monkeypatch.setattr(tf.distribute, "MirroredStrategy", lambda devices: taken.append(devices))
    for strategy in ("single", "auto", "mirrored"):
        prepare(Config(machine=MachineConfig(strategy=strategy)), pytest.fail)
    assert taken == [["/device:GPU:0", "/device:GPU:1"]] * 2, "auto and mirrored, all of them"
