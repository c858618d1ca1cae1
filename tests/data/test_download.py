"""Fetching and unpacking: the complete file or nothing, whatever server, connection and archive do."""

import gzip
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from http_server import BODY, HALF, OTHER, Site, closed_port, names, serve, sha256

from ptenmt.data import download
from ptenmt.data.download import fetch, published_tokenizer, unpack_zip
from ptenmt.errors import DownloadError, DownloadProgress, OutputError, TokenizerError

pytestmark = pytest.mark.usefixtures("hasty")


def stop_halfway(site: Site, target: Path) -> None:
    """Leave a part of about half the file, as a killed process would."""

    def interrupt(progress: DownloadProgress) -> None:
        if progress.done >= HALF:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(site.url("file.bin"), target, sha256=sha256(BODY), on_progress=interrupt)
    assert not target.exists()
    assert HALF <= (target.parent / "file.bin.part").stat().st_size < len(BODY)
    site.requests.clear()


def test_resumes_where_it_broke_off_while_each_attempt_brings_more(site: Site, target: Path) -> None:
    site.break_after = [150_000] * 6
    fetch(site.url("file.bin"), target, sha256=sha256(BODY))
    assert target.read_bytes() == BODY
    starts = [int(r.get("Range", "bytes=0-")[6:-1]) for r in site.requests]
    assert len(starts) == 7
    assert starts == sorted(set(starts))


def test_gives_up_when_no_attempt_brings_more(site: Site, target: Path) -> None:
    site.break_after = [0] * 100
    reports: list[DownloadProgress] = []
    with pytest.raises(DownloadError, match=r"cannot download file\.bin from http://127"):
        fetch(site.url("file.bin"), target, sha256=None, on_progress=reports.append)
    assert len(site.requests) == 3
    assert [(each.name, each.done, each.total) for each in reports][:1] == [("file.bin", 0, None)]
    assert not target.exists()


def test_a_later_call_resumes_a_file_of_known_checksum(site: Site, target: Path) -> None:
    stop_halfway(site, target)
    reports: list[DownloadProgress] = []
    fetch(site.url("file.bin"), target, sha256=sha256(BODY), on_progress=reports.append)
    assert target.read_bytes() == BODY
    assert reports[0].done >= HALF
    assert {report.total for report in reports[1:]} == {len(BODY)}
    assert ["Range" in request for request in site.requests] == [True]
    assert names(target.parent) == ["file.bin"]


@pytest.mark.parametrize(
    ("has_ranges", "body", "asked"),
    [(False, BODY, [True]), (True, OTHER, [True, False]), (True, OTHER[:1000], [True, False])],
    ids=["no ranges", "another version", "a shorter one, 416"],
)
def test_a_part_that_cannot_be_resumed_is_discarded(
    site: Site, target: Path, has_ranges: bool, body: bytes, asked: list[bool]
) -> None:
    stop_halfway(site, target)
    site.ranges, site.body = has_ranges, body
    fetch(site.url("file.bin"), target, sha256=sha256(body))
    assert target.read_bytes() == body
    assert ["Range" in request for request in site.requests] == asked


def test_a_wrong_checksum_keeps_nothing(site: Site, target: Path) -> None:
    with pytest.raises(DownloadError) as caught:
        fetch(site.url("file.bin"), target, sha256=sha256(OTHER))
    for part in (site.url("file.bin"), sha256(BODY), sha256(OTHER)):
        assert part in caught.value.message
    assert names(target.parent) == []


def test_a_gz_file_stays_compressed(site: Site, target: Path) -> None:
    """Old servers send a ``.tar.gz`` as a gzip-encoded ``.tar``."""
    site.body = gzip.compress(BODY)
    site.headers = {"Content-Encoding": "gzip"}
    fetch(site.url("file.bin"), target, sha256=None)
    assert target.read_bytes() == site.body


def test_tries_again_after_503_but_not_after_404(
    site: Site, target: Path, caplog: pytest.LogCaptureFixture
) -> None:
    site.statuses = [503, 429, 404]
    with pytest.raises(DownloadError, match="HTTP 404") as caught:
        fetch(site.url("file.bin"), target, sha256=None)
    assert site.url("file.bin") in caught.value.message
    assert (len(site.requests), caplog.messages) == (3, [])
    assert names(target.parent) == []


def test_a_silent_server_is_left(site: Site, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_TIMEOUT", (0.2, 0.2))
    monkeypatch.setattr(download, "_RETRIES", 0)
    site.seconds_a_chunk = 1.0
    site.ranges = False
    with pytest.raises(DownloadError, match="timed out"):
        fetch(site.url("file.bin"), target, sha256=None)


def test_the_copy_of_the_web_archive_and_the_place_for_the_file_are_named(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_RETRIES", 0)
    url = f"http://127.0.0.1:{closed_port()}/file.bin"
    with pytest.raises(DownloadError) as caught:
        fetch(url, target, sha256=None)
    assert caught.value.message == f"cannot download file.bin from {url}: Connection refused"
    for part in (f"{download.WEB_ARCHIVE}{url}", str(target)):
        assert part in caught.value.hint


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "not an address"])
def test_an_unusable_address_is_an_error(target: Path, url: str) -> None:
    with pytest.raises(DownloadError, match=url):
        fetch(url, target, sha256=None)


def test_a_folder_that_cannot_be_made_is_an_error(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"cannot write .*file"):
        fetch(site.url("file.bin"), tmp_path / "file" / "below" / "file.bin", sha256=None)


def zipped(contents: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        for name, content in contents.items():
            files.writestr(name, content)
    return archive.getvalue()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive of two files."""
    (tmp_path / "a.zip").write_bytes(zipped({"x": bytes(1000), "y": bytes(range(250)) * 4}))
    return tmp_path / "a.zip"


def assert_nothing_but(archive: Path) -> None:
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]


def test_unpacks_all(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"x.txt": b"x", "deep/": b"", "deep/er/y..txt": b"y"}))
    unpack_zip(tmp_path / "a.zip", tmp_path / "new" / "a")
    files = {p.relative_to(tmp_path / "new").as_posix() for p in tmp_path.glob("new/**/*") if p.is_file()}
    assert files == {"a/x.txt", "a/deep/er/y..txt"}
    assert (tmp_path / "new/a/deep/er/y..txt").read_bytes() == b"y"
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["a"]


def test_refuses_bombs(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="2,000 bytes unpacked, the limit is 1,999"):
        unpack_zip(archive, tmp_path / "a", limit=1999)
    assert_nothing_but(archive)


def flipped(content: bytes) -> bytes:
    middle = content.index(b"PK\x01\x02") // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda _: b"<html>Log in to the hotel</html>", lambda c: c[:-30], flipped]
)
def test_a_damaged_archive_is_an_error(
    archive: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    archive.write_bytes(damage(archive.read_bytes()))
    with pytest.raises(DownloadError, match=r"a\.zip is no zip archive or is damaged"):
        unpack_zip(archive, tmp_path / "a")
    assert_nothing_but(archive)


# The published tokenizer: found, or downloaded and unpacked once

FILES = ("assets/pt_vocab.txt", "assets/en_vocab.txt", "saved_model.pb")
NAME = "ted_converter"


def zip_of(*names: str) -> bytes:
    return zipped({name: name.encode() for name in names})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache" / "ptenmt"
    monkeypatch.setattr(download.platformdirs, "user_cache_path", lambda _: folder)
    return folder


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with serve(Site(body=zip_of(*FILES))) as served:
        monkeypatch.setattr(download, "TOKENIZER_URL", served.url(f"{NAME}.zip"))
        yield served


@pytest.mark.parametrize("prefix", ["", f"{NAME}/"])
def test_fetches_and_unpacks_once(host: Site, cache: Path, prefix: str) -> None:
    host.body = zip_of(*(prefix + name for name in FILES))
    events: list[DownloadProgress] = []
    folder = published_tokenizer(None, on_progress=events.append)
    assert folder == cache / NAME / prefix
    assert {p.relative_to(folder).as_posix() for p in folder.glob("**/*") if p.is_file()} == set(FILES)
    assert events[-1].done == len(host.body)
    assert published_tokenizer(None) == folder
    assert len(host.requests) == 1
    assert sorted(p.name for p in cache.iterdir()) == [NAME, f"{NAME}.zip"]


def test_takes_an_archive_put_there_by_hand(host: Site, cache: Path) -> None:
    host.statuses = [404]
    with pytest.raises(DownloadError) as caught:
        published_tokenizer(None)
    assert f"put the file at {cache / NAME}.zip by hand" in caught.value.hint
    (cache / f"{NAME}.zip").write_bytes(zip_of(*FILES))
    assert published_tokenizer(None) == cache / NAME


@pytest.mark.parametrize("body", [b"<html>Log in to the hotel</html>", zip_of("saved_model.pb")])
def test_a_wrong_archive_is_not_kept(host: Site, cache: Path, body: bytes) -> None:
    host.body = body
    with pytest.raises(DownloadError, match=NAME):
        published_tokenizer(None)
    assert list(cache.iterdir()) == []
    host.body = zip_of(*FILES)
    assert published_tokenizer(None) == cache / NAME


def test_takes_the_users_folder_if_a_tokenizer_is_in_it(host: Site, tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=rf"{tmp_path}.*assets/pt_vocab\.txt is missing"):
        published_tokenizer(str(tmp_path))
    for name in FILES:
        file = tmp_path / "mine" / "nested" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert published_tokenizer(str(tmp_path / "mine")) == tmp_path / "mine" / "nested"
    assert host.requests == []
