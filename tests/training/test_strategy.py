"""Several replicas in one process; what they compute is written down by two_replicas.py."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from copy_task import write_pairs
from saved_states import learnt

from ptenmt.runs import Run

HERE = Path(__file__).parent
NUM_PAIRS = 46


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where trainings on one replica and on two left their checkpoints and figures."""
    folder = tmp_path_factory.mktemp("replicas")
    pairs = write_pairs(folder / "pairs.tsv", NUM_PAIRS)
    paths = os.pathsep.join(map(str, (Path.cwd(), HERE.parent, HERE)))
    subprocess.run(
        [sys.executable, HERE / "two_replicas.py", pairs, folder],
        check=True,
        env=os.environ | {"PYTHONPATH": paths, "TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    return folder


@pytest.fixture(scope="module")
def facts(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "facts.json").read_text())


def test_two_replicas_learn_what_one_does(folder: Path, facts: dict[str, Any]):
    """Accumulated, clipped, averaged; with odd batches and batches of one pair."""
    assert facts["replicas"] == 2
    sizes = facts["one"]["sizes"]
    assert 1 in sizes
    assert any(size > 1 and size % 2 for size in sizes)
    assert facts["two"]["losses"] == pytest.approx(facts["one"]["losses"], rel=1e-5)
    one, two = learnt(Run(folder / "one")), learnt(Run(folder / "two"))
    assert one.keys() == two.keys()
    for name in one:
        if "key.Sbias" not in name:  # no gradient but rounding, of which Adam makes full steps
            np.testing.assert_allclose(two[name], one[name], rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize(("change", "copies"), [("two, then one", 1), ("one, then two", 2)])
def test_a_run_resumes_with_another_number_of_replicas(facts: dict[str, Any], change: str, copies: int):
    assert facts[change]["epoch"] == 2
    distances = facts[change]["distances"]
    assert len(distances) > 10
    assert all(distance == [0.0] * copies for distance in distances)


def test_each_replica_draws_masks_of_its_own(facts: dict[str, Any]):
    first, second = facts["masks"]["by_hand"]
    assert first != pytest.approx(second, rel=1e-3)
    assert facts["masks"]["loss"] == pytest.approx(first + second, rel=1e-5)


def test_replicas_skip_a_step_that_is_not_finite(facts: dict[str, Any]):
    assert facts["masks"]["skipped"] == 1
    assert facts["masks"]["unchanged"]
