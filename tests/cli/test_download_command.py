"""``ptenmt download``; the fetching itself is tested in tests/data."""

from pathlib import Path

import pytest


def test_a_config_that_needs_nothing(ptenmt, empty: Path) -> None:
    answer = ptenmt("download", "--config", "demo.yaml")
    assert answer.stdout == ""
    assert answer.stderr == "demo.yaml needs nothing from the network\n"
    assert list(empty.iterdir()) == []
    assert ptenmt("download", "--config", "demo.yaml", "--quiet").stderr == ""


def test_a_tokenizer_that_is_here_already(ptenmt, empty: Path) -> None:
    folder = empty / "tokenizer" / "ted"
    (folder / "assets").mkdir(parents=True)
    (folder / "assets" / "pt_vocab.txt").touch()
    arguments = ["--set", "data.source=demo", "--set", "tokenizer.path=tokenizer"]
    assert ptenmt("download", *arguments).stderr == f"tokenizer: {folder}\n"


def test_a_tokenizer_that_is_nowhere(ptenmt, empty: Path) -> None:
    arguments = ["--set", "data.source=demo", "--set", "tokenizer.path=tokenizer"]
    answer = ptenmt("download", *arguments, code=1)
    assert f"no tokenizer in {empty / 'tokenizer'}" in answer.stderr


def test_progress_is_a_line_a_file(ptenmt, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ptenmt.config import TokenizerConfig
    from ptenmt.errors import DownloadProgress

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
