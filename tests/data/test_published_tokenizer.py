"""The published tokenizer: found, or downloaded and unpacked once."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from http_server import Site, closed_port, serve

from ptenmt.data import download
from ptenmt.data.download import published_tokenizer
from ptenmt.errors import DownloadError, DownloadProgress, TokenizerError

pytestmark = pytest.mark.usefixtures("hasty")

FILES = ("assets/pt_vocab.txt", "assets/en_vocab.txt", "saved_model.pb")
NAME = "ted_converter"


def zipped(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return content.getvalue()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache" / "ptenmt"
    monkeypatch.setattr(download.platformdirs, "user_cache_path", lambda _: folder)
    return folder


@pytest.fixture
def host() -> Iterator[Site]:
    with serve(Site(body=zipped(*FILES))) as served:
        yield served


@pytest.mark.parametrize("prefix", ["", f"{NAME}/"])
def test_fetches_and_unpacks_once(host: Site, cache: Path, prefix: str) -> None:
    host.body = zipped(*(prefix + name for name in FILES))
    url = host.url(f"{NAME}.zip")
    events: list[DownloadProgress] = []
    folder = published_tokenizer(url, None, on_progress=events.append)
    assert folder == cache / NAME / prefix
    assert {p.relative_to(folder).as_posix() for p in folder.glob("**/*") if p.is_file()} == set(FILES)
    assert events[-1].done == len(host.body)
    assert published_tokenizer(url, None) == folder
    assert len(host.requests) == 1
    assert sorted(p.name for p in cache.iterdir()) == [NAME, f"{NAME}.zip"]


def test_takes_an_archive_put_there_by_hand(cache: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}/{NAME}.zip"
    with pytest.raises(DownloadError) as caught:
        published_tokenizer(url, None)
    assert f"put the file at {cache / NAME}.zip by hand" in caught.value.hint
    (cache / f"{NAME}.zip").write_bytes(zipped(*FILES))
    assert published_tokenizer(url, None) == cache / NAME


@pytest.mark.parametrize(
    "body", [b"<html>Log in to the hotel</html>", zipped("readme.txt"), zipped("saved_model.pb")]
)
def test_a_wrong_archive_is_not_kept(host: Site, cache: Path, body: bytes) -> None:
    host.body = body
    with pytest.raises(DownloadError, match=NAME):
        published_tokenizer(host.url(f"{NAME}.zip"), None)
    assert list(cache.iterdir()) == []
    host.body = zipped(*FILES)
    assert published_tokenizer(host.url(f"{NAME}.zip"), None) == cache / NAME


@pytest.mark.parametrize("below", ["", "nested"])
def test_takes_the_users_folder(host: Site, tmp_path: Path, below: str) -> None:
    for name in FILES:
        file = tmp_path / "mine" / below / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert published_tokenizer(host.url("x.zip"), str(tmp_path / "mine")) == tmp_path / "mine" / below
    assert host.requests == []


def test_a_users_folder_without_tokenizer_is_an_error(host: Site, tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"assets/pt_vocab\.txt is missing") as caught:
        published_tokenizer(host.url("x.zip"), str(tmp_path))
    assert str(tmp_path) in caught.value.message
    assert host.requests == []
