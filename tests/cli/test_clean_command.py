"""``ptenmt clean``: what it prints and refuses; what it computes is tested in tests/test_cleaning.py."""

import gzip
from pathlib import Path

import pytest
from random_models import write_random_run

from ptenmt.config import DataConfig

CONFIG = "data: {train: pairs.tsv, validation: held.tsv, test: held.tsv, cache_dir: cache}\n"
PAIRS = [(f"o gato come {what}", f"the cat eats {what}") for what in ("pão", "mel", "sal", "uva", "figo")]
COMMAND = ("clean", "--config", "mine.yaml", "--forward", "there", "--backward", "back")


@pytest.fixture
def files(empty: Path) -> Path:
    """A config, five pairs, and a run in each direction."""
    (empty / "mine.yaml").write_text(CONFIG, encoding="utf-8")
    lines = [*(f"{source}\t{target}\n" for source, target in PAIRS), "\tempty\n"]
    (empty / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    (empty / "held.tsv").write_text("isto é o teste\tthis is the test\n", encoding="utf-8")
    for name, is_back in (("there", False), ("back", True)):
        data = DataConfig(source="files", path="-", reverse=is_back)
        write_random_run(empty / "checkpoints" / name, data, PAIRS)
    return empty


def test_tables_and_a_file(ptenmt, files: Path) -> None:
    for keep, num_left in (("0.4", 2), ("1", 5)):
        answer = ptenmt(*COMMAND, "--keep", keep, "--output", "clean.tsv.gz")
        assert answer.stderr == "clean pairs: clean.tsv.gz\n"
        share = f"{num_left / 5:.1%}"
        assert answer.lines[2].split() == ["pairs", "5", "0", str(5 - num_left), str(num_left), share]
        text = gzip.decompress((files / "clean.tsv.gz").read_bytes()).decode()
        rows = [line.split("\t") for line in text.splitlines()]
        assert {tuple(row[:2]) for row in rows} <= set(PAIRS)
        assert len(rows) == num_left
        assert ("examples" in answer.stdout) == (num_left < 5)
    config = (files / "mine.yaml").read_text(encoding="utf-8").replace("pairs.tsv", "clean.tsv.gz")
    (files / "mine.yaml").write_text(config, encoding="utf-8")
    assert ptenmt("data", "--config", "mine.yaml").lines[-1].split()[:2] == ["clean", "5"]


@pytest.mark.usefixtures("files")
def test_refusals_leave_no_file(ptenmt) -> None:
    for arguments, message in {
        ("--keep", "1.5"): "--keep 1.5 must be above 0 and at most 1",
        ("--forward", "back", "--backward", "there"): "--forward back has direction en→pt, not pt→en; ",
        ("--forward", "ther"): "no run in checkpoints/ther",
        ("--set", "data.lowercase=true"): "--forward there has lowercase False, not True; ",
        ("--device", "cuda"): "cannot compute on device cuda",
    }.items():
        answer = ptenmt(*COMMAND, "--output", "clean.tsv", *arguments, code=1)
        assert message in answer.stderr
        assert not Path("clean.tsv").exists()
    assert "is a file of the config" in ptenmt(*COMMAND, "--output", "pairs.tsv", code=1).stderr
    assert "missing option '--output'" in ptenmt(*COMMAND, code=2).stderr
