"""``ptenmt download`` of public corpora; the fetching itself is tested in tests/data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptenmt.config import DataConfig


def test_a_download_names_licences(
    ptenmt: Callable[..., Any], empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(data: DataConfig, *_: object) -> list[dict[str, Any]]:
        return [{"name": file.corpus, "pairs": 1234, "licence": "CC0"} for file in data.train]

    for module in ("ptenmt.cli.data", "ptenmt.data.corpus"):
        monkeypatch.setattr(f"{module}.fetch_corpora", fetch)
    config = "data: {train: [{corpus: A/v1}]}\ntokenizer: {kind: words}\n"
    (empty / "a.yaml").write_text(config, encoding="utf-8")
    answer = ptenmt("download", "--config", "a.yaml")
    assert answer.stderr == "corpus A/v1: 1,234 pairs, licence: CC0\n"
