"""Several processes that train together, on loopback."""

import json
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from copy_task import copy_config, uncompiled, write_pairs
from saved_states import assert_same, learnt
from worker_processes import working

from ptenmt.config import (
    BatchConfig,
    CheckpointConfig,
    Config,
    DataConfig,
    MachineConfig,
    ModelConfig,
    TrainingConfig,
    ValidationConfig,
)
from ptenmt.config.loading import dump_config
from ptenmt.errors import ConfigError, TrainingError
from ptenmt.runs import History, Run
from ptenmt.training.distributed import Cluster, find_cluster, meet
from ptenmt.training.session import train

unix = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def tf_config(addresses: list[str], index: int) -> str:
    return json.dumps({"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}})


def test_tf_config_names_the_workers_chief_first(monkeypatch: pytest.MonkeyPatch):
    jobs = {"worker": ["b:1", "c:1"], "chief": ["a:1"]}
    place = {"cluster": jobs, "task": {"type": "worker", "index": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))
    assert find_cluster("auto") == Cluster(addresses=("a:1", "b:1", "c:1"), index=2)
    assert find_cluster("single") is find_cluster("mirrored") is None
    monkeypatch.setenv("TF_CONFIG", tf_config(["a:1"], 0))
    assert find_cluster("multi_worker") is None
    monkeypatch.delenv("TF_CONFIG")
    assert find_cluster("auto") is None


@pytest.mark.parametrize(
    "text",
    [
        "{worker}",
        "[]",
        '{"cluster": {}}',
        tf_config(["a:1", "b:1"], 2),
        tf_config(["a:1", "a:1"], 0),
        tf_config(["a:1", "b:99999"], 0),
        '{"cluster": {"ps": ["p:1"], "worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}',
    ],
)
def test_a_tf_config_that_cannot_be_used_is_refused(monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ConfigError, match="TF_CONFIG"):
        find_cluster("multi_worker")


def test_workers_that_do_not_come_are_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = socket.create_server(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        closed.close()
        mute = f"127.0.0.1:{taken.getsockname()[1]}"
        lonely = Cluster(addresses=(address, "127.0.0.1:1"), index=0)
        with pytest.raises(TrainingError, match=r"worker 1 \(127.0.0.1:1\) cannot be reached, after 1 s"):
            meet(lonely, seconds=1)
        with pytest.raises(TrainingError, match="cannot use its port: Address already in use"):
            meet(Cluster(addresses=(mute, address), index=0), seconds=1)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Two epochs of odd batches; three validation batches, which two workers cannot share evenly."""
    pairs = str(write_pairs(tmp_path / "pairs.tsv", 80))
    return copy_config(
        Path(pairs),
        data=DataConfig(source="files", path=pairs, validation_pairs=19, test_pairs=2),
        model=ModelConfig(num_layers=1, d_model=16, num_heads=2, d_ff=32, dropout=0.0, max_positions=16),
        batch=BatchConfig(sentences=7),
        training=TrainingConfig(epochs=2, warmup_steps=20),
        machine=MachineConfig(threads=1),
    )


@pytest.mark.slow  # two processes that load TensorFlow; test_strategy has two replicas in one
@unix
def test_two_workers_train_as_one_process_does(config: Config, tmp_path: Path):
    (tmp_path / "config.yaml").write_text(dump_config(config))
    together, alone = Run(tmp_path / "together"), Run(tmp_path / "alone")
    with working(tmp_path, [together.path] * 2) as workers:
        assert workers.wait() == [0, 0], workers.log(0) + workers.log(1)
        assert "done:" in workers.log(0)
        assert "epoch" not in workers.log(1)
    with uncompiled():
        train(config, alone.path)
    histories = History(alone.path).validations(), History(together.path).validations()
    for mine, theirs in zip(*histories, strict=True):
        assert theirs["train"] == pytest.approx(mine["train"], rel=1e-5)
        assert theirs["validation"] == pytest.approx(mine["validation"], rel=1e-5)
    expected, found = learnt(alone), learnt(together)
    assert found.keys() == expected.keys()
    for name, value in found.items():
        if "key.Sbias" not in name:  # no gradient but rounding, of which Adam makes full steps
            # So it does of single weights with tiny gradients: the distance of the whole tensor counts.
            distance = np.linalg.norm(value - expected[name])
            assert distance <= 1e-5 * (1 + np.linalg.norm(expected[name])), name


def long(config: Config) -> Config:
    return replace(
        config,
        model=replace(config.model, dropout=0.2),
        training=TrainingConfig(epochs=40, warmup_steps=100, log_every_steps=1),
        validation=ValidationConfig(every_epochs=8),
        checkpoint=CheckpointConfig(every_epochs=100, every_steps=7),
    )


@unix
@pytest.mark.slow
def test_workers_that_are_stopped_and_killed_end_as_those_that_were_not(config: Config, tmp_path: Path):
    """SIGTERM for one is for all; when one is killed, the other leaves; they go on together, bit for bit."""
    (tmp_path / "config.yaml").write_text(dump_config(long(config)))
    straight, run = Run(tmp_path / "straight"), Run(tmp_path / "run")
    with working(tmp_path, [straight.path] * 2) as workers:
        assert workers.wait() == [0, 0]
    with working(tmp_path, [run.path] * 2) as workers:
        workers.wait_for_step(run, 30)
        workers.processes[1].send_signal(signal.SIGTERM)
        assert workers.wait(300) == [143, 143]
        assert "saved" in workers.log(0)
    for victim, step in ((1, 150), (0, 250)):
        with working(tmp_path, [run.path] * 2) as workers:
            workers.wait_for_step(run, step)
            workers.processes[victim].send_signal(signal.SIGKILL)
            assert sorted(workers.wait(300)) == [-signal.SIGKILL, 1]
            assert f"worker {victim} (127.0.0.1:" in workers.log(1 - victim)
            assert "lost\n" in workers.log(1 - victim)
            assert "Traceback" not in workers.log(1 - victim)
    with working(tmp_path, [run.path] * 2) as workers:
        assert workers.wait() == [0, 0]
    assert_same(learnt(run), learnt(straight))
    assert [line["validation"] for line in History(run.path).validations()] == [
        line["validation"] for line in History(straight.path).validations()
    ]


@unix
@pytest.mark.slow
def test_workers_that_are_to_learn_different_things_are_refused(config: Config, tmp_path: Path):
    """Another model would have other variables, whose beginnings could not be shared."""
    (tmp_path / "config.yaml").write_text(dump_config(config))
    other = (), ("--set", "model.d_model=32")
    with working(tmp_path, [tmp_path / "run"] * 2, other) as workers:
        assert workers.wait(300) == [1, 1]
        assert "the workers differ: model: " in workers.log(0)
    train(config, tmp_path / "origin")
    other = (), ("--init-from", str(tmp_path / "origin"))
    with working(tmp_path, [tmp_path / "run"] * 2, other) as workers:
        assert workers.wait(300) == [1, 1]
        assert "the workers differ: weights: " in workers.log(1)
