"""Ray Data and Spark translate a corpus as docs/scaling.md says: the same lines, and one worker dies."""

import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

import ptenmt
from ptenmt.runs import find_run
from ptenmt.translation import Translator

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", ["ray", "spark"])
def test_a_cluster_translates_every_line_in_order(how: str, tmp_path: Path, pytestconfig: pytest.Config):
    python: str | None = pytestconfig.getoption("--cluster-python")
    if python is None:
        if find_spec("ray" if how == "ray" else "pyspark") is None:
            pytest.skip(f"no Python with {how}; --cluster-python may name one")
        python = "python3"
    table = Path(__file__).parents[1] / "everyday.tsv"
    lines = [line.split("\t")[0] for line in table.read_text(encoding="utf-8").splitlines()]
    (tmp_path / "in.pt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    run = find_run("starter")
    script = Path(__file__).parent / "run_on_clusters.py"
    subprocess.run(
        [python, script, how, run.path.resolve(), tmp_path / "in.pt", tmp_path / "out.en", tmp_path],
        env=os.environ | {"PYTHONPATH": str(Path(ptenmt.__file__).parents[1]), "PYSPARK_PYTHON": python},
        check=True,
        capture_output=True,
        timeout=500,
    )
    expected = [each.text for each in Translator.load(run, threads=1).translate(lines)]
    assert (tmp_path / "out.en").read_text(encoding="utf-8").splitlines() == expected
    if how == "ray":
        assert (tmp_path / "died").exists()
        assert len(list(tmp_path.glob("actor-*"))) == 3, "two, and one in the place of the dead one"
