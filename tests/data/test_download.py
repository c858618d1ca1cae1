"""Fetching: what arrives is the file, whatever the server and the connection do."""

import gzip
import threading
from pathlib import Path

import pytest
from http_server import BODY, HALF, OTHER, Site, names, sha256

from ptenmt.data import download
from ptenmt.data.download import DownloadProgress, fetch
from ptenmt.errors import DownloadError

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


def test_brings_the_file_and_leaves_nothing_else(site: Site, target: Path) -> None:
    assert fetch(site.url("file.bin"), target, sha256=sha256(BODY).upper()) == target
    assert target.read_bytes() == BODY
    assert names(target.parent) == ["file.bin"]


def test_tells_how_far_it_is(site: Site, target: Path) -> None:
    told: list[DownloadProgress] = []
    fetch(site.url("file.bin"), target, sha256=None, on_progress=told.append)
    done = [progress.done for progress in told]
    assert done == sorted(set(done))
    assert (done[0], done[-1]) == (0, len(BODY))
    assert len(done) > 10
    assert {(p.name, p.url, p.total) for p in told} == {("file.bin", site.url("file.bin"), len(BODY))}


def test_total_is_none_when_the_server_does_not_say(site: Site, target: Path) -> None:
    site.sends_length = False
    told: list[DownloadProgress] = []
    fetch(site.url("file.bin"), target, sha256=None, on_progress=told.append)
    assert target.read_bytes() == BODY
    assert {progress.total for progress in told} == {None}


@pytest.mark.parametrize("checksum", [None, sha256(BODY)])
def test_does_nothing_when_the_file_is_there(site: Site, target: Path, checksum: str | None) -> None:
    target.parent.mkdir()
    target.write_bytes(BODY)
    fetch(site.url("file.bin"), target, sha256=checksum)
    assert site.requests == []


def test_replaces_a_file_with_another_checksum(site: Site, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(OTHER)
    fetch(site.url("file.bin"), target, sha256=sha256(BODY))
    assert target.read_bytes() == BODY


def test_resumes_where_it_broke_off(site: Site, target: Path) -> None:
    site.break_after = [400_000, 300_000]
    fetch(site.url("file.bin"), target, sha256=sha256(BODY))
    assert target.read_bytes() == BODY
    starts = [int(r.get("Range", "bytes=0-")[6:-1]) for r in site.requests]
    assert starts[0] == 0 < starts[1] < starts[2] < len(BODY)


def test_survives_many_breaks_while_each_attempt_brings_more(site: Site, target: Path) -> None:
    site.break_after = [150_000] * 6
    fetch(site.url("file.bin"), target, sha256=sha256(BODY))
    assert target.read_bytes() == BODY
    assert len(site.requests) == 7 > download._ATTEMPTS


def test_gives_up_when_no_attempt_brings_more(site: Site, target: Path) -> None:
    site.break_after = [0] * 100
    with pytest.raises(DownloadError, match=r"cannot download file\.bin from http://127"):
        fetch(site.url("file.bin"), target, sha256=None)
    assert len(site.requests) == download._ATTEMPTS
    assert not target.exists()


def test_a_later_call_resumes_a_file_of_known_checksum(site: Site, target: Path) -> None:
    stop_halfway(site, target)
    reports: list[DownloadProgress] = []
    fetch(site.url("file.bin"), target, sha256=sha256(BODY), on_progress=reports.append)
    assert target.read_bytes() == BODY
    assert reports[0].done >= HALF
    assert {report.total for report in reports} == {len(BODY)}
    assert ["Range" in request for request in site.requests] == [True]
    assert names(target.parent) == ["file.bin"]


def test_a_part_of_another_version_is_discarded(site: Site, target: Path) -> None:
    stop_halfway(site, target)
    site.body = OTHER
    fetch(site.url("file.bin"), target, sha256=sha256(OTHER))
    assert target.read_bytes() == OTHER


def test_without_a_checksum_each_attempt_starts_over(site: Site, target: Path) -> None:
    site.break_after = [HALF]
    fetch(site.url("file.bin"), target, sha256=None)
    assert target.read_bytes() == BODY
    assert ["Range" in request for request in site.requests] == [False, False]


def test_without_a_checksum_a_later_call_starts_over(site: Site, target: Path) -> None:
    stop_halfway(site, target)
    site.body = OTHER
    fetch(site.url("file.bin"), target, sha256=None)
    assert target.read_bytes() == OTHER


def test_starts_over_when_the_server_ignores_ranges(site: Site, target: Path) -> None:
    stop_halfway(site, target)
    site.ranges = False
    fetch(site.url("file.bin"), target, sha256=sha256(BODY))
    assert target.read_bytes() == BODY
    assert len(site.requests) == 1


def test_starts_over_after_416(site: Site, target: Path) -> None:
    stop_halfway(site, target)
    site.body = OTHER[:1000]
    fetch(site.url("file.bin"), target, sha256=sha256(OTHER[:1000]))
    assert target.read_bytes() == OTHER[:1000]
    assert ["Range" in r for r in site.requests] == [True, False]


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


def test_two_at_once_download_once(site: Site, target: Path) -> None:
    site.seconds_a_chunk = 0.02
    errors: list[Exception] = []

    def run() -> None:
        try:
            fetch(site.url("file.bin"), target, sha256=sha256(BODY))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert target.read_bytes() == BODY
    assert len(site.requests) == 1
