"""Resumable, verified downloads over HTTP, and safe unpacking of zip archives."""

import dataclasses
import hashlib
import json
import logging
import lzma
import os
import re
import stat
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import requests
import urllib3

from ptenmt.errors import DownloadError
from ptenmt.events import DownloadProgress
from ptenmt.locks import exclusive

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16
_TIMEOUT = (10.0, 30.0)  # seconds to connect, and between two arrivals of data
_ATTEMPTS = 4  # in a row that bring the file no further
_BACKOFF = 0.5  # seconds before the second attempt, doubled before each next one
_TEMPORARY = {408, 429, 500, 502, 503, 504}


OnProgress = Callable[[DownloadProgress], None]


class _Interrupted(Exception):
    """The server or the connection gave up for now; another attempt may succeed."""


@dataclass(frozen=True)
class _Version:
    """Which edition of the file a part belongs to."""

    url: str
    validator: str  # a strong ETag, else Last-Modified, else ""
    total: int | None


@dataclass(frozen=True)
class _Job:
    """One file to fetch, and the names of its unfinished pieces."""

    url: str
    destination: Path
    sha256: str | None
    on_progress: OnProgress | None

    def beside(self, suffix: str) -> Path:
        return self.destination.with_name(self.destination.name + suffix)

    @property
    def part(self) -> Path:
        return self.beside(".part")

    @property
    def note(self) -> Path:
        return self.beside(".part.json")

    def is_done(self) -> bool:
        if not self.destination.is_file():
            return False
        return self.sha256 is None or _sha256(self.destination) == self.sha256.lower()

    def part_size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def discard(self) -> None:
        self.part.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    def failure(self, reason: str) -> DownloadError:
        return DownloadError(
            f"cannot download {self.destination.name} from {self.url}: {reason}",
            hint=f"check the network and the address, or put the file at {self.destination} by hand",
        )


def fetch(url: str, destination: Path, *, sha256: str | None, on_progress: OnProgress | None = None) -> Path:
    """Fetch ``url`` into ``destination``, unless it is there already.

    The bytes gather in ``<destination>.part`` and get the final name only when they are complete and
    verified. An interrupted download goes on where it stopped if the server still has the same version.
    Of several processes that want the same file, one downloads and the others wait. Proxies come
    from the environment (``HTTPS_PROXY`` and its kin).

    Args:
        url: An ``http`` or ``https`` address.
        destination: The file to make; its folder is made too. A file there with another checksum
            than ``sha256`` is replaced.
        sha256: The checksum in hexadecimal; None takes what comes.
        on_progress: Called with the state after every chunk.

    Returns:
        ``destination``.

    Raises:
        DownloadError: The file cannot be reached, verified or written.
    """
    job = _Job(url, destination, sha256, on_progress)
    try:
        if not job.is_done():
            with exclusive(job.beside(".lock")):
                _download(job)
    except requests.RequestException as error:
        raise job.failure(str(error)) from error
    except OSError as error:
        raise DownloadError(
            f"cannot write {error.filename or job.part}: {error.strerror or error}",
            hint=f"make room or mend the permissions of {destination.parent}, or choose another folder",
        ) from error
    return destination


def _download(job: _Job) -> None:
    if job.is_done():  # another process fetched it while this one waited
        return
    if job.destination.exists():
        logger.warning("%s has not the expected checksum, fetching it again", job.destination)
    with requests.Session() as session:
        _receive(session, job)
    actual = _sha256(job.part)
    logger.debug("%s has SHA-256 %s", job.url, actual)
    if job.sha256 is not None and actual != job.sha256.lower():
        job.discard()
        raise DownloadError(
            f"{job.url} has SHA-256 {actual}, expected {job.sha256}; nothing of it was kept",
            hint="the file was changed or damaged: check the address, or the checksum in the config",
        )
    job.part.replace(job.destination)
    job.note.unlink(missing_ok=True)


def _receive(session: requests.Session, job: _Job) -> None:
    """Make ``job.part`` the whole file, in as many attempts as bring it further."""
    furthest = job.part_size()
    failures = 0
    while True:
        try:
            return _attempt(session, job)
        except (
            requests.ConnectionError,
            requests.Timeout,
            urllib3.exceptions.HTTPError,
            _Interrupted,
        ) as error:
            failures = 1 if job.part_size() > furthest else failures + 1
            furthest = max(furthest, job.part_size())
            if failures >= _ATTEMPTS:
                raise job.failure(_reason(error)) from error
            logger.debug("%s broke off at byte %d: %s", job.url, furthest, error)
        time.sleep(_BACKOFF * 2 ** (failures - 1))


def _attempt(session: requests.Session, job: _Job) -> None:
    known = _remembered(job)
    offset = job.part_size() if known else 0
    with _get(session, job, offset, known) as response:
        if known and offset and _continues(response, offset, known):
            return _append(response, job, known.total)
        job.discard()
        if response.status_code == 200:
            version = _version(response, job.url)
            job.note.write_text(json.dumps(dataclasses.asdict(version)), encoding="utf-8")
            return _append(response, job, version.total)
        if not offset:
            raise job.failure(f"HTTP {response.status_code} {response.reason}")
    # The server could not go on from our part, which is gone now: ask for the whole file.
    return _attempt(session, job)


def _get(session: requests.Session, job: _Job, offset: int, known: _Version | None) -> requests.Response:
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
    if offset and known and known.validator:
        headers["If-Range"] = known.validator
    response = session.get(job.url, headers=headers, stream=True, timeout=_TIMEOUT)
    status = f"HTTP {response.status_code} {response.reason}"
    if response.status_code in _TEMPORARY:
        response.close()
        raise _Interrupted(status)
    if not response.ok and response.status_code != 416:
        response.close()
        raise job.failure(status)
    return response


def _append(response: requests.Response, job: _Job, total: int | None) -> None:
    """Write the body at the end of the part, as the bytes come: a ``.gz`` stays compressed."""
    with job.part.open("ab") as file:
        _report(job, file.tell(), total)
        for chunk in response.raw.stream(_CHUNK, decode_content=False):
            file.write(chunk)
            _report(job, file.tell(), total)
        file.flush()
        os.fsync(file.fileno())
        done = file.tell()
    if total is not None and done != total:
        raise _Interrupted(f"{done} of {total} bytes arrived")


def _report(job: _Job, done: int, total: int | None) -> None:
    if job.on_progress:
        name = job.destination.name
        job.on_progress(DownloadProgress(url=job.url, name=name, done=done, total=total))


def _remembered(job: _Job) -> _Version | None:
    """What the part is a part of; None if nobody could tell that it fits the rest."""
    try:
        version = _Version(**json.loads(job.note.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    can_tell = bool(version.validator) or job.sha256 is not None
    return version if can_tell and version.url == job.url else None


def _version(response: requests.Response, url: str) -> _Version:
    etag = response.headers.get("ETag", "")
    strong = "" if etag.startswith("W/") else etag
    if response.status_code == 206:
        size = response.headers.get("Content-Range", "").rpartition("/")[2]
    else:
        size = response.headers.get("Content-Length", "")
    total = int(size) if size.isdecimal() else None
    return _Version(url, strong or response.headers.get("Last-Modified", ""), total)


def _continues(response: requests.Response, offset: int, known: _Version) -> bool:
    """Whether the answer is the rest of the very file whose first ``offset`` bytes we have."""
    if response.status_code != 206:
        return False
    start = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    seen = _version(response, known.url)
    same = seen.validator in ("", known.validator) and seen.total == known.total
    return start is not None and int(start[1]) == offset and same


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(error: Exception) -> str:
    """The system's own words ("Connection refused") instead of requests' and urllib3's wrapping."""
    inner = getattr(error.args[0], "reason", error) if error.args else error
    return str(inner.__cause__ or inner)


_MAX_BYTES = 1_000_000_000  # unpacked; the published tokenizer has half a million


def unpack_zip(archive: Path, folder: Path) -> None:
    """Unpack ``archive`` as ``folder``: all of it, or nothing.

    Args:
        archive: The zip file.
        folder: The folder to make; must not exist.

    Raises:
        DownloadError: The archive is no zip or damaged, has an entry that would land outside of
            ``folder`` or is no plain file, is larger than 1 GB unpacked, or cannot be written.
    """
    if folder.exists():
        raise DownloadError(
            f"cannot unpack {archive}: {folder} exists already", hint=f"remove {folder} first"
        )
    try:
        with zipfile.ZipFile(archive) as content:
            _check(content, archive)
            _extract(content, folder)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError) as error:
        raise DownloadError(
            f"{archive} is no zip archive or is damaged: {error}", hint=f"delete {archive} and fetch it again"
        ) from error
    except OSError as error:
        raise DownloadError(
            f"cannot unpack {archive} as {folder}: {error.strerror or error}",
            hint=f"make room or mend the permissions of {folder.parent}",
        ) from error


def _check(content: zipfile.ZipFile, archive: Path) -> None:
    for entry in content.infolist():
        fault = _fault(entry)
        if fault:
            raise DownloadError(f"refused to unpack {archive}: its entry {entry.orig_filename!r} {fault}")
    # zipfile never writes more of an entry than it declares, so the declared sum is an upper bound.
    size = sum(entry.file_size for entry in content.infolist())
    if size > _MAX_BYTES:
        raise DownloadError(
            f"refused to unpack {archive}: {size:,} bytes unpacked, the limit is {_MAX_BYTES:,}"
        )


def _fault(entry: zipfile.ZipInfo) -> str:
    """What speaks against unpacking the entry; "" if nothing does."""
    name = entry.orig_filename
    if name.startswith("/") or "\\" in name or ":" in name or "\0" in name or ".." in name.split("/"):
        return "would land outside of the folder"
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if entry.flag_bits & 1:
        return "is encrypted"
    return ""


def _extract(content: zipfile.ZipFile, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as temporary:
        unpacked = Path(temporary, "unpacked")
        unpacked.mkdir()
        content.extractall(unpacked)
        os.rename(unpacked, folder)
