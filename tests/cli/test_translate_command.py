"""``ptenmt translate``: text in, text out; whole files or none."""

import gzip
import io
import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from ptenmt.runs import Run
from ptenmt.translation import Translation, Translator

LINES = ["o gato come hoje .", "", "a mãe canta aqui .", "   ", "o rei dorme , não é ?", "o cão come agora ."]
TEXT = "".join(f"{line}\n" for line in LINES)
KEYS = ["source", "text", "raw", "tokens", "is_complete", "is_source_cut"]


@pytest.fixture(scope="module")
def load():
    """``Translator.load``, which takes its time, once a run."""
    return cache(Translator.load)


@pytest.fixture(autouse=True)
def loaded_once(load, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trained)
    path = trained / "checkpoints" / "tiny"

    def load_once(run: Run, _on_warning: object, checkpoint: str) -> Translator:
        assert run.path.resolve() == path.resolve()
        assert checkpoint == "best"
        return load(path)

    monkeypatch.setattr(Translator, "load", load_once)


@pytest.fixture
def translations(load, trained: Path) -> list[Translation]:
    return load(trained / "checkpoints" / "tiny").translate(LINES)


def texts(translations: list[Translation]) -> str:
    return "".join(f"{translation.text}\n" for translation in translations)


def test_the_model_says_something_to_test_with(translations: list[Translation]) -> None:
    texts = [translation.text for translation in translations]
    assert len(set(texts)) == len([line for line in LINES if line.strip()]) + 1
    assert [text == "" for text in texts] == [not line.strip() for line in LINES]
    assert any(translation.text != translation.raw for translation in translations)


def test_arguments(ptenmt, translations: list[Translation]) -> None:
    answer = ptenmt("translate", "--run", "tiny", *LINES)
    assert answer.stdout == texts(translations)
    assert answer.stderr == ""


@pytest.mark.parametrize("name", ["letter.txt", "letter.txt.gz"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_file(ptenmt, translations, tmp_path: Path, name: str, newline: str) -> None:
    data = TEXT.replace("\n", newline).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert ptenmt("translate", "--input", str(tmp_path / name)).stdout == texts(translations)


def test_standard_input(ptenmt, translations: list[Translation]) -> None:
    answer = ptenmt("translate", stdin=TEXT.removesuffix("\n"))
    assert answer.stdout == texts(translations)
    assert answer.stderr == ""
    assert ptenmt("translate", stdin="").stdout == ""


def test_a_terminal_is_answered_line_by_line(ptenmt, translations, monkeypatch: pytest.MonkeyPatch) -> None:
    windows = []
    whole = Translator.translate_iterable

    def spy(self, sources, **options):
        windows.append(options)
        return whole(self, sources, **options)

    monkeypatch.setattr(Translator, "translate_iterable", spy)
    keyboard = SimpleNamespace(buffer=io.BytesIO(TEXT.encode()), isatty=lambda: True)
    monkeypatch.setattr("ptenmt.cli.translate.sys", SimpleNamespace(stdin=keyboard))
    answer = ptenmt("translate")

    assert answer.stdout == texts(translations)
    assert answer.stderr == "Type a sentence and press Enter; Ctrl-D ends.\n"
    assert windows == [{"window": 1}]


def test_an_output_file(ptenmt, translations: list[Translation], tmp_path: Path) -> None:
    answer = ptenmt("translate", "--output", str(tmp_path / "out.txt"), stdin=TEXT)
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == texts(translations)
    assert answer.stdout == answer.stderr == ""


def test_a_bad_line_leaves_the_old_output_alone(ptenmt, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes("o gato come .\nnão\nol\xe1\nfim\n".encode("latin-1").replace(b"n\xe3o", b"sim"))
    output = tmp_path / "out.txt"
    output.write_text("old\n")
    answer = ptenmt("translate", "--input", str(bad), "--output", str(output), code=1)

    assert answer.stderr == (f"error: {bad}, line 3: byte 3 is not valid UTF-8\n  save the file as UTF-8\n")
    assert output.read_text() == "old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "out.txt"]


def test_a_bad_line_of_standard_input(ptenmt) -> None:
    answer = ptenmt("translate", stdin=b"sim\nol\xe1\n", code=1)
    assert "error: standard input, line 2: byte 3 is not valid UTF-8" in answer.stderr


def test_raw_keeps_the_spacing_of_the_corpus(ptenmt, translations: list[Translation]) -> None:
    lines = ptenmt("translate", "--raw", *LINES).lines
    assert lines == [translation.raw for translation in translations]
    assert any(line.endswith(" .") for line in lines)
    assert not any(line.endswith(" .") for line in ptenmt("translate", *LINES).lines)


def test_json_has_an_object_a_line(ptenmt, translations: list[Translation]) -> None:
    answers = [json.loads(line) for line in ptenmt("translate", "--json", stdin=TEXT).lines]
    assert [list(answer) for answer in answers] == [KEYS] * len(LINES)
    assert answers == [vars(translation) for translation in translations]
    assert [answer["source"] for answer in answers] == LINES
    assert answers[0]["tokens"][0] == "[START]"
    assert answers[1]["tokens"] == ["[START]", "[END]"]


@pytest.mark.parametrize(
    "text",
    [
        "o gato \U0001f600 come .",
        "o\x07gato\x1b[31m come\x00 agora .",
        "o gato\ncome\r\nagora \x85 \u2028 .",
        "ol\udce1 \ud800",
        "кот ест 猫は食べる \u202eمرحبا",
        "\ufeffo gato",
        "e\u0301 " * 3,
        "--- [b]x[/b] :cat:",
    ],
    ids=["emoji", "control", "line-ends", "surrogates", "scripts", "bom", "combining", "markup"],
)
def test_any_text_is_one_line(ptenmt, text: str) -> None:
    answer = ptenmt("translate", "--json", "--", text)
    (line,) = answer.stdout.removesuffix("\n").split("\n")
    parsed = json.loads(line)
    assert parsed["source"] == text.encode(errors="replace").decode()
    assert parsed["text"]
    assert answer.stderr == ""
    assert ptenmt("translate", "--", text).stdout.count("\n") == 1


def test_ten_thousand_characters_are_cut_and_told(ptenmt) -> None:
    answer = ptenmt("translate", "--json", "o gato come " * 834, "o gato", "x" * 10_000)
    assert [json.loads(line)["is_source_cut"] for line in answer.lines] == [True, False, False]
    assert "only the beginning was translated: 1\n" in answer.stderr
    assert ptenmt("translate", "--quiet", "o gato come " * 834).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["olá", "--input", "pairs.tsv"], "TEXT and --input exclude each other\n  give one of them"),
        (["--input", "nowhere.txt"], "cannot read nowhere.txt: No such file or directory"),
        (["--input", "checkpoints"], "cannot read checkpoints: Is a directory"),
        (["olá", "--output", "nowhere/out.txt"], "cannot write nowhere/out.txt: No such file or directory"),
        (["olá", "--output", "checkpoints"], "cannot write checkpoints: Is a directory"),
        (["olá", "--output", "out.txt.gz"], "--output out.txt.gz: translations are written as plain text"),
        (["--input", "pairs.tsv", "--output", "./pairs.tsv"], "--output pairs.tsv is the input itself"),
        (["olá", "--run", "tny"], "no run in checkpoints/tny\n  runs here: tiny"),
    ],
)
def test_what_cannot_be_done_is_told(ptenmt, trained: Path, arguments: list[str], told: str) -> None:
    before = (trained / "pairs.tsv").read_bytes()
    answer = ptenmt("translate", *arguments, code=1)
    assert answer.stderr.startswith(f"error: {told}")
    assert answer.stdout == ""
    assert (trained / "pairs.tsv").read_bytes() == before


def test_a_missing_input_is_told_before_the_model_is_loaded(ptenmt, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_args: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(Translator, "load", load)
    assert "cannot read nowhere.txt" in ptenmt("translate", "--input", "nowhere.txt", code=1).stderr


def test_a_link_to_the_input_is_the_input_too(ptenmt, trained: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(trained / "pairs.tsv")
    answer = ptenmt("translate", "--input", "pairs.tsv", "--output", str(link), code=1)
    assert f"--output {link} is the input itself" in answer.stderr
