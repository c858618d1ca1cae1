"""The bundled starter model: used where no run is, part of the wheel, good enough for everyday sentences."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sacrebleu

from ptenmt import Translator
from ptenmt.runs import find_run
from ptenmt.runs.directory import RUNS_FOLDER

ROOT = Path(__file__).parents[2]
STARTER = ROOT / "models" / "starter"
NOTICE = "using the bundled starter model; train your own: ptenmt train --config demo.yaml\n"
QUESTION = "Onde fica a estação de comboios?"


def run_alone(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own: the notice is given once a process."""
    command = [sys.executable, "-m", "ptenmt", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True)


@pytest.mark.usefixtures("empty")
def test_translate_without_a_run_takes_the_starter_and_says_so_once(ptenmt) -> None:
    answer = run_alone("translate", QUESTION)
    by_name = ptenmt("translate", "--run", "starter", QUESTION)
    assert answer.stdout == by_name.stdout != f"{QUESTION}\n"
    assert (answer.stderr, by_name.stderr) == (NOTICE, "")


@pytest.mark.usefixtures("empty")
def test_a_run_of_its_name_here_goes_first(ptenmt) -> None:
    assert find_run("starter").path == STARTER
    own = RUNS_FOLDER / "starter"
    shutil.copytree(STARTER, own)
    assert find_run() == find_run("starter") == find_run(own)
    assert ptenmt("translate", QUESTION).stderr == ""


def test_no_other_command_needs_a_run_of_its_own(ptenmt, empty: Path) -> None:
    assert (
        "no next-word run in" in ptenmt("complete", "onde", code=1).stderr
    )  # the starter predicts no next words
    assert "comboios" in ptenmt("inspect", "alignment", QUESTION, "--run", "starter").stdout
    assert "export/ctranslate2," in run_alone("export").stderr
    assert (empty / "export" / "ctranslate2" / "model.bin").is_file()
    assert "has no checkpoints" in ptenmt("average", "--run", "starter", code=1).stderr
    assert (
        "Licence of the model: CC-BY-SA-4.0;" in (empty / "export" / "ctranslate2" / "README.md").read_text()
    )


@pytest.mark.slow  # compiles a step of a large model; test_warm_start has a small one
def test_fine_tuning_starts_from_it(ptenmt, empty: Path) -> None:
    pairs = [f"A {noun} é minha.\tThe {noun} is mine.\n" for noun in "abcdefghijklmnopqrst"]
    (empty / "pairs.tsv").write_text("".join(pairs), encoding="utf-8")
    sizes = STARTER / "config.yaml"
    mine = ["data.train=[{path: pairs.tsv}]", "data.validation=[]", "data.test=[]"]
    changes = [*mine, "training.max_steps=1", "data.augment.names=0"]
    options = [word for change in changes for word in ("--set", change)]
    ptenmt("train", "--config", str(sizes), "--init-from", "starter", "--run", "mine", *options)
    origin = json.loads((RUNS_FOLDER / "mine" / "run.json").read_text())
    assert "starter" in str(origin)
    assert int(origin["output_ids"], 16).bit_count() > 5000, "what the starter generates, and 20 pairs have"


def test_it_is_small_and_names_no_machine() -> None:
    files = [file for file in STARTER.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 30_000_000
    for file in files:
        if file.suffix in (".json", ".jsonl", ".yaml", ".md"):
            text = file.read_text(encoding="utf-8")
            assert "@@" not in text
            assert not re.search(r"(?<![\w.:/])/(work|tmp|home|root)\b", text), file


def test_everyday_sentences_are_understood() -> None:
    text = (ROOT / "tests" / "everyday.tsv").read_text(encoding="utf-8")
    assert text == (STARTER / "everyday.tsv").read_text(encoding="utf-8"), "the test pairs of the run"
    lines = text.splitlines()
    sources, references = zip(*(line.split("\t") for line in lines), strict=True)
    assert len(sources) == 300
    translations = [each.text for each in Translator.load("starter").translate(sources)]
    assert sacrebleu.corpus_chrf(translations, [references]).score > 40
