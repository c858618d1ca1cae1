import gzip
from pathlib import Path

import pytest

from ptenmt.data.readers import opened_lines, read_lines
from ptenmt.errors import DataError

CONTENT = "\ufeffum\r\n\ndois\u2028três\rquatro\n" + "cinco\n" * 20_000 + "fim"


@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_a_line_ends_at_line_feeds_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress(CONTENT.encode()) if name.endswith("gz") else CONTENT.encode())
    lines = list(read_lines(file))
    assert lines[:3] == ["um", "", "dois\u2028três\rquatro"]
    assert lines[-1] == "fim"
    assert len(lines) == 20_004


@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_how_long_the_whole_is_can_be_told_early(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    content = "".join(f"{number * 7919 % 10_007} palavras\n" for number in range(100_000)).encode()
    file.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with opened_lines(file) as lines:
        assert lines.expected_bytes() is None
        for number, _ in enumerate(lines):
            if number == 30_000:
                assert lines.expected_bytes() == pytest.approx(len(content), rel=0.2)
        assert lines.num_bytes == lines.expected_bytes() == len(content)


def test_lines_that_are_not_utf8_end_it_or_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(b"um\nol\xe1\n\xff\ndois\n")
    with pytest.raises(DataError, match=r"text.txt, line 2: byte 3 is not valid UTF-8"):
        list(read_lines(file))
    with opened_lines(file, skip_invalid=True) as lines:
        assert list(lines) == ["um", "", "", "dois"]
        assert lines.num_invalid == 2


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read .*nowhere.txt: No such file or directory"):
        list(read_lines(tmp_path / "nowhere.txt"))
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"um\n" * 1000)[:-20])
    with pytest.raises(DataError, match=r"cannot read .*broken.gz"):
        list(read_lines(broken))
