"""``ptenmt data``: what the filters remove, with examples, as tables and as JSON."""

from pathlib import Path

import pytest

CONFIG = """
data:
  train: [first.tsv, second.tsv]
  validation: held.tsv
  test: held.tsv
  filters: {max_words: 3, deduplicate: near, unescape_html: true}
  cache_dir: cache
"""


@pytest.fixture
def files(empty: Path) -> Path:
    (empty / "mine.yaml").write_text(CONFIG, encoding="utf-8")
    (empty / "first.tsv").write_text("um\tone\nUm!\tOne.\na b c d\t<b>four</b>\nR&amp;D\tR&amp;D\n")
    (empty / "second.tsv").write_text("dois\ttwo\no teste é este\tanother\n", encoding="utf-8")
    (empty / "held.tsv").write_text("O teste é este.\tThis is the test.\n", encoding="utf-8")
    return empty


@pytest.mark.usefixtures("files")
def test_tables_have_files_filters_and_examples(ptenmt) -> None:
    for _ in range(2):  # read, and from the cache
        answer = ptenmt("data", "--config", "mine.yaml")
        assert answer.stderr == ""
        assert answer.stdout.split("\n\n")[0].splitlines() == [
            "Training files",
            "file       pairs  removed  left  share left",
            "first          4        2     2       50.0%",
            "second         2        1     1       50.0%",
            "all files      6        3     3       50.0%",
        ]
        assert answer.stdout.split("\n\n")[1].splitlines() == [
            "Removed",
            "filter           pairs, with examples",
            "held out         1 of second",
            "                 o teste é este → another",
            "over 3 words     1 of first",
            "                 a b c d → <b>four</b>",
            "near duplicates  1 of first",
            "                 Um! → One.",
        ]


def test_nothing_removed_is_one_table(ptenmt, empty: Path) -> None:
    answer = ptenmt("data", "--config", "demo.yaml", "--set", f"data.cache_dir={empty / 'cache'}")
    assert answer.lines[-1].split() == ["demo", "8,030", "0", "8,030", "100.0%"]


@pytest.mark.usefixtures("files")
def test_refusals_come_before_the_data_are_read(ptenmt) -> None:
    answer = ptenmt("data", "--config", "next-word.yaml", code=1)
    assert "task=next-word has no sentence pairs" in answer.stderr
    answer = ptenmt("data", "--config", "mine.yaml", "--set", "data.train=held.tsv", code=1)
    assert "no training pair is left (left out: 1 held out)" in answer.stderr
