"""``ptenmt corpora``, and ``ptenmt download`` of corpora; the fetching itself is tested in tests/data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptenmt.config import DataConfig

TED: dict[str, Any] = {
    "name": "OPUS-ted2020-v1-eng-por",
    "version": "v1",
    "languages": ["eng", "por"],
    "urls": ["https://example.org/en-pt.zip"],
    "licence": "CC BY-NC-ND 4.0",
    "citations": ["tiedemann2012parallel"],
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A list of one corpus; holds what it was asked for."""
    asked: list[tuple[str, ...]] = []

    def list_corpora(*arguments: str) -> list[dict[str, Any]]:
        asked.append(arguments)
        return [TED] if arguments[2] in TED["name"] else []

    monkeypatch.setattr("ptenmt.cli.data.list_corpora", list_corpora)
    return asked


def test_a_line_a_corpus(ptenmt: Callable[..., Any], asked: list[tuple[str, ...]]) -> None:
    answer = ptenmt("corpora", "--languages", "en-pt", "--search", "ted")
    assert asked == [("en", "pt", "ted")]
    assert answer.lines[0] == "public corpora of en-pt: 1"
    assert answer.lines[1].split() == ["corpus", "version", "source", "licence", "citation"]
    row = "OPUS-ted2020-v1-eng-por v1 example.org CC BY-NC-ND 4.0 tiedemann2012parallel"
    assert " ".join(answer.lines[2].split()) == row


@pytest.mark.usefixtures("asked")
def test_nothing_found(ptenmt: Callable[..., Any]) -> None:
    answer = ptenmt("corpora", "--search", "nothing")
    assert (answer.stdout, answer.stderr) == ("", "no corpus of pt-en has nothing in its name\n")
    assert "must be two languages" in ptenmt("corpora", "--languages", "pt", code=1).stderr
    assert "such as pt_BR-en" in ptenmt("corpora", "--languages", "pt-BR-en", code=1).stderr


def test_a_download_names_licences(
    ptenmt: Callable[..., Any], empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(data: DataConfig, *_: object) -> list[dict[str, Any]]:
        return [{"name": file.corpus, "pairs": 1234, "licence": "CC0"} for file in data.train]

    for module in ("ptenmt.cli.data", "ptenmt.data.corpus"):
        monkeypatch.setattr(f"{module}.fetch_corpora", fetch)
    config = "data: {train: [{corpus: OPUS-a-v1-eng-por}]}\ntokenizer: {kind: words}\n"
    (empty / "a.yaml").write_text(config, encoding="utf-8")
    answer = ptenmt("download", "--config", "a.yaml")
    assert answer.stderr == "corpus OPUS-a-v1-eng-por: 1,234 pairs, licence: CC0\n"
