"""What the container is built of."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OURS = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["serve"]]
LISTED = [
    line
    for line in (ROOT / "deploy" / "requirements.txt").read_text().splitlines()
    if not line.startswith("#")
]
MODULES = {
    "beautifulsoup4": "bs4",
    "prometheus-client": "prometheus_client",
    "python-docx": "docx",
    "python-multipart": "multipart",
    "pyyaml": "yaml",
    "tensorflow-datasets": "tensorflow_datasets",
    "tensorflow-text": "tensorflow_text",
}
"""What packages are imported as, where that is not their name."""


def modules(requirements: list[str]) -> set[str]:
    names = (re.split(r"[^\w-]", line)[0] for line in requirements)
    return {MODULES.get(name, name) for name in names}


def test_the_container_has_our_packages_within_our_bounds_but_those_for_training() -> None:
    assert set(LISTED) <= set(OURS)
    assert modules(OURS) - modules(LISTED) == {
        *("importlib_resources", "jinja2", "keras", "matplotlib", "sacrebleu"),
        *("tensorflow", "tensorflow_datasets", "tensorflow_text", "urllib3"),
    }


def test_all_that_is_copied_into_the_image_is_sent_to_its_builder() -> None:
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text()
    copied = {
        source for line in re.findall(r"^COPY (?!--)(.*) \S+$", dockerfile, re.M) for source in line.split()
    }
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == sent
    assert all((ROOT / name).exists() for name in sent)
