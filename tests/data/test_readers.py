"""Reading lines and pairs: what a line is, what a pair is, and one clear line about everything else."""

import gzip
import os
from pathlib import Path

import pytest

from ptenmt.config import CorpusFile
from ptenmt.data.readers import Lines, opened_lines, read_lines, read_pairs
from ptenmt.errors import DataError

CONTENT = "\ufeffum\r\n\ndois\u2028três\rquatro\n" + "cinco\n" * 20_000 + "fim"


def written(path: Path, content: str | bytes) -> CorpusFile:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return CorpusFile(path=str(path))


@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_a_line_ends_at_line_feeds_alone(tmp_path: Path, name: str) -> None:
    written(tmp_path / name, CONTENT)
    lines = list(read_lines(tmp_path / name))
    assert lines[:3] == ["um", "", "dois\u2028três\rquatro"]
    assert lines[-1] == "fim"
    assert len(lines) == 20_004


@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_the_total_length_is_known_early(tmp_path: Path, name: str) -> None:
    content = "".join(f"{number * 7919 % 10_007} palavras\n" for number in range(400_000))
    written(tmp_path / name, content)
    with opened_lines(tmp_path / name) as lines:
        assert lines.expected_bytes() is None
        for number, _ in enumerate(lines):
            if number == 300_000:  # Python 3.12 reads 128 KiB ahead
                assert lines.expected_bytes() == pytest.approx(len(content), rel=0.2)
        assert lines.num_bytes == lines.expected_bytes() == len(content)


def test_what_cannot_be_read_ends_it(tmp_path: Path) -> None:
    written(tmp_path / "text.txt", b"um\nol\xe1\n\xff\ndois\n")
    with pytest.raises(DataError, match=r"text.txt, line 2: byte 3 is not valid UTF-8"):
        list(read_lines(tmp_path / "text.txt"))
    with pytest.raises(DataError, match="cannot read .*nowhere.txt: No such file or directory"):
        list(read_lines(tmp_path / "nowhere.txt"))


def aligned(folder: Path, source: str, target: str, ending: str = "") -> CorpusFile:
    return CorpusFile(
        source=written(folder / f"lines.pt{ending}", source).path,
        target=written(folder / f"lines.en{ending}", target).path,
    )


def error_of(file: CorpusFile) -> DataError:
    with pytest.raises(DataError) as raised:
        list(read_pairs(file))
    assert "\n" not in raised.value.message
    return raised.value


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".TSV"])
def test_reads_tab_separated_columns_and_takes_quotes_as_letters(tmp_path: Path, ending: str) -> None:
    file = written(tmp_path / f"a{ending}", '"olá\thello"\num, dois\tone, two\n')
    assert list(read_pairs(file)) == [('"olá', 'hello"'), ("um, dois", "one, two")]


def test_the_score_of_a_pair_is_not_read(tmp_path: Path) -> None:
    file = written(tmp_path / "a.tsv", "um\tone\t-0.25\ndois\ttwo\ntrês\tthree\t1e-3\n")
    assert list(read_pairs(file)) == [("um", "one"), ("dois", "two"), ("três", "three")]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_reads_aligned_files_whose_blank_lines_count(tmp_path: Path, ending: str) -> None:
    file = aligned(tmp_path, "um\n\ntrês\n", "one\ntwo\nthree", ending)
    assert list(read_pairs(file)) == [("um", "one"), ("", "two"), ("três", "three")]


def test_byte_order_mark_windows_line_ends_and_blank_lines_are_no_text(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbfum\tone\r\n\n  \ndois\ttwo\r\n\n"
    assert list(read_pairs(written(tmp_path / "a.tsv", text))) == [("um", "one"), ("dois", "two")]
    assert "line 6: 1 column" in error_of(written(tmp_path / "b.tsv", text + b"tres")).message


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "um\tone\ndois\n", "line 2: 1 column instead of 2"),
        ("a.tsv", "um\tone\tuno\n", "line 1: 3 columns instead of 2"),
        ("a.tsv", "\n\n", "is empty"),
        ("a.xlsx", "um\tone\n", "has an unknown ending"),
    ],
)
def test_bad_content_is_named_with_its_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    file = written(tmp_path / name, text)
    assert error_of(file).message.startswith(f"{file.path}")
    assert message in error_of(file).message


@pytest.mark.parametrize(
    "damaged",
    [
        b"um\tone\n",
        gzip.compress(b"um\tone\n" * 9999)[:-20],
        gzip.compress(b"um\tone\n")[:-8] + b"wrongsum",
        gzip.compress(b"um\tone\n")[:10] + b"\xff" * 20,
    ],
    ids=["not gzip", "truncated", "checksum", "broken inside"],
)
def test_corrupt_gzip_cannot_be_read(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(damaged)
    assert error_of(CorpusFile(path=str(path))).message.startswith(f"cannot read {path}: ")


def test_aligned_files_of_different_length_are_refused_with_both_counts(tmp_path: Path) -> None:
    message = error_of(aligned(tmp_path, "um\ndois\ntrês\n", "one\ntwo\n")).message
    assert "lines.pt has 3 lines" in message
    assert "lines.en has 2" in message


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot wait for a pipe")
def test_a_pipe_pauses_where_nothing_more_has_come() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as file, open(writing, "wb", buffering=0) as pipe:
        lines = Lines(file, "pipe")
        stream = iter(lines)
        pipe.write(b"um\ndois\ntr")
        assert (next(stream), lines.has_more(0)) == ("um", True), "it has been read already"
        assert (next(stream), lines.has_more(0.01)) == ("dois", False), "the third has no end yet"
        pipe.write("ês\n".encode())
        assert lines.has_more(0)
        assert (next(stream), lines.has_more(0.01)) == ("três", False)
        pipe.close()
        assert lines.has_more(0), "the end"
        assert list(stream) == []
