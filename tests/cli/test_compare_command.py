"""``ptenmt compare``."""

import json
import re
import shutil
from pathlib import Path

import pytest

from ptenmt.runs.history import History


def rows(text: str) -> dict[str, list[str]]:
    """The rows of tables by their first cell."""
    cells = [re.split(r" {2,}", line) for line in text.splitlines()]
    return {first: others for first, *others in cells}


@pytest.fixture
def two_runs(copied_run: Path) -> Path:
    """Beside ``tiny`` a run ``other``, of other options and with another history."""
    other = copied_run / "checkpoints" / "other"
    shutil.copytree(copied_run / "checkpoints" / "tiny", other)
    config = (other / "config.yaml").read_text()
    (other / "config.yaml").write_text(
        config.replace("dropout: 0.0", "dropout: 0.3", 1)
        .replace("\n  epochs: 10", "\n  epochs: 20")
        .replace("cache_dir: null", "cache_dir: /of/another/machine")
    )
    seconds = {"data": 10.0, "step": 80.0, "validation": 600.0, "saving": 30.0}
    scores = {"loss": 1.5, "accuracy": 0.5, "bleu": 12.34, "chrf": 45.6}
    costs = {"peak_memory": 10**9, "skipped_steps": 0}
    point = {"loss": 2.0, "accuracy": 0.4, "learning_rate": 0.1} | costs
    lines = [
        point | {"step": 20, "tokens": 900, "seconds": seconds | {"step": 20.0}},
        {"step": 30, "epoch": 5, "validation": scores, "seconds": seconds} | costs,
        point | {"step": 40, "tokens": 1100, "seconds": seconds | {"step": 40.0}},
        {"step": 60, "epoch": 10, "validation": scores | {"bleu": 11.0}, "seconds": seconds} | costs,
    ]
    (other / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return copied_run


@pytest.mark.usefixtures("two_runs")
def test_runs_stand_side_by_side(ptenmt) -> None:
    answer = ptenmt("compare", "other", "tiny")
    table = rows(answer.stdout)
    validations = History(Path("checkpoints/tiny")).validations()
    best = max(validations, key=lambda line: (line["validation"]["bleu"], -line["validation"]["loss"]))
    expected = {
        "parameters": ["6,646", "6,646"],
        "training pairs": ["48", "48"],
        "steps": ["60", "60"],
        "epochs": ["10", "10"],
        "best step": ["30", f"{best['step']:,}"],
        "best validation: BLEU": ["12.3", f"{best['validation']['bleu']:.1f}"],
        "best validation: loss": ["1.500", f"{best['validation']['loss']:.3f}"],
        "model.dropout": ["0.3", "0.0"],
        "training.epochs": ["20", "10"],
    }
    assert {name: table[name] for name in expected} == expected
    assert table["training time"][0] == "12 min"  # 720 s
    assert table["tokens/s"][0] == "40"  # 2,000 tokens in the 50 s until they were counted
    assert table["best validation: chrF"][0] == "45.6"
    assert not table.keys() & {"model.d_model", "data.cache_dir"}, "those are no differences"

    json_answer = ptenmt("compare", "other", "tiny", "--json")
    facts = json.loads(json_answer.stdout)
    other, tiny = facts["runs"]
    assert (other["best_step"], other["seconds"], other["tokens_per_second"]) == (30, 720.0, 40.0)
    assert (other["run"], tiny["options"]["model.d_model"]) == ("other", 16)
    assert facts["differences"] == {"model.dropout": [0.3, 0.0], "training.epochs": [20, 10]}
    assert (facts["split"], facts["scores"], facts["splits_that_differ"]) == (None, [], [])
    assert answer.stderr == json_answer.stderr == ""


def test_runs_of_the_same_name_or_without_history(ptenmt, two_runs: Path) -> None:
    shutil.copytree(two_runs / "checkpoints/tiny", two_runs / "elsewhere/tiny")
    (two_runs / "checkpoints/other/history.jsonl").unlink()
    table = rows(ptenmt("compare", "tiny", "elsewhere/tiny", "other").stdout)
    assert table[""] == ["checkpoints/tiny", "elsewhere/tiny", "other"]
    for name in ("steps", "epochs", "training time", "tokens/s", "best step", "best validation: BLEU"):
        assert table[name][2] == "–"


def test_other_pairs_are_a_warning(ptenmt, two_runs: Path) -> None:
    file = two_runs / "checkpoints/other/run.json"
    facts = json.loads(file.read_text())
    facts["data"]["test"]["fingerprint"] = "0" * 64
    file.write_text(json.dumps(facts))
    assert ptenmt("compare", "tiny", "other").stderr == "warning: the runs have different test pairs\n"
    assert ptenmt("compare", "tiny", "other", "--quiet").stderr == ""


def test_one_run_cannot_be_compared(ptenmt) -> None:
    error = "error: comparing takes two runs or more\n  ptenmt info lists the runs\n"
    assert ptenmt("compare", "tiny", code=1).stderr == error


@pytest.mark.usefixtures("two_runs")
def test_all_translate_the_same_pairs(ptenmt, tmp_path: Path) -> None:
    shutil.copytree("checkpoints/tiny", tmp_path / "same")
    config = Path("checkpoints/other/config.yaml")
    config.write_text(
        config.read_text().replace("pairs.tsv", "gone.tsv").replace("max_length: null", "max_length: 2")
    )
    answer = ptenmt("compare", "tiny", "other", str(tmp_path / "same"), "--split", "test")
    table = rows(answer.stdout)
    bleu, chrf = table["test pairs: BLEU"], table["test pairs: chrF2++"]
    scores = json.loads(ptenmt("evaluate", "--run", "tiny", "--json").stdout)["scores"]

    assert [table[f"test pairs: {score['name']}"][0] for score in scores[:3]] == [
        f"{score['value']:.1f} ± {score['margin']:.1f}" for score in scores[:3]
    ]
    assert re.fullmatch(r"\d+\.\d ± \d+\.\d \(p [01]\.\d{3}\)", bleu[1])
    assert bleu[2] == f"{bleu[0]} (=)"
    assert float(chrf[1].split()[0]) < float(chrf[0].split()[0])
    assert all(float(rate.replace(",", "")) > 0 for rate in table["test pairs: sentences/s"])
    scored = json.loads(ptenmt("compare", "tiny", "other", "--split", "test", "--json").stdout)["scores"]
    assert [each["score"]["low"] for each in scored[0]["differences"]] == [each["low"] for each in scores[:3]]
    assert scored[0]["differences"][0]["p_value"] is None
    assert (scored[1]["search"]["engine"], scored[1]["search"]["beam_size"]) == ("ctranslate2", 4)
