"""Every command and program of docs/tour, run as it stands; trainings that take minutes are cut short."""

import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ptenmt.cli.app import app

# Keras 3.15 hands its variables to h5py in a way of which NumPy 2 warns.
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation doesn't accept a copy:DeprecationWarning"
)
TOUR = Path(__file__).parents[2] / "docs" / "tour"
PAGES = sorted(TOUR.glob("[1-9]*.md"))
SHORTER = {
    "next-word.yaml": ["training.epochs=1", "data.characters=6000", "model.d_model=32", "model.num_layers=1"],
    "pairs.yaml": ["training.epochs=40", "validation.every_epochs=40"],
    "demo.yaml": [
        "training.max_steps=4",
        "model.num_layers=1",
        "validation.every_epochs=null",
    ],
}
_BLOCK = re.compile(r"^(?:([^\n]*for example:)\n\n)?```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NUMBER = r"-?\d+\.?\d*"


@dataclass
class Step:
    """A block of commands or of Python, and what the page says that it prints."""

    language: str
    text: str
    shown: list[str]
    is_example: bool = False
    """Whether only the form of what is shown must be right: its lines, and where they have numbers."""


def steps(page: Path) -> Iterator[Step]:
    step = None
    for example, language, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "text":
            assert step is not None, f"{page}: nothing says this"
            step.shown, step.is_example = text.splitlines(), bool(example)
            continue
        if step is not None:
            yield step
        assert language in ("sh", "python"), f"{page}: a block of {language}"
        step = Step(language, text, [])
    if step is not None:
        yield step


def shortened(words: list[str]) -> list[str]:
    for preset, overrides in SHORTER.items():
        if preset in words:
            return [*words, *(word for override in overrides for word in ("--set", override))]
    return words


def run(command: str) -> str:
    words = shlex.split(command)
    if words[0] != "ptenmt":
        subprocess.run(command, shell=True, check=True)
        return ""
    result = CliRunner().invoke(app, shortened(words[1:]), env={"NO_COLOR": "1", "COLUMNS": None})
    assert result.exit_code == 0, f"{command}\n{result.stderr}"
    return result.stdout


def printed(step: Step, names: dict[str, Any]) -> str:
    if step.language == "sh":
        return "".join(map(run, step.text.replace("\\\n", " ").splitlines()))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(step.text, names)  # a page's programs follow each other
    return output.getvalue()


def check(step: Step, found: str) -> None:
    """Whether the lines that a page shows come in their order; … stands for anything."""
    if step.is_example:
        pattern = r"\n".join(map(form, step.shown)) + r"\n"
        assert re.fullmatch(pattern, found), f"{found} has not the form of {step.shown}"
        return
    pattern = ".*?".join(
        r"\s+".join(".*?".join(map(re.escape, word.split("…"))) for word in line.split())
        for line in step.shown
    )
    assert re.search(pattern, found, re.DOTALL), f"{step.shown} is not what was printed:\n{found}"


def form(line: str) -> str:
    """A pattern of lines like this one, with any numbers for its numbers and any words for its words."""
    kinds = {"number": _NUMBER, "words": ".*", "space": r"\s+"}
    parts = re.finditer(rf"(?P<number>{_NUMBER})|(?P<words>[^\W\d].*)|(?P<space>\s+)|.", line)
    return "".join(kinds[part.lastgroup] if part.lastgroup else re.escape(part[0]) for part in parts)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_output_of_a_page_is_current(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for step in steps(page):
        check(step, printed(step, names))
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text(encoding="utf-8")):
        start = {".png": b"\x89PNG", ".svg": b"<?xm"}[Path(picture).suffix]
        assert (TOUR / picture).read_bytes()[:4] == start
        assert (tmp_path / picture).read_bytes()[:4] == start, "made by a command of the page"


def test_pages_link_to_each_other():
    index = (TOUR / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\((.*?\.md)\)", index) == [page.name for page in PAGES]
    for page in PAGES:
        for link in re.findall(r"\]\((.*?)\)", page.read_text(encoding="utf-8")):
            assert (TOUR / link).exists(), f"{page.name} links to {link}"
