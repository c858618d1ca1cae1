"""What the container is built of, and how it and others run the server."""

import ast
import configparser
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import typer
import yaml

from ptenmt.cli.app import app
from ptenmt.server import application as server

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = [*PROJECT["dependencies"], *EXTRAS["documents"], *EXTRAS["serve"]]
OURS.remove("ptenmt[documents]")
LIGHT = tomllib.loads((ROOT / "deploy" / "pyproject.toml").read_text())
LISTED = LIGHT["project"]["dependencies"]
MODULES = {
    "markdown-it-py": "markdown_it",
    "prometheus-client": "prometheus_client",
    "python-multipart": "python_multipart",
    "pyyaml": "yaml",
    "tensorflow-datasets": "tensorflow_datasets",
    "tensorflow-text": "tensorflow_text",
}
"""What packages are imported as, where that is not their name."""


FROM_FASTAPI = {"anyio", "pydantic", "starlette"}
WITH_OTHERS = {"urllib3": "requests", "markdown_it": "rich"}
"""Modules that are imported and come with the dependencies of a dependency."""
LOADED = """
import sys
import ptenmt.cli.serve, ptenmt.cli.translate, ptenmt.server.application, ptenmt.server.process
import ptenmt.translation.ctranslate2_engine, ptenmt.server.queue
print(*(module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "ptenmt"), sep="\\n")
"""


def modules(requirements: list[str]) -> set[str]:
    names = (re.split(r"[^\w-]", line)[0] for line in requirements)
    return {MODULES.get(name, name) for name in names}


def test_the_container_has_our_packages_within_our_bounds_but_those_for_training() -> None:
    assert set(LISTED) <= set(OURS)
    assert modules(OURS) - modules(LISTED) == {
        *("babel", "importlib_resources", "jinja2", "keras", "matplotlib", "num2words", "sacrebleu"),
        *("tensorflow", "tensorflow_datasets", "tensorflow_text"),
    }


def test_the_container_has_what_translating_and_serving_import() -> None:
    files = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    imported = set().union(*(third_party(Path(file)) for file in files.splitlines()))
    # Commands that train load TensorFlow and Babel; the others do not.
    assert imported - {"tensorflow", "babel", "num2words"} <= modules(LISTED) | FROM_FASTAPI


def third_party(file: Path) -> set[str]:
    """All that a file imports, within functions too, but for the standard library and ptenmt."""
    imported = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    return imported - sys.stdlib_module_names - {"ptenmt"}


def test_all_but_the_server_and_documents_imports_what_is_always_installed() -> None:
    """A Spanish sentence once ended the translation where the extra for serving was not installed."""
    package = ROOT / "ptenmt"
    optional_parts = [*(package / "server").rglob("*"), *(package / "documents").rglob("*")]
    files = [*{*package.rglob("*.py")} - {*optional_parts, package / "cli" / "serve.py"}]
    assert len(files) > 100
    imported = set().union(*map(third_party, files)) - {
        "comet",
        "torch",
    }  # evaluate --comet says what to install
    assert imported <= modules(PROJECT["dependencies"]) | WITH_OTHERS.keys()
    for module, through in WITH_OTHERS.items():
        names = [re.split(r"[^\w-]", line)[0] for line in metadata.requires(through) or ()]
        assert module in {MODULES.get(name, name) for name in names}


def test_dependencies_are_few_and_each_has_a_reason() -> None:
    assert len(PROJECT["dependencies"]) <= 24


def test_documents_import_what_their_extra_has() -> None:
    files = (ROOT / "ptenmt" / "documents").rglob("*.py")
    imported = set().union(*map(third_party, files))
    assert imported <= modules([*PROJECT["dependencies"], *EXTRAS["documents"]])


def test_all_that_is_copied_into_the_image_is_sent_to_its_builder() -> None:
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text()
    copied = {
        source for line in re.findall(r"^COPY (?!--)(.*) \S+$", dockerfile, re.M) for source in line.split()
    }
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == sent
    assert all((ROOT / name).exists() for name in sent)


def deployed(name: str) -> str:
    return (ROOT / "deploy" / name).read_text(encoding="utf-8")


def test_deployments_use_options_and_routes_that_exist() -> None:
    compose = yaml.safe_load(deployed("compose.yaml"))["services"]["ptenmt"]
    deployment, service = yaml.safe_load_all(deployed("kubernetes.yaml"))
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    unit = configparser.ConfigParser(interpolation=None)
    unit.read_string(deployed("ptenmt.service"))
    entry_point = json.loads(re.findall(r"^ENTRYPOINT (.*)$", deployed("Dockerfile"), re.M)[0])
    commands = [compose["command"], container["args"], entry_point, unit["Service"]["ExecStart"].split()]
    group: Any = typer.main.get_command(app)
    known = {name for parameter in group.get_command(None, "serve").params for name in parameter.opts}
    for words in commands:
        assert {word for word in words if word.startswith("--")} <= known
    assert (ROOT / "deploy" / compose["build"]["context"] / compose["build"]["dockerfile"]).exists()
    routes = {route.path for route in server.router.routes}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in routes
    assert {mount["name"] for mount in container["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert service["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]
    assert compose["ports"][0].endswith(f":{container['ports'][0]['containerPort']}")
