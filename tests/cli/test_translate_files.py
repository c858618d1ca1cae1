"""``ptenmt translate --input FILE --output FILE``: big, interrupted, damaged and hostile files."""

import gzip
import json
import os
import random
import shutil
import signal
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import pytest
from http_server import names

from ptenmt.atomic_files import exclusive
from ptenmt.runs import Run
from ptenmt.runs.weights import read_weights, write_weights
from ptenmt.translation import Translation, Translator

WORDS = ["gato", "cão", "ave", "rei", "mãe", "come", "dorme", "canta", "hoje", "agora", ".", ",", "?"]
BUFFER = 64
NUM_LINES = 2 * BUFFER + 20


def random_lines(count: int, seed: int = 1) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, k=chosen.randint(0, 9))) for _ in range(count)]


def write_lines(file: Path, lines: list[str]) -> Path:
    file.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return file


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two whole buffers, and a third."""
    return write_lines(tmp_path_factory.mktemp("source") / "source.txt", random_lines(NUM_LINES))


@pytest.fixture(autouse=True)
def _small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptenmt.cli.translate_lines.BUFFER_SIZE", BUFFER)
    monkeypatch.setattr("ptenmt.cli.translate.BUFFER_SIZE", BUFFER)
    monkeypatch.setitem(Translator.translate_buffers.__kwdefaults__, "buffer_size", BUFFER)


@pytest.fixture
def job(ptenmt, random_run: Path, tmp_path: Path):
    """Translates a file into out.txt, or another --output among the arguments: the last one counts."""

    def translate(file: Path, *arguments: str, code: int = 0):
        files = ["--input", str(file), "--output", str(tmp_path / "out.txt")]
        return ptenmt("translate", "--run", str(random_run), *files, *arguments, code=code)

    return translate


@pytest.fixture(scope="module")
def whole(source: Path, random_run: Path) -> bytes:
    """The translation of all lines, made without interruption."""
    texts = source.read_text(encoding="utf-8").split("\n")[:-1]
    translations = chain(*Translator.load(random_run).translate_buffers(texts, buffer_size=BUFFER))
    return "".join(f"{translation.text}\n" for translation in translations).encode()


@pytest.fixture
def stopped(job, source: Path, monkeypatch: pytest.MonkeyPatch):
    """Translates a file until a signal ends it after so many buffers."""
    whole = Translator.translate_buffers

    def translate(num_buffers: int, *arguments: str, code: int = 128 + signal.SIGINT):
        def interrupted(*given: object, **options: object) -> Iterator[list[Translation]]:
            yield from islice(whole(*given, **options), num_buffers)
            raise KeyboardInterrupt if code == 128 + signal.SIGINT else SystemExit(code)

        with monkeypatch.context() as patch:
            patch.setattr(Translator, "translate_buffers", interrupted)
            return job(source, *arguments, code=code)

    return translate


def test_a_file_is_complete_and_reported(job, source: Path, whole: bytes, tmp_path: Path) -> None:
    answer = job(source)
    assert (tmp_path / "out.txt").read_bytes() == whole
    assert len(set(whole.split(b"\n"))) > NUM_LINES / 4
    assert answer.stdout == ""
    assert answer.stderr.startswith("translated 148 lines in ")
    assert " lines/s\nwarning: " in answer.stderr
    assert "\nwarning: translations truncated" in answer.stderr
    assert names(tmp_path) == ["out.txt"]
    (tmp_path / "out.txt").unlink()
    assert job(source, "--quiet").stderr == ""


def test_the_parts_of_a_file_are_whole_buffers_and_make_up_the_whole(
    ptenmt, job, source: Path, whole: bytes, tmp_path: Path
) -> None:
    parts = []
    for number in range(1, 5):
        part = tmp_path / f"part-{number}.txt"
        job(source, "--shard", f"{number}/4", "--output", str(part))
        parts.append(part.read_bytes())
    assert b"".join(parts) == whole
    assert [part.count(b"\n") for part in parts] == [0, BUFFER, BUFFER, 20]

    for shard in ("0/4", "5/4", "3", "a/b", "1/0"):
        assert f"--shard {shard} is not K/N" in job(source, "--shard", shard, code=1).stderr
    assert "--shard needs --input and --output" in ptenmt("translate", "--shard", "1/4", "x", code=1).stderr


def test_a_pipe_is_read_like_a_file(job, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(b"gato\n")
    job(Path(f"/dev/fd/{reading}"))
    os.close(reading)
    assert (tmp_path / "out.txt").read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_file_resumes_at_its_position(
    job, stopped, source: Path, whole: bytes, tmp_path: Path, number: int
) -> None:
    answer = stopped(2, code=128 + number)
    assert "stopped: 128 lines saved; resume with\n  ptenmt translate --resume --run" in answer.stderr
    assert names(tmp_path) == [".out.txt.partial", ".out.txt.partial.json"]

    answer = job(source, "--resume")
    assert (tmp_path / "out.txt").read_bytes() == whole
    assert "translated 20 lines in" in answer.stderr
    assert "128 before" in answer.stderr
    assert names(tmp_path) == ["out.txt"]

    (tmp_path / "out.txt").unlink()
    assert stopped(0).stderr == "stopped: nothing is saved before 64 lines are done\n"
    assert names(tmp_path) == []
    said = f"nothing to resume for {tmp_path / 'out.txt'}: starting from the first line\ntranslated"
    assert job(source, "--resume").stderr.startswith(said)
    assert (tmp_path / "out.txt").read_bytes() == whole


def test_output_started_otherwise_is_not_resumed(
    job, stopped, source: Path, random_run: Path, tmp_path: Path
) -> None:
    stopped(1)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    other = write_lines(source.with_name("other.txt"), ["another", *random_lines(NUM_LINES)[1:]])
    short = write_lines(source.with_name("short.txt"), random_lines(NUM_LINES)[:20])
    hint = "\n  leave out --resume to start from the first line\n"

    error = job(source, "--resume", "--beam-size", "2", code=1).stderr
    assert error == f"error: --resume: out.txt was started with beam_size 1, not 2{hint}"
    error = job(source, "--resume", "--shard", "3/4", code=1).stderr
    assert error == f"error: --resume: out.txt was started with first line 1, not 65{hint}"
    for file in (other, short):
        error = job(file, "--resume", code=1).stderr
        assert "the input does not start with the 64 lines translated before for out.txt" in error
        assert error.endswith(hint)
    shutil.copytree(random_run, source.with_name("run"))
    file = source.with_name("run") / "weights" / "best.safetensors"
    info, arrays = read_weights(file)
    arrays = {name: array * 2 for name, array in arrays.items()}
    write_weights(file, arrays, config=Run(file.parents[1]).config(), step=1, score=1.0)
    error = job(source, "--resume", "--run", str(source.with_name("run")), code=1).stderr
    assert f"out.txt was started with weights {info.checksum}, not " in error
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_damaged_partial_output_is_not_resumed(job, stopped, source: Path, tmp_path: Path) -> None:
    stopped(1)
    partial = tmp_path / ".out.txt.partial"
    partial.write_bytes(partial.read_bytes()[:-1])
    assert f"--resume: {partial} is damaged" in job(source, "--resume", code=1).stderr

    record = tmp_path / ".out.txt.partial.json"
    record.write_text("{")
    assert f"--resume: {record} is damaged" in job(source, "--resume", code=1).stderr
    record.unlink()
    record.mkdir()
    assert f"--resume: cannot read {record}: Is a directory\n" in job(source, "--resume", code=1).stderr


def test_sampled_and_compressed_output_is_resumed(job, stopped, source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.txt.gz"
    given = ["--set", "decoding.top_k=3", "--output", str(output)]  # of two outputs, the last one counts
    job(source, *given)
    whole = gzip.decompress(output.read_bytes())
    output.unlink()
    stopped(2, *given)
    job(source, *given, "--resume")
    assert gzip.decompress(output.read_bytes()) == whole
    assert names(tmp_path) == ["out.txt.gz"]
    output.unlink()
    job(source, *given, "--set", "decoding.seed=1")
    assert gzip.decompress(output.read_bytes()) != whole


def test_an_output_that_exists_is_not_replaced(
    job, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.txt"
    output.write_text("corrected")
    monkeypatch.setattr("ptenmt.cli.translate.find_run", None)  # it is known before a model is loaded
    refused = f"error: --output {output} exists\n  choose another file, or delete it\n"
    assert job(source, code=1).stderr == refused
    assert job(source, "--resume").stderr == f"{output} is complete: nothing to resume\n"
    assert output.read_text() == "corrected"
    monkeypatch.undo()
    output.write_text("")  # as mktemp leaves it
    job(source)
    assert output.read_bytes().count(b"\n") == NUM_LINES


def test_one_process_at_a_time_writes_a_file(job, source: Path, tmp_path: Path) -> None:
    with exclusive(tmp_path / ".out.txt.lock"):
        error = job(source, code=1).stderr
    assert error.startswith(f"error: {tmp_path / 'out.txt'} is being written by process {os.getpid()}\n")
    assert names(tmp_path) == []


def test_a_bad_line_is_named_and_what_came_before_is_kept(
    ptenmt, job, source: Path, random_run: Path, tmp_path: Path
) -> None:
    lines = source.read_bytes().split(b"\n")
    lines[99] = "olá".encode("latin-1")
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"\n".join(lines))
    answer = job(bad, code=1)
    assert f"error: {bad}, line 100: byte 3 is not valid UTF-8\n" in answer.stderr
    assert "stopped: 64 lines saved; resume with\n" in answer.stderr
    assert not (tmp_path / "out.txt").exists()
    lines[99] = b""
    bad.write_bytes(b"\n".join(lines))
    job(bad, "--resume")
    assert (tmp_path / "out.txt").read_bytes().count(b"\n") == NUM_LINES
    answer = ptenmt("translate", "--run", str(random_run), stdin=b"gato\nol\xe1\n", code=1)
    assert answer.stdout.count("\n") == 1
    assert "error: standard input, line 2: byte 3 is not valid UTF-8" in answer.stderr


STRANGE = [
    *("\0", "\0 gato \0\0", " ", "\t\t", "\u00a0\u3000", "...?!,,", "—«»“”", "\r", "gato\rcão", "\r gato"),
    "gato\u2028cão\u2029\x85\x0b\x0c\x1c",
    "\ufeff\u200b",
    "שלום עולם",
    "\u202eمرحبا بالعالم\u202c",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "e\u0301" * 40,
    "▁▁ [START] [END] [UNK] <s> </s>",
    "\ue000gato\ue001",
    "猫は魚を食べる。" * 20,
]


def fuzzed(count: int) -> list[str]:
    chosen = random.Random(7)
    letters = [chr(code) for code in range(0x2000) if code != 0x0A] + WORDS + STRANGE
    lines = ["".join(chosen.choices(letters, k=chosen.choice([1, 3, 10, 40]))) for _ in range(count)]
    lines[100 : 100 + len(STRANGE)] = STRANGE
    return [line.rstrip("\r") for line in lines]


def test_strange_lines(ptenmt, random_run: Path, tmp_path: Path) -> None:
    """None crashes it, none is lost, and they stay in their order."""
    lines = fuzzed(800)
    lines[500] = "gato, cão  " * 2_000
    content = [line.encode() for line in lines]
    (tmp_path / "in.txt").write_bytes(b"\n".join(content) + b"\n")
    (tmp_path / "begin.txt").write_bytes(b"\n".join(content[:300]) + b"\n")
    command = ["translate", "--run", str(random_run), "--input"]

    result = ptenmt(*command, str(tmp_path / "in.txt"), "--output", str(tmp_path / "out.txt"))
    written = (tmp_path / "out.txt").read_bytes().decode().split("\n")[:-1]
    assert len(written) == len(lines)
    assert all(written[number] == line for number, line in enumerate(lines) if not line.strip())
    assert len(written[500]) > 500
    assert "too long for the model, which was split: 1\n" in result.stderr
    result = ptenmt(*command, str(tmp_path / "begin.txt"), "--json")
    answers = [json.loads(line) for line in result.stdout.split("\n")[:-1]]
    assert [answer["source"] for answer in answers] == lines[:300]
    assert [answer["translation"] for answer in answers] == written[:300]


def test_the_numbers_of_n_best_lists_go_on_from_buffer_to_buffer(job, source: Path, tmp_path: Path) -> None:
    job(source, "--set", "decoding.num_hypotheses=2")
    rows = (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()
    assert list(dict.fromkeys(int(row.split(" ||| ")[0]) for row in rows)) == list(range(NUM_LINES))
