"""What the container is built of."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_container_has_our_packages_within_our_bounds_but_those_for_training() -> None:
    command = [sys.executable, "deploy/requirements.py"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ours = [*project["dependencies"], *project["optional-dependencies"]["serve"]]
    assert set(told) <= set(ours)
    left_out = {re.split("[~>=<]", line)[0] for line in set(ours) - set(told)}
    assert left_out == {
        *("importlib_resources", "keras", "matplotlib", "sacrebleu"),
        *("tensorflow", "tensorflow-datasets", "urllib3"),
    }


def test_what_is_left_out_is_there_to_be_left_out(tmp_path: Path) -> None:
    other = tmp_path / "pyproject.toml"
    other.write_text((ROOT / "pyproject.toml").read_text().replace('"keras>', '"keras-core>'))
    command = [sys.executable, "deploy/requirements.py", str(other)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (told.returncode, "has no keras: mend TRAINING" in told.stderr) == (1, True)


def test_all_that_is_copied_into_the_image_is_sent_to_its_builder() -> None:
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text()
    copied = {
        source for line in re.findall(r"^COPY (?!--)(.*) \S+$", dockerfile, re.M) for source in line.split()
    }
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == sent
    assert all((ROOT / name).exists() for name in sent)
