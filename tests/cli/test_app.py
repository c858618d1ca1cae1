"""What all commands share: help, version, errors."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import ptenmt as package
from ptenmt.cli import app as cli
from ptenmt.errors import PtenmtError
from ptenmt.signals import process_signals


def plain(text: str) -> str:
    """Without escape codes, which typer writes when it finds itself in somebody's CI."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_has_an_example_and_fits(ptenmt, command: str) -> None:
    text = plain(ptenmt(command, "--help", COLUMNS="50").stdout)
    assert command == "inspect" or f"Example: ptenmt {command} " in re.sub(r"\s+", " ", text)
    assert all(len(line) <= 50 for line in text.splitlines())


def test_every_option_has_a_help_text() -> None:
    group = typer.main.get_command(cli.app)
    for name in cli.COMMANDS:
        found = group.get_command(None, name)
        for command in getattr(found, "commands", {name: found}).values():
            assert [parameter.name for parameter in command.params if not parameter.help] == [], command.name


def test_version_and_help(ptenmt) -> None:
    assert ptenmt("--version").stdout == ptenmt("-V").stdout == f"ptenmt {package.__version__}\n"
    answer = ptenmt(code=2)
    assert "Usage:" in plain(answer.stdout + answer.stderr)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--foo"], "no such option: --foo"),
        (["info", "--rnu", "x"], "no such option: --rnu (Possible options: --run)"),
        (["evaluate", "--split", "train"], "invalid value for '--split': 'train' is not one of"),
        (["train"], "missing option '--config' / '-c'"),
        (["trian"], "no such command 'trian'"),
        (["inspect", "postions"], "no such command 'postions'"),
    ],
)
def test_a_mistyped_command_line_is_one_error_line_and_exits_with_2(
    ptenmt, arguments: list[str], message: str
) -> None:
    answer = ptenmt(*arguments, code=2, COLUMNS="30")
    error, hint = answer.stderr.splitlines()
    assert error.startswith(f"error: {message}")
    assert re.fullmatch("  see .* --help", hint)
    assert answer.stdout == ""


def test_an_error_is_a_line_and_a_hint_without_markup(ptenmt, empty: Path) -> None:
    bundled = "train one: ptenmt train --config demo.yaml; the bundled model: ptenmt info --run starter"
    lesson = "train one first: ptenmt train --config next-word.yaml"
    for arguments, kind, hint in (("info", "run", bundled), ("complete olá", "next-word run", lesson)):
        answer = ptenmt(*arguments.split(), code=1)
        assert answer.stdout == ""
        assert answer.stderr == f"error: no {kind} in {empty / 'checkpoints'}\n  {hint}\n"
    assert "config [b]:cat:[/b] not found" in ptenmt("train", "--config", "[b]:cat:[/b]", code=1).stderr


def test_debugging_shows_the_traceback(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTENMT_DEBUG", "1")
    answer = subprocess.run(
        [sys.executable, "-m", "ptenmt", "info"], capture_output=True, text=True, check=False, cwd=empty
    )
    assert answer.returncode == 1
    assert answer.stderr.startswith("Traceback")
    assert "ptenmt.errors.RunError: no run in" in answer.stderr


@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("when calling Dense.call()"), None])
def test_an_interruption_is_no_traceback_whatever_a_library_makes_of_it(
    ptenmt, error: BaseException | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load() -> None:
        monkeypatch.setattr(process_signals, "is_interrupted", not isinstance(error, KeyboardInterrupt))
        if error is not None:  # or TensorFlow has swallowed it
            raise error

    monkeypatch.setattr("ptenmt.processes.load_tensorflow", load)
    assert ptenmt("average", "--run", "nowhere", code=130).stderr == "interrupted\n"


def test_output_is_utf8_whatever_the_locale(empty: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "ptenmt", "inspect", "tokens", "o gato", "--run", "starter"],
        capture_output=True,
        check=True,
        cwd=empty,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert "▁gato" in answer.stdout.decode("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
def test_an_interruption_at_the_start_is_no_traceback(empty: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "ptenmt", "info"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8", cwd=empty)
    assert process.stderr is not None
    read = ""
    while read.rpartition("|")[2].strip() != "ptenmt.signals":
        read = process.stderr.readline()
        assert read
    assert process.stderr.readline()  # of an import that follows end_process_on_interrupt()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate()
    assert "Traceback" not in rest
    if "error: no run" not in rest:  # or the command was over before the signal came
        assert (process.returncode, rest.splitlines()[-1]) == (130, "interrupted")


def test_completion_offers_configs_and_runs(empty: Path) -> None:
    (empty / "configs").mkdir()
    (empty / "configs" / "mine.yaml").touch()
    presets = [path.name for path in sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))]
    assert "base.yaml" in presets
    for words, offered in {
        "train --config ": sorted([*presets, "mine.yaml"]),
        "train --config demo --set model.d_": ["model.d_model=", "model.d_ff="],
        "translate --set decoding.top": ["decoding.top_k=", "decoding.top_p="],
        "translate --run ": ["starter"],
    }.items():
        given = {"_PTENMT_COMPLETE": "complete_bash", "COMP_WORDS": f"ptenmt {words}"}
        num_words = len(words.split(" "))
        answer = CliRunner().invoke(cli.app, env={**given, "COMP_CWORD": str(num_words)}, prog_name="ptenmt")
        assert answer.stdout.split() == offered


def test_texts_on_the_command_line_are_utf_8_in_any_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptenmt.cli import options

    with pytest.raises(PtenmtError, match=r"the text 'ol\\udce1' is not UTF-8"):
        options.as_text(["não", "ol\udce1"])
    monkeypatch.setattr("os.fsencode", lambda text: text.encode("latin-1", "surrogateescape"))
    assert options.as_text("nÃ£o") == "não", "UTF-8 that was decoded as Latin-1"
    assert options.as_text("não") == "não", "typed in Latin-1"
    assert options.as_text(None) is None


@pytest.mark.usefixtures("_without_tensorflow")
def test_without_tensorflow_a_command_is_an_error(ptenmt, empty: Path) -> None:
    answer = ptenmt("train", "--config", "demo.yaml", code=1)
    assert "needs TensorFlow, which is not installed" in answer.stderr
    assert list(empty.iterdir()) == []


@pytest.mark.usefixtures("copied_run")
def test_results_and_errors_as_json() -> None:
    def document(*arguments: str, code: int = 0) -> dict[str, Any]:
        answer = CliRunner().invoke(cli.app, [*arguments, "--json"])
        assert answer.exit_code == code, answer.stderr
        assert (code == 0) or (answer.stderr == "")
        read: dict[str, Any] = json.loads(answer.stdout)
        return read

    run = document("info", "--run", "tiny")
    assert (run["run"], run["parameters"], run["options"]["model.d_model"]) == ("tiny", 6_646, 16)
    assert run["best"]["validation"]["bleu"] >= run["last"]["validation"]["bleu"]
    assert [each["run"] for each in document("info")["runs"]] == ["tiny"]
    (file,) = document("data", "--config", "tiny.yaml")["files"]
    assert (file["num_read"], file["num_left"]) == (60, 48)
    exported = document("export", "--run", "tiny", "--output", "en")
    assert (Path(exported["path"]), exported["format"]) == (Path("en"), "ctranslate2")
    assert document("average", "--run", "tiny")["averaged_from"]["run"].endswith("/tiny")
    marian = Path(__file__).parents[1] / "importing/marian/huggingface"
    assert document("import", str(marian), "--run", "opus")["imported_from"]["form"].endswith("Marian")
    assert document("info", "--run", "nix", code=1)["error"].keys() == {"message", "hint"}


def test_a_variable_names_the_run(ptenmt, copied_run: Path) -> None:
    shutil.copytree(copied_run / "checkpoints/tiny", copied_run / "checkpoints/zero")
    assert "tiny *" in ptenmt("info").stdout, "the default of two that were trained at the same time"
    ptenmt("export", PTENMT_RUN="zero")
    assert (copied_run / "checkpoints/zero/export").exists()
    assert "no run in checkpoints/nix" in ptenmt("translate", "a", code=1, PTENMT_RUN="nix").stderr
    listed = ptenmt("info", PTENMT_RUN="zero").stdout
    assert " *" not in listed
    assert "default without --run: zero (of PTENMT_RUN)" in listed
    assert ptenmt("translate", "--run", "tiny", "o gato come hoje .", PTENMT_RUN="nix").stdout
