"""Every command and program of docs/tour, run as it stands; trainings that take minutes are cut short."""

import contextlib
import io
import re
import shlex
import subprocess
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
    "demo.yaml": ["training.max_steps=4", "model.num_layers=1", "validation.every_epochs=null"],
}
# Commands or Python, and what the page says that they print.
BLOCK = re.compile(
    r"^```(?P<language>sh|python)\n(?P<text>.*?)^```$"
    r"(?:(?:(?!```).)*?(?P<example>for example:)?\n\n```text\n(?P<shown>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


def run(command: str) -> str:
    """What a command prints."""
    words = shlex.split(command)
    if words[0] != "ptenmt":
        subprocess.run(command, shell=True, check=True)
        return ""
    for preset in SHORTER.keys() & set(words):
        words += [word for override in SHORTER[preset] for word in ("--set", override)]
    result = CliRunner().invoke(app, words[1:], env={"NO_COLOR": "1", "COLUMNS": None})
    assert result.exit_code == 0, f"{command}\n{result.stderr}"
    return result.stdout


def printed(block: re.Match[str], names: dict[str, Any]) -> str:
    if block["language"] == "sh":
        return "".join(map(run, block["text"].replace("\\\n", " ").splitlines()))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(block["text"], names)  # a page's programs follow each other
    return output.getvalue()


def check(block: re.Match[str], found: str) -> None:
    """Whether the lines that a page shows come in their order; … stands for anything."""
    shown = block["shown"] or ""
    if block["example"]:
        assert form(found) == form(shown)
        return
    pattern = ".*?".join(
        r"\s+".join(".*?".join(map(re.escape, word.split("…"))) for word in line.split())
        for line in shown.splitlines()
    )
    assert re.search(pattern, found, re.DOTALL), f"{shown} is not what was printed:\n{found}"


def form(text: str) -> list[str]:
    """Its lines with 0 for each number, and x for all from the first word on."""
    lines = (re.sub(r"[^\W\d_].*", "x", line) for line in text.splitlines())
    return [" ".join(re.sub(r"-?\d+\.?\d*", "0", line).split()) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_output_of_a_page_is_current(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    text = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert sum(2 if block["shown"] else 1 for block in blocks) == text.count("```") // 2
    for block in blocks:
        check(block, printed(block, names))
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", text):
        start = {".png": b"\x89PNG", ".svg": b"<?xm"}[Path(picture).suffix]
        assert (TOUR / picture).read_bytes()[:4] == start
        assert (tmp_path / picture).read_bytes()[:4] == start, "made by a command of the page"


def test_pages_link_to_each_other():
    index = (TOUR / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\((.*?\.md)\)", index) == [page.name for page in PAGES]
    for page in PAGES:
        for link in re.findall(r"\]\((.*?)\)", page.read_text(encoding="utf-8")):
            assert (TOUR / link).exists(), f"{page.name} links to {link}"
