import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ptenmt.cli.app import app

CONFIG = """
data:
  source: files
  path: pairs.tsv
tokenizer:
  kind: words
model:
  num_layers: 1
  d_model: 16
  num_heads: 2
  d_ff: 32
  dropout: 0
  max_positions: 32
batch:
  sentences: 8
training:
  epochs: 10
  warmup_steps: 40
checkpoint:
  every_epochs: 10
"""
_WHO = {"o gato": "the cat", "o cão": "the dog", "a ave": "the bird", "o rei": "the king", "a mãe": "mother"}
_WHAT = {"come": "eats", "dorme": "sleeps", "canta": "sings"}
_WHEN = {"hoje .": "today .", "agora .": "now .", "aqui .": "here .", ", não é ?": ", is n't it ?"}
PAIRS = [
    (f"{who_pt} {what_pt} {when_pt}", f"{who_en} {what_en} {when_en}")
    for who_pt, who_en in _WHO.items()
    for what_pt, what_en in _WHAT.items()
    for when_pt, when_en in _WHEN.items()
]


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    stdout: str
    stderr: str

    @property
    def lines(self) -> list[str]:
        """The lines of stdout."""
        return self.stdout.splitlines()


Command = Callable[..., Answer]


def run_command(*arguments: str, stdin: str | bytes = "", code: int = 0, **env: str) -> Answer:
    """Run a command in this process; ``code`` is the exit code that it must have."""
    cleared = dict.fromkeys(("PTENMT_DEBUG", "PTENMT_RUN", "FORCE_COLOR", "NO_COLOR", "COLUMNS"))
    result = CliRunner().invoke(app, arguments, input=stdin, env=cleared | env)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.stderr
    assert result.exit_code == code, result.stderr
    assert "Traceback" not in result.output
    if code == 1:
        lines = result.stderr.splitlines()
        (number,) = [number for number, line in enumerate(lines) if line.startswith("error: ")]
        assert len(lines) <= number + 2, "more than an error and a hint"
        assert all(line.startswith("  ") for line in lines[number + 1 :])
    return Answer(result.stdout, result.stderr)


@pytest.fixture
def ptenmt() -> Command:
    """Runs a command: ``ptenmt("info", "--run", "tiny", code=0).stdout``."""
    return run_command


@pytest.fixture(scope="session")
def trained(made_once: Callable[..., Path]) -> Path:
    """Holds pairs.tsv, tiny.yaml and checkpoints/tiny, which learnt its pairs in 10 epochs; read only."""

    def train_it(folder: Path) -> None:
        (folder / "pairs.tsv").write_text("".join(f"{pt}\t{en}\n" for pt, en in PAIRS), encoding="utf-8")
        (folder / "tiny.yaml").write_text(CONFIG, encoding="utf-8")
        with contextlib.chdir(folder):
            answer = run_command("train", "--config", "tiny.yaml")
        (folder / "train.out").write_text(answer.stdout, encoding="utf-8")
        (folder / "train.err").write_text(answer.stderr, encoding="utf-8")

    return made_once("trained", train_it)


@pytest.fixture
def beside(trained: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the trained run, to work in without changing it."""
    monkeypatch.chdir(trained)
    return trained


@pytest.fixture
def copied_run(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, to work in and to change."""
    folder = tmp_path / "copy"
    shutil.copytree(trained, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def random_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with SentencePiece tokenizers and random weights, whose translations vary."""
    from random_models import write_random_run

    from ptenmt.config import DataConfig

    data = DataConfig(source="files", path="pairs.tsv")
    return write_random_run(tmp_path_factory.mktemp("runs") / "random", data, PAIRS).path
