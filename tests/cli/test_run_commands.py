"""``ptenmt info``, ``compare``, ``average`` and ``export``, and ``--checkpoint`` of what reads weights."""

import json
import re
import shutil
from pathlib import Path

import pytest

from ptenmt.runs import History
from ptenmt.runs.weights import read_info


def cells(text: str) -> dict[str, list[str]]:
    """The rows of tables by their first cell."""
    found = [re.split(r" {2,}", line) for line in text.splitlines()]
    return {first: others for first, *others in found}


def rows(text: str) -> dict[str, str]:
    """The same, with the other cells joined by blanks."""
    return {first: " ".join(others) for first, others in cells(text).items()}


def test_one_run_in_full(ptenmt, beside: Path) -> None:
    table = rows(ptenmt("info", "--run", "tiny").stdout)

    best = read_info(beside / "checkpoints/tiny/weights/best.safetensors")
    expected = {
        "training pairs": "48",
        "steps": "60",
        "checkpoints": "ckpt-1",
        "best step": str(best.step),
        "best validation: BLEU": f"{best.score:.1f}",
        "model.d_model": "16",
        "data.characters": "–",
    }
    assert {name: table[name] for name in expected} == expected
    assert "tensorflow 2" in table["versions"]
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


def test_an_unreadable_run_does_not_hide_the_others(ptenmt, copied_run: Path) -> None:
    other = shutil.copytree(copied_run / "checkpoints/tiny", copied_run / "checkpoints/other")
    (other / "run.json").write_text('{"format_version": 1}')
    message = "run.json is damaged: it lacks created, data"

    answer = ptenmt("info")
    assert "tiny *" in rows(answer.stdout)
    assert "other" not in answer.stdout
    assert answer.stderr.startswith("warning: checkpoints/other")
    assert message in answer.stderr
    assert ptenmt("info", "--quiet").stderr == ""
    assert message in ptenmt("info", "--run", "other", code=1).stderr


def test_all_runs_newest_first_and_what_cannot_be_used(ptenmt, copied_run: Path) -> None:
    shutil.copytree(copied_run / "checkpoints/tiny", copied_run / "checkpoints/zero")
    shutil.rmtree(copied_run / "checkpoints/zero/weights")
    file = copied_run / "checkpoints/zero/run.json"
    file.write_text(re.sub(r'"trained": "20..', '"trained": "2999', file.read_text()))

    answer = ptenmt("info")
    best = max(line["validation"]["bleu"] for line in History(copied_run / "checkpoints/tiny").validations())
    table = rows(answer.stdout)
    assert table["run"] == "parameters pairs epochs best score last started"
    assert table["tiny *"].startswith(f"6,646 48 10 BLEU {best:.1f} 20")
    assert [line.partition("  ")[0] for line in answer.lines[2:]] == ["zero", "tiny *"]
    assert "no weights" in answer.lines[2]
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
    table = cells(answer.stdout)
    validations = History(Path("checkpoints/tiny")).validations()
    best = max(validations, key=lambda line: (line["validation"]["bleu"], -line["validation"]["loss"]))
    expected = {
        "parameters": ["6,646", "6,646"],
        "steps": ["60", "60"],
        "best step": ["30", f"{best['step']:,}"],
        "best validation: BLEU": ["12.3", f"{best['validation']['bleu']:.1f}"],
        "model.dropout": ["0.3", "0.0"],
        "training.epochs": ["20", "10"],
    }
    assert {name: table[name] for name in expected} == expected
    assert table["training time"][0] == "12 min"  # 720 s
    assert table["tokens/s"][0] == "40"  # 2,000 tokens in the 50 s until they were counted
    assert not table.keys() & {"model.d_model", "data.cache_dir"}, "those are no differences"

    json_answer = ptenmt("compare", "other", "tiny", "--json")
    facts = json.loads(json_answer.stdout)
    other, tiny = facts["runs"]
    assert (other["best_step"], other["seconds"], other["tokens_per_second"]) == (30, 720.0, 40.0)
    assert tiny["options"]["model.d_model"] == 16
    assert facts["differences"] == {"model.dropout": [0.3, 0.0], "training.epochs": [20, 10]}
    assert (facts["split"], facts["scores"], facts["splits_that_differ"]) == (None, [], [])
    assert answer.stderr == json_answer.stderr == ""


def test_runs_of_the_same_name_without_history_and_of_other_pairs(ptenmt, two_runs: Path) -> None:
    shutil.copytree(two_runs / "checkpoints/tiny", two_runs / "elsewhere/tiny")
    (two_runs / "checkpoints/other/history.jsonl").unlink()
    table = cells(ptenmt("compare", "tiny", "elsewhere/tiny", "other").stdout)
    assert table[""] == ["checkpoints/tiny", "elsewhere/tiny", "other"]
    for name in ("steps", "epochs", "training time", "tokens/s", "best step", "best validation: BLEU"):
        assert table[name][2] == "–"

    file = two_runs / "checkpoints/other/run.json"
    facts = json.loads(file.read_text())
    facts["data"]["test"]["fingerprint"] = "0" * 64
    file.write_text(json.dumps(facts))
    assert ptenmt("compare", "tiny", "other").stderr == "warning: the runs have different test pairs\n"
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
    table = cells(answer.stdout)
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


@pytest.mark.usefixtures("copied_run")
def test_an_average_translates_like_any_run(ptenmt) -> None:
    answer = ptenmt("average", "--run", "tiny", "--last", "1")
    assert (answer.stdout, answer.stderr) == (
        "",
        "averaged ckpt-1: checkpoints/tiny-averaged; translate with\n"
        "  ptenmt translate --run checkpoints/tiny-averaged TEXT\n",
    )
    newest = ptenmt("translate", "--run", "tiny", "--checkpoint", "latest", "o gato come hoje .").stdout
    assert ptenmt("translate", "--run", "tiny-averaged", "o gato come hoje .").stdout == newest != ""
    assert "tiny-averaged" in ptenmt("info").stdout

    error = ptenmt("average", "--run", "tiny", "--last", "5", "--to", "x", code=1).stderr
    assert error.startswith(
        "error: --last 5 is not between 1 and 1, the number of checkpoints of checkpoints/"
    )


def test_which_weights_are_read_is_a_choice(ptenmt, copied_run: Path) -> None:
    """Without the best ones ``best`` falls back with a warning, and ``latest`` has nothing to say."""
    (copied_run / "checkpoints/tiny/weights/best.safetensors").write_bytes(b"")
    assert ptenmt("evaluate", "--checkpoint", "latest").stderr == ""
    assert ptenmt("translate", "--checkpoint", "latest", "o gato").stderr == ""
    for chosen in ([], ["--checkpoint", "best"]):
        assert "are damaged" in ptenmt("translate", *chosen, "o gato").stderr


def test_it_reports_what_it_has_written(ptenmt, copied_run: Path) -> None:
    best = read_info(copied_run / "checkpoints/tiny/weights" / "best.safetensors")
    answer = ptenmt("export", "--quantization", "float32")
    folder = "checkpoints/tiny/export/ctranslate2"
    message = (
        rf"exported best \(step {best.step}\) as ctranslate2 in float32: {folder}, \d+\.\d kB, \d+\.\d s\n"
    )
    assert re.fullmatch(message, answer.stderr)
    assert answer.stdout == ""
    assert (copied_run / folder / "model.bin").exists()
