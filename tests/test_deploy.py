"""What the container is built of."""

import ast
import re
import subprocess
import sys
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
    "prometheus-client": "prometheus_client",
    "python-docx": "docx",
    "python-multipart": "python_multipart",
    "pyyaml": "yaml",
    "tensorflow-datasets": "tensorflow_datasets",
    "tensorflow-text": "tensorflow_text",
}
"""What packages are imported as, where that is not their name."""


FROM_FASTAPI = {"anyio", "pydantic", "starlette"}
LOADED = """
import sys
import ptenmt.cli.serve, ptenmt.cli.translate, ptenmt.server.app, ptenmt.server.process
import ptenmt.translation.ctranslate2_engine, ptenmt.translation.coalescing_engine
print(*(module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "ptenmt"), sep="\\n")
"""


def modules(requirements: list[str]) -> set[str]:
    names = (re.split(r"[^\w-]", line)[0] for line in requirements)
    return {MODULES.get(name, name) for name in names}


def test_the_container_has_our_packages_within_our_bounds_but_those_for_training() -> None:
    assert set(LISTED) <= set(OURS)
    assert modules(OURS) - modules(LISTED) == {
        *("importlib_resources", "jinja2", "keras", "matplotlib", "mtdata", "sacrebleu"),
        *("tensorflow", "tensorflow_datasets", "tensorflow_text", "urllib3"),
    }


def test_the_container_has_what_translating_and_serving_import() -> None:
    files = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    imported = set()
    for file in files.splitlines():
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).partition(".")[0])
    third_party = imported - sys.stdlib_module_names - {"ptenmt"}
    # Commands that train load TensorFlow; the others do not.
    assert third_party - {"tensorflow"} <= modules(LISTED) | FROM_FASTAPI


def test_all_that_is_copied_into_the_image_is_sent_to_its_builder() -> None:
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text()
    copied = {
        source for line in re.findall(r"^COPY (?!--)(.*) \S+$", dockerfile, re.M) for source in line.split()
    }
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == sent
    assert all((ROOT / name).exists() for name in sent)
