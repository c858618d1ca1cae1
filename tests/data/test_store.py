"""Entries of the cache: made once, whole or not at all, made again when damaged."""

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptenmt.data import store
from ptenmt.data.store import CorpusCache, Entry, corpus_cache
from ptenmt.errors import DataError, OutputError

Maker = Callable[..., Entry]


@pytest.fixture
def cache(tmp_path: Path) -> CorpusCache:
    return CorpusCache(tmp_path / "cache")


@pytest.fixture
def calls() -> list[Any]:
    """The keys of the entries that were made."""
    return []


@pytest.fixture
def make(cache: CorpusCache, calls: list[Any]) -> Maker:
    def make(key: Any = "key", text: str = "content") -> Entry:
        def build(folder: Path) -> dict[str, Any]:
            calls.append(key)
            (folder / "deeper").mkdir()
            (folder / "deeper/file").write_text(text)
            return {"number": 7}

        return cache.entry("tokens", key, build)

    return make


def test_an_entry_is_made_once_for_each_key(make: Maker, calls: list[Any], cache: CorpusCache) -> None:
    first = make({"b": 1, "a": [2]})
    assert (first.folder / "deeper/file").read_text() == "content"
    assert first.facts == {"number": 7}
    assert make({"a": [2], "b": 1}) == first
    assert cache.find("tokens", {"b": 1, "a": [2]}) == first
    assert calls == [{"b": 1, "a": [2]}]
    assert make({"b": 1, "a": [3]}).folder != first.folder
    assert cache.find("text", {"b": 1, "a": [2]}) is None
    assert len(list(cache.folder.iterdir())) == 2  # no lock and no temporary folder is left


@pytest.mark.parametrize("damage", ["truncated", "missing", "index", "no index"])
def test_a_damaged_entry_is_made_again_with_a_warning(
    make: Maker, calls: list[Any], caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    folder = make().folder
    file, index = folder / "deeper/file", folder / "entry.json"
    {
        "truncated": lambda: file.write_text("conte"),
        "missing": file.unlink,
        "index": lambda: index.write_text(index.read_text()[:-1]),
        "no index": index.unlink,
    }[damage]()
    with caplog.at_level(logging.WARNING):
        assert (make().folder / "deeper/file").read_text() == "content"
    assert caplog.messages == [f"{folder} is damaged and is made again"]
    assert len(calls) == 2
    make()
    assert len(calls) == 2


def test_what_fails_leaves_nothing_behind(cache: CorpusCache, make: Maker) -> None:
    def fail(folder: Path) -> dict[str, Any]:
        (folder / "half").write_text("half")
        raise DataError("unreadable")

    with pytest.raises(DataError):
        cache.entry("tokens", "key", fail)
    assert list(cache.folder.iterdir()) == []
    assert make().facts == {"number": 7}


def test_what_a_killed_process_left_is_removed(cache: CorpusCache, make: Maker) -> None:
    name = make("other").folder.name
    unfinished = [cache.folder / f"{prefix}{name}.x1y2.unfinished" for prefix in (".", ".old.")]
    for folder in unfinished:
        folder.mkdir()
    mine = cache.folder / "a file of mine"
    mine.touch()
    make()
    assert not any(folder.exists() for folder in unfinished)
    assert mine.exists()
    assert make("other").folder.name == name


def test_entries_unused_for_long_are_removed(make: Maker) -> None:
    old, used = make("old").folder, make("used").folder
    long_ago = time.time() - 31 * 24 * 3600
    for folder in (old, used):
        os.utime(folder, (long_ago, long_ago))
    make("used")
    make("another")
    assert not old.exists()
    assert used.exists()


def test_changed_code_makes_new_entries(
    make: Maker, calls: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    make()
    monkeypatch.setattr(store, "_code", lambda: "other")
    make()
    assert len(calls) == 2


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=f"cannot write .* to {tmp_path}/file") as caught:
        corpus_cache(str(tmp_path / "file")).entry("text", 1, lambda _folder: {})
    assert "data.cache_dir" in caught.value.hint
