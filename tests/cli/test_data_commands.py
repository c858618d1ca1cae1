"""``ptenmt data`` and ``download``; filtering and fetching themselves are tested in tests/data."""

from pathlib import Path
from typing import Any

import pytest

from ptenmt.config import DataConfig, TokenizerConfig
from ptenmt.errors import DownloadProgress

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


@pytest.mark.usefixtures("files")
def test_next_words_have_no_pairs(ptenmt) -> None:
    answer = ptenmt("data", "--config", "next-word.yaml", code=1)
    assert "task=next-word has no sentence pairs" in answer.stderr


def test_a_tokenizer_that_is_here_already(ptenmt, empty: Path) -> None:
    folder = empty / "tokenizer" / "ted"
    (folder / "assets").mkdir(parents=True)
    (folder / "assets" / "pt_vocab.txt").touch()
    arguments = ["--set", "data.source=demo", "--set", "tokenizer.path=tokenizer"]
    assert ptenmt("download", *arguments).stderr == f"tokenizer: {folder}\n"


def test_progress_is_a_line_a_file(ptenmt, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(_config: object, on_progress) -> TokenizerConfig:
        for name in ("a.zip", "b.zip"):
            for done in (0, 5, 10):
                on_progress(DownloadProgress(url=f"http://x/{name}", name=name, done=done, total=10))
        return TokenizerConfig(path=str(empty))

    monkeypatch.setattr("ptenmt.cli.data.fetch_sources", fetch)
    assert ptenmt("download", "--set", "data.source=demo").stderr.splitlines() == [
        "downloading a.zip from http://x/a.zip",
        "downloading b.zip from http://x/b.zip",
        f"tokenizer: {empty}",
    ]


def test_a_download_names_licences(ptenmt, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(data: DataConfig, *_: object) -> list[dict[str, Any]]:
        return [{"name": file.corpus, "licence": "CC0"} for file in data.train]

    for module in ("ptenmt.cli.data", "ptenmt.data.corpus"):
        monkeypatch.setattr(f"{module}.fetch_corpora", fetch)
    config = "data: {train: [{corpus: A/v1}]}\ntokenizer: {kind: words}\n"
    (empty / "a.yaml").write_text(config, encoding="utf-8")
    answer = ptenmt("download", "--config", "a.yaml")
    assert answer.stderr == "corpus A/v1, licence: CC0\n"
