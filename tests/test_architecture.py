"""docs/architecture.md holds: who may import whom, what loads TensorFlow, and no dead option."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import ptenmt
from ptenmt import config
from ptenmt.data.augmentation import NOISES, OF_LANGUAGES

PACKAGE = Path(ptenmt.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

PAGE = PACKAGE.parent / "docs" / "architecture.md"


def rows_of_the_page() -> list[set[str]]:
    """The modules and packages of each row of the table in docs/architecture.md, from the top down."""
    table = PAGE.read_text(encoding="utf-8").split("```")[1]
    starts = [line.split("  ")[0] for line in table.splitlines() if line and not line.startswith(" ")]
    return [{name.removesuffix("/").removesuffix(".py") for name in start.split(", ")} for start in starts]


# A module or package imports only from rows below its own.
ROWS = rows_of_the_page()
HEIGHT = {name: -row for row, names in enumerate(ROWS) for name in names}

BUDGET = re.compile(r"^\| `?([a-z]+)[/`a-z ]* \| ([\d,]+) \| (\d+) \| [\d,]+ \|$", re.MULTILINE)
UNUSED_LINES = 40
"""How far a package may stay below its budget before the budget must be lowered."""


def files_of(package: str) -> list[Path]:
    """The Python files that count for a row of the table of budgets."""
    root = PACKAGE.parent
    if package == "lobby":
        return sorted(PACKAGE.glob("*.py"))
    folders = {"tests": [root / "tests"], "tools": [root / "tools"], "ptenmt": [PACKAGE]}
    return [file for folder in folders.get(package, [PACKAGE / package]) for file in folder.rglob("*.py")]


BUDGETS = {
    name: (int(lines.replace(",", "")), int(modules))
    for name, lines, modules in BUDGET.findall(PAGE.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("package", BUDGETS)
def test_a_package_keeps_to_its_budget(package: str) -> None:
    files = files_of(package)
    lines = sum(file.read_text(encoding="utf-8").count("\n") for file in files)
    most_lines, most_modules = BUDGETS[package]
    assert lines <= most_lines
    assert len(files) <= most_modules
    assert most_lines - lines <= UNUSED_LINES * (20 if package == "tests" else 1), "lower its budget"
    assert most_modules == len(files), "lower its budget"


def test_every_package_has_a_budget() -> None:
    folders = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert folders | {"lobby", "ptenmt", "tests", "tools"} == BUDGETS.keys()
    parts = [BUDGETS[name] for name in BUDGETS.keys() - {"ptenmt", "tests", "tools"}]
    assert BUDGETS["ptenmt"] == (sum(lines for lines, _ in parts), sum(modules for _, modules in parts))


WITHOUT_TENSORFLOW = [
    "ptenmt",
    "ptenmt.cli.app",
    "ptenmt.tokenizers",
    "ptenmt.data.corpus",
    "ptenmt.data.download",
    "ptenmt.runs",
    "ptenmt.translation",
    "ptenmt.translation.completion",
    "ptenmt.export.packaging",
    "ptenmt.training.averaging",
    "ptenmt.model.numpy_transformer",
    "ptenmt.evaluation",
    "ptenmt.evaluation.comparison",
    "ptenmt.evaluation.report",
    *sorted(f"ptenmt.inspection.{file.stem}" for file in (PACKAGE / "inspection").glob("[!_]*.py")),
    *sorted(f"ptenmt.server.{file.stem}" for file in (PACKAGE / "server").glob("[!_]*.py")),
]


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(file) for file in FILES}


def imported_modules(file: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in the file, by its full name."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in MODULES else str(node.module)


def row_name(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_imports_go_down(file: Path) -> None:
    own = row_name(module_name(file))
    assert own in HEIGHT, f"give {own} a row in {PAGE.name}"
    wrong = [
        module
        for module in imported_modules(file)
        if module.split(".")[0] == "ptenmt"
        and row_name(module) != own
        and HEIGHT[row_name(module)] >= HEIGHT[own]
    ]
    assert wrong == []


def test_each_row_is_of_modules_that_exist_and_stand_once() -> None:
    named = [name for row in ROWS for name in row]
    assert sorted(named) == sorted({row_name(module) for module in MODULES})


def test_no_two_classes_have_one_name() -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in FILES]
    names = [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    assert sorted(names) == sorted(set(names))


def test_there_are_no_circles() -> None:
    graph = {module_name(file): set(imported_modules(file)) & MODULES for file in FILES}
    assert graph["ptenmt.cli.app"]
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError


def test_the_server_imports_only_what_the_page_names() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## What the server imports")[1].split("```")[1]
    rows = (line.split(maxsplit=1) for line in table.splitlines() if line)
    named = {f"{module}.{name}" for module, names in rows for name in names.split(", ")}
    imported = set()
    for file in (*(PACKAGE / "server").rglob("*.py"), PACKAGE / "cli" / "serve.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names if alias.name.startswith("ptenmt")}
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("ptenmt"):
                imported |= {f"{node.module}.{alias.name}" for alias in node.names}
    own = {name for name in imported if name.startswith(("ptenmt.server.", "ptenmt.cli."))}
    assert imported - own == named


def test_the_model_is_made_of_keras_alone() -> None:
    imported = {module for file in (PACKAGE / "model").glob("*.py") for module in imported_modules(file)}
    assert "keras" in imported
    assert [module for module in imported if module.split(".")[0].startswith("tensorflow")] == []


def readers(file: Path) -> list[ast.AST]:
    """What uses options: a whole module, but of ``config``, which also checks them, only the properties."""
    module = ast.parse(file.read_text(encoding="utf-8"))
    if file.parent.name != "config":
        return [module]
    functions = (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef))
    return [each for each in functions if "property" in map(ast.unparse, each.decorator_list)]


def test_every_option_is_read() -> None:
    options = {
        f"{kind.__name__}.{option.name}": option.name
        for kind in vars(config).values()
        if is_dataclass(kind)
        for option in fields(kind)
    }
    read = {
        node.attr
        for file in FILES
        for reader in readers(file)
        for node in ast.walk(reader)
        if isinstance(node, ast.Attribute)
    } | {*NOISES, *OF_LANGUAGES}
    assert "ModelConfig.d_model" in options
    assert [option for option, name in options.items() if name not in read] == []


NOT_BACKTRACKED = re.compile(r"\(\?>|[*?}]\+|[])]\+\+|\\\w\+\+")
"""An atomic group or a possessive quantifier. Python 3.11.2, which Debian 12 has, matches them wrongly."""


def test_no_pattern_is_one_that_an_older_python_matches_wrongly() -> None:
    for pattern in ("(?>a)", "a*+", "a?+", "a{2}+", "[ab]++", "(ab)++", r"\w++"):
        assert NOT_BACKTRACKED.search(pattern)
    found = [
        (file.name, match[0])
        for file in FILES
        for match in NOT_BACKTRACKED.finditer(file.read_text(encoding="utf-8"))
    ]
    assert found == []


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PTENMT")}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        env=environment | {"PYTHONIOENCODING": "utf-8"},
    )


def test_light_modules_leave_tensorflow_alone() -> None:
    program = (
        "import importlib, sys\n"
        f"for name in {WITHOUT_TENSORFLOW}:\n"
        "    importlib.import_module(name)\n"
        "    loaded = {'tensorflow', 'tensorflow_text', 'tensorflow_datasets', 'keras'} & set(sys.modules)\n"
        "    print(name, *loaded)\n"
    )
    assert python("-c", program).stdout.split("\n") == [*WITHOUT_TENSORFLOW, ""]


def test_help_answers_without_libraries_that_a_server_lacks() -> None:
    answer = python("-X", "importtime", "-m", "ptenmt", "--help")
    imported = {line.rpartition("|")[2].strip() for line in answer.stderr.splitlines()}

    assert "Train, inspect and run" in answer.stdout
    assert "ptenmt.cli.app" in imported
    lacking = {"tensorflow", "tensorflow_text", "keras", "jinja2", "matplotlib", "sacrebleu"}
    assert {name.split(".")[0] for name in imported} & lacking == set()
