"""``ptenmt info``."""

import json
import re
import shutil
from pathlib import Path

import pytest

from ptenmt.runs.history import History
from ptenmt.runs.weights import read_info


def rows(text: str) -> dict[str, str]:
    """The rows of a table by their first cell, the other cells joined by blanks."""
    cells = [re.split(r" {2,}", line) for line in text.splitlines()]
    return {first: " ".join(others) for first, *others in cells}


def test_all_runs_at_a_glance(ptenmt, copied_run: Path) -> None:
    answer = ptenmt("info")
    table = rows(answer.stdout)

    best = max(line["validation"]["bleu"] for line in History(copied_run / "checkpoints/tiny").validations())
    assert table["run"] == "parameters pairs epochs best score last started"
    assert table["tiny *"].startswith(f"6,646 48 10 BLEU {best:.1f} 20")
    assert answer.stderr == ""


def test_one_run_in_full(ptenmt, beside: Path) -> None:
    table = rows(ptenmt("info", "--run", "tiny").stdout)

    best = read_info(beside / "checkpoints/tiny/weights/best.safetensors")
    expected = {
        "training pairs": "48",
        "vocabularies": "22 and 22",
        "steps": "60",
        "epochs": "10",
        "checkpoints": "ckpt-1",
        "best step": str(best.step),
        "best validation: BLEU": f"{best.score:.1f}",
        "model.d_model": "16",
        "data.lowercase": "false",
        "data.characters": "–",
    }
    assert {name: table[name] for name in expected} == expected
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", table["first started"])
    assert "tensorflow 2" in table["versions"]
    assert re.fullmatch(r"\d+, \d+ kB", table["files"])
    path = Path(table["data.path"])  # the folder was copied after the training
    assert path.is_absolute()
    assert path.read_bytes() == (beside / "pairs.tsv").read_bytes()


def test_a_checkpoint_newer_than_the_history_determines_the_steps(ptenmt, copied_run: Path) -> None:
    run = copied_run / "checkpoints/tiny"
    lines = (run / "history.jsonl").read_text().splitlines()
    behind = json.loads(lines[-2])["step"]
    (run / "history.jsonl").write_text("\n".join(lines[:-1]))
    assert behind < 60
    assert rows(ptenmt("info", "--run", "tiny").stdout)["steps"] == "60"
    (run / "weights" / "latest.safetensors").unlink()
    assert rows(ptenmt("info", "--run", "tiny").stdout)["steps"] == str(behind)


def test_what_is_no_number_is_a_dash(ptenmt, copied_run: Path) -> None:
    scores = {"bleu": None, "chrf": 2.0, "loss": None, "accuracy": 0.5}
    line = {"epoch": 1, "step": 6, "validation": scores, "seconds": {"training": 3.0}}
    (copied_run / "checkpoints/tiny/history.jsonl").write_text(json.dumps(line) + "\n")
    table = rows(ptenmt("info", "--run", "tiny").stdout)
    best = [table[f"best validation: {name}"] for name in ("BLEU", "chrF", "loss", "accuracy")]
    assert best == ["–", "2.0", "–", "0.500"]


def test_an_unreadable_run_does_not_hide_the_others(ptenmt, copied_run: Path) -> None:
    other = shutil.copytree(copied_run / "checkpoints/tiny", copied_run / "checkpoints/other")
    (other / "config.yaml").write_text("seed: x")
    message = "config.yaml is damaged: seed=x must be"

    answer = ptenmt("info")
    assert "tiny *" in rows(answer.stdout)
    assert "other" not in answer.stdout
    assert answer.stderr.startswith("warning: checkpoints/other")
    assert message in answer.stderr
    assert ptenmt("info", "--quiet").stderr == ""
    assert message in ptenmt("info", "--run", "other", code=1).stderr


def test_newest_first_and_what_cannot_be_used(ptenmt, copied_run: Path) -> None:
    shutil.copytree(copied_run / "checkpoints/tiny", copied_run / "checkpoints/zero")
    shutil.rmtree(copied_run / "checkpoints/zero/weights")
    file = copied_run / "checkpoints/zero/run.json"
    file.write_text(re.sub(r'"trained": "20..', '"trained": "2999', file.read_text()))

    shown = ptenmt("info").stdout.splitlines()
    assert [line.partition("  ")[0] for line in shown[2:]] == ["zero", "tiny *"]
    assert "no weights" in shown[2]
    table = rows(ptenmt("info", "--run", "zero").stdout)
    assert table["weights"] == "none: translate cannot use this run"
    assert "warning: zero has no weights" in ptenmt("compare", "tiny", "zero").stderr


@pytest.mark.usefixtures("copied_run")
def test_a_run_of_another_programs_model(ptenmt) -> None:
    ptenmt("import", str(Path(__file__).parents[1] / "importing/marian/huggingface"), "--run", "opus")
    assert rows(ptenmt("info", "--run", "opus").stdout)["training pairs"] == "–"
    compared = rows(ptenmt("compare", "opus", "tiny").stdout)
    assert (compared["training pairs"], compared["steps"]) == ("– 48", "– 60")
    error = ptenmt("inspect", "history", "--run", "opus", code=1).stderr
    assert "checkpoints/opus was imported: its training is unknown" in error
