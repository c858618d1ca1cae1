"""``ptenmt translate``: text in, text out; every option of how to search; what is refused."""

import gzip
import json
import os
import re
import select
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from ptenmt.config.schema import MAX_ALTERNATIVES
from ptenmt.errors import ConfigError
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.translation import Translation, Translator
from ptenmt.translation.single_sentence import next_token_alternatives

LINES = ["o gato come hoje .", "", "a mãe canta aqui .", "   ", "o rei dorme , não é ?", "o cão come agora ."]
TEXT = "".join(f"{line}\n" for line in LINES)
BEST = ("--set", "decoding.num_hypotheses=2")
KEYS = "source translation raw score tokens alternatives is_complete is_retried is_split"


@pytest.fixture(scope="module")
def tiny(trained: Path) -> Translator:
    return Translator.load(trained / "checkpoints" / "tiny")


@pytest.fixture(autouse=True)
def _there(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trained)


@pytest.fixture(scope="module")
def translations(tiny: Translator) -> list[Translation]:
    """Of ``LINES``, something to test with."""
    found = tiny.translate(LINES)
    assert len({translation.text for translation in found}) == len(LINES)
    assert any(translation.text != translation.raw for translation in found)
    return found


def texts(translations: list[Translation]) -> str:
    return "".join(f"{translation.text}\n" for translation in translations)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_person_sees_which_model_translates() -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "ptenmt", "translate", "o gato come hoje ."]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, encoding="utf-8")
    translation, _ = process.communicate()
    os.close(theirs)
    assert re.fullmatch(r"tiny \(step \d+, trained 20..-..-..\)", os.read(ours, 1_000).decode().strip())
    os.close(ours)
    assert translation.count("\n") == 1


def test_arguments(ptenmt, translations: list[Translation]) -> None:
    answer = ptenmt("translate", "--run", "tiny", *LINES)
    assert answer.stdout == texts(translations)
    assert answer.stderr == ""


@pytest.mark.parametrize(("name", "newline"), [("letter.txt", "\r\n"), ("letter.txt.gz", "\n")])
def test_a_file(ptenmt, translations, tmp_path: Path, name: str, newline: str) -> None:
    data = TEXT.replace("\n", newline).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    answer = ptenmt("translate", "--input", str(tmp_path / name))
    assert answer.stdout == texts(translations)
    assert answer.stderr.startswith("translated 6 lines in ")
    ptenmt("translate", "--input", str(tmp_path / name), "--output", str(tmp_path / "out.txt"))
    assert (tmp_path / "out.txt").read_bytes() == texts(translations).replace("\n", newline).encode()
    answer = ptenmt("translate", "--json", "--input", str(tmp_path / name))
    assert [json.loads(line)["source"] for line in answer.lines] == LINES


def test_standard_input(ptenmt, translations: list[Translation]) -> None:
    for dash in ((), ("-",), ("--input", "-", "--output", "-", "-q")):
        answer = ptenmt("translate", *dash, stdin=TEXT.removesuffix("\n"))
        assert (answer.stdout, answer.stderr) == (texts(translations), "")
    assert ptenmt("translate", stdin="").stdout == ""


def test_a_keyboard_without_a_prompt_is_told_how_to_end(
    ptenmt, translations, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    keyboard = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("ptenmt.cli.translate.sys", SimpleNamespace(stdin=keyboard, **streams))
    answer = ptenmt("translate", stdin=TEXT)
    assert answer.stdout == texts(translations)
    assert answer.stderr == "Type a sentence and press Enter; Ctrl-D ends.\n"


def test_a_line_from_a_slow_pipe_is_answered_while_the_pipe_is_open(random_run: Path) -> None:
    command = [sys.executable, "-m", "ptenmt", "translate", "--run", str(random_run), "--input", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in (b"sim\nfim\n", b"bom\n"):
            process.stdin.write(line)
            answer = b""
            while answer.count(b"\n") < line.count(b"\n"):
                ready, _, _ = select.select([process.stdout], [], [], 60)
                assert ready, "it waits for the end of the input"
                new = process.stdout.read(1000)
                assert new, "it has ended"
                answer += new
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


def test_json_has_an_object_a_line(ptenmt, tiny: Translator) -> None:
    answers = [json.loads(line) for line in ptenmt("translate", "--json", *BEST, stdin=TEXT).lines]
    expected = tiny.translate(LINES, replace(tiny.config.decoding, num_hypotheses=2))
    assert {" ".join(answer) for answer in answers} == {f"{KEYS} detected unknown sentences"}
    for answer, translation in zip(answers, expected, strict=True):
        assert answer["source"] == translation.source
        assert answer["translation"] == translation.text
        assert (answer["raw"], answer["tokens"]) == (translation.raw, translation.tokens)
        assert answer["score"] == pytest.approx(translation.score)
        assert (answer["is_complete"], answer["is_split"]) == (True, False)
        assert [other["translation"] for other in answer["alternatives"]] == [
            other.text for other in translation.alternatives
        ]
    assert list(answers[0]["alternatives"][0]) == ["translation", "raw", "score", "tokens", "is_complete"]
    assert answers[1]["tokens"] == ["[START]", "[END]"]
    assert answers[0]["sentences"] == [{"translation": answers[0]["translation"]}]


def test_unknown_words_are_reported(ptenmt) -> None:
    known, unknown, again = ptenmt("translate", "--json", "o gato", "o zorro e o lince .", "um zorro").lines
    assert (json.loads(known)["unknown"], json.loads(again)["unknown"][-1]) == ([], "zorro")
    assert json.loads(unknown)["unknown"] == ["zorro", "e", "lince"]
    warning = ptenmt("translate", "o gato e zorro", "zorro um dois três quatro cinco").stderr
    assert warning.startswith("warning: words outside the model's vocabulary: ")
    assert warning.count(": 8 (") == warning.count(", …)\n") == 1
    assert "vocabulary: 2 (zorro)\n" in ptenmt("translate", "zorro", "o zorro").stderr


def test_n_best_are_lines_with_the_number_of_the_text_as_moses_writes_them(ptenmt, tiny: Translator) -> None:
    five = ("--set", "decoding.num_hypotheses=5")
    rows = [line.split(" ||| ") for line in ptenmt("translate", *five, *LINES).lines]
    first = tiny.translate(LINES[0], replace(tiny.config.decoding, beam_size=5, num_hypotheses=5))[0]

    texts = [first.text, *(other.text for other in first.alternatives)]
    assert [row[0] for row in rows[: len(texts) + 1]] == ["0"] * len(texts) + ["1"]
    assert [row[1] for row in rows[: len(texts)]] == texts
    scores = [float(row[2]) for row in rows[: len(texts)]]
    assert scores == sorted(scores, reverse=True)
    assert [row for row in rows if row[0] == "1"] == [["1", "", "0.0000"]]
    assert rows[-1][0] == str(len(LINES) - 1)


def test_options_of_how_to_search(ptenmt, tiny: Translator) -> None:
    given = ["--set", "decoding.no_repeat_ngram=1", "--set", "decoding.length_penalty=0.0"]
    options = replace(tiny.config.decoding, no_repeat_ngram=1, length_penalty=0.0, beam_size=2)
    answer = ptenmt("translate", "--threads", "1", "--beam-size", "2", *given, *LINES)
    assert answer.stdout == texts(tiny.translate(LINES, options))


def test_a_truncated_translation_is_a_warning(ptenmt) -> None:
    answer = ptenmt("translate", "--set", "decoding.max_length=2", *LINES)
    assert answer.stderr == "warning: translations truncated at the maximum length (decoding.max_length): 4\n"
    assert ptenmt("translate", "--quiet", "--set", "decoding.max_length=2", *LINES).stderr == ""


def test_a_prefix_is_completed(ptenmt) -> None:
    whole, completed = [
        ptenmt("translate", *given, "o gato come hoje .").lines[0] for given in ([], ["--prefix", "the bird"])
    ]
    assert completed.startswith("the bird ")
    assert not whole.startswith("the bird ")


def test_there_are_no_more_branches_than_tokens(tiny: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    likely = next_token_alternatives(tiny, "o gato come hoje .", "", MAX_ALTERNATIVES)
    monkeypatch.setattr("ptenmt.translation.single_sentence._LEAST_LOG_ODDS", -100.0)
    branches = next_token_alternatives(tiny, "o gato come hoje .", "", MAX_ALTERNATIVES)
    assert len({branch.tokens[1] for branch in branches}) == len(branches)
    assert len(branches) == tiny.tokenizers.target.vocabulary_size - 3  # [PAD], [START], [END]
    probabilities = [branch.probability for branch in branches]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) == pytest.approx(1, abs=1e-4)
    assert len(likely) == sum(each >= 0.01 * probabilities[0] for each in probabilities) < len(branches)
    assert (likely[0].text, likely[0].probability) == (branches[0].text, pytest.approx(probabilities[0]))
    for count in (0, MAX_ALTERNATIVES + 1):
        with pytest.raises(ConfigError, match=f"{count} alternatives: give 1 to 1,000"):
            next_token_alternatives(tiny, "o gato come hoje .", "", count)


def test_tensorflow_is_loaded_for_its_engine_alone(
    ptenmt, copied_run: Path, translations: list[Translation], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[object] = []
    monkeypatch.setattr("ptenmt.cli.translate.load_tensorflow", loaded.append)
    shutil.rmtree(copied_run / "checkpoints" / "tiny" / "ctranslate2")
    assert ptenmt("translate", *LINES).stdout == texts(translations)
    assert loaded == []
    reference = Translator.load("checkpoints/tiny", engine="keras").translate(LINES[0])
    assert ptenmt("translate", "--engine", "keras", LINES[0]).stdout == texts(reference)
    assert len(loaded) == 1


def test_a_glossary_gives_terms_their_translations(ptenmt, tmp_path: Path) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("gato\tZebra\n", encoding="utf-8")
    answer = ptenmt("translate", "--glossary", str(terms), LINES[0], LINES[2])
    assert [line.count("Zebra") for line in answer.lines] == [1, 0]


def test_texts_in_another_language_are_a_warning(ptenmt) -> None:
    texts = ["the cat has no time for this", "der Hund hat heute keine Zeit für uns und dich", LINES[0]]
    answer = ptenmt("translate", "--json", *texts)
    assert [json.loads(line)["detected"] for line in answer.lines] == ["en", "de", None]
    languages = "English, left as it is: line 1; German, translated all the same: line 2"
    assert f"warning: texts in another language: 2 ({languages})\n" in answer.stderr
    assert json.loads(answer.lines[0])["translation"] == texts[0]


def test_text_in_utf16_is_an_error(ptenmt, tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.write_bytes("o gato come hoje .\r\nnão\r\n".encode("utf-16"))
    answer = ptenmt("translate", "-i", str(source), "-o", str(out), code=1)
    assert f"error: {source} is not UTF-8 but UTF-16, or no text\n" in answer.stderr
    assert not out.exists()
    source.write_bytes(b"o\0gato come hoje .\n")  # a stray one separates words
    assert ptenmt("translate", "-i", str(source)).lines == ptenmt("translate", "o gato come hoje .").lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["olá", "--input", "pairs.tsv"], "TEXT and --input cannot be used together\n  give one of them"),
        (["olá", "--resume"], "--resume needs an --output file\n"),
        (["olá", "-o", "a" * 248], f"cannot write {'a' * 248}: File name too long"),
        (["olá", "-o", "/dev/null"], "--output /dev/null is not a regular file\n"),
        (["olá", "--output", "nowhere/out.txt"], "cannot write nowhere/out.txt: No such file or directory"),
        (["olá", "--output", "checkpoints"], "cannot write checkpoints: Is a directory"),
        (["--input", "pairs.tsv", "--output", "./pairs.tsv"], "--output pairs.tsv is the input itself"),
        (["olá", "--run", "tny"], "no run in checkpoints/tny\n  did you mean tiny?"),
        (
            ["olá", "--set", "model.dropout=0"],
            "--set model.dropout=0: only the section decoding of a trained model",
        ),
    ],
)
def test_errors(ptenmt, beside: Path, arguments: list[str], message: str) -> None:
    before = (beside / "pairs.tsv").read_bytes()
    names = sorted(path.name for path in beside.iterdir())
    answer = ptenmt("translate", *arguments, code=1)
    assert answer.stderr.startswith(f"error: {message}")
    assert answer.stdout == ""
    assert (beside / "pairs.tsv").read_bytes() == before
    assert sorted(path.name for path in beside.iterdir()) == names


def test_a_missing_input_is_an_error_before_the_model_is_loaded(
    ptenmt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrainedModel, "load", None)
    assert "cannot read nowhere.txt" in ptenmt("translate", "--input", "nowhere.txt", code=1).stderr


def test_closed_streams_are_errors(beside: Path) -> None:
    for closed, message in (
        ("olá >&-", "error: cannot write standard output: it is closed\n"),
        ("<&-", "error: cannot read standard input: it is closed\n  give a file\n"),
    ):
        command = f"{shlex.quote(sys.executable)} -m ptenmt translate {closed}"
        ended = subprocess.run(
            command, shell=True, stderr=subprocess.PIPE, text=True, check=False, cwd=beside
        )
        assert (ended.returncode, ended.stderr) == (1, message)


def test_a_text_that_looks_like_an_option_needs_dashes(ptenmt) -> None:
    message = ptenmt("translate", "-5 graus", code=2).stderr
    assert message == "error: no such option: -5\n  write -- before a text that starts with -\n"
