"""``ptenmt download``; the fetching itself is tested in tests/data."""

from pathlib import Path
from typing import Any

import pytest

from ptenmt.config import DataConfig, TokenizerConfig
from ptenmt.errors import DownloadProgress


def test_a_config_that_needs_nothing(ptenmt, empty: Path) -> None:
    answer = ptenmt("download", "--config", "demo.yaml")
    assert (answer.stdout, answer.stderr) == ("", "")
    assert list(empty.iterdir()) == []


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
