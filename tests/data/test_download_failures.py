"""Fetching: what is told when there is nothing to fetch, or no place for it."""

import signal
import sys
from pathlib import Path

import pytest
from http_server import BODY, HALF, Site, closed_port, names

from ptenmt.data import download
from ptenmt.data.download import fetch
from ptenmt.errors import DownloadError

pytestmark = pytest.mark.usefixtures("hasty")


@pytest.mark.parametrize("status", [403, 404])
def test_names_the_status_at_once(site: Site, target: Path, status: int) -> None:
    site.statuses = [status]
    with pytest.raises(DownloadError, match=f"HTTP {status}") as caught:
        fetch(site.url("file.bin"), target, sha256=None)
    assert site.url("file.bin") in caught.value.message
    assert str(target) in caught.value.hint
    assert len(site.requests) == 1
    assert names(target.parent) == []


def test_tries_again_after_503(site: Site, target: Path) -> None:
    site.statuses = [503, 429]
    fetch(site.url("file.bin"), target, sha256=None)
    assert target.read_bytes() == BODY
    assert len(site.requests) == 3


def test_a_lasting_503_is_an_error(site: Site, target: Path) -> None:
    site.statuses = [503] * 100
    with pytest.raises(DownloadError, match="HTTP 503"):
        fetch(site.url("file.bin"), target, sha256=None)


def test_a_silent_server_is_left(site: Site, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_TIMEOUT", (0.2, 0.2))
    monkeypatch.setattr(download, "_ATTEMPTS", 2)
    site.seconds_a_chunk = 1.0
    site.ranges = False
    with pytest.raises(DownloadError, match="timed out"):
        fetch(site.url("file.bin"), target, sha256=None)


def test_without_network_says_what_whence_and_where_to_put_it(
    target: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"http://127.0.0.1:{closed_port()}/file.bin"
    with pytest.raises(DownloadError) as caught:
        fetch(url, target, sha256=None)
    # The system's words differ; requests' wrapping ("HTTPConnectionPool(...)") must be gone.
    assert caught.value.message.startswith(f"cannot download file.bin from {url}: ")
    assert "HTTPConnection" not in caught.value.message
    assert str(target) in caught.value.hint
    assert caplog.records == []
    assert names(target.parent) == []


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "not an address"])
def test_an_unusable_address_is_an_error(target: Path, url: str) -> None:
    with pytest.raises(DownloadError, match=url):
        fetch(url, target, sha256=None)


def test_a_folder_that_cannot_be_made_is_an_error(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match=r"cannot write .*file"):
        fetch(site.url("file.bin"), tmp_path / "file" / "below" / "file.bin", sha256=None)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a file size limit")
def test_a_full_disk_is_an_error(site: Site, target: Path) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (HALF, hard))
    try:
        with pytest.raises(DownloadError, match=r"cannot write .*file\.bin\.part"):
            fetch(site.url("file.bin"), target, sha256=None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert not target.exists()
    assert len(site.requests) == 1
