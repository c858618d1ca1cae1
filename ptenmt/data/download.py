"""Resumable, verified downloads over HTTP, and safe unpacking of zip archives."""

import hashlib
import logging
import lzma
import os
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
_ATTEMPTS = 4  # in a row without progress
_BACKOFF = 0.5  # seconds before the second attempt, doubled before each next one
_TEMPORARY = {408, 429, 500, 502, 503, 504}
_MAX_UNPACKED_BYTES = 1_000_000_000  # the published tokenizer has half a million

OnProgress = Callable[[DownloadProgress], None]


class _Interrupted(Exception):
    """The server or the connection failed for now; another attempt may succeed."""


@dataclass
class _Download:
    url: str
    destination: Path
    sha256: str | None
    on_progress: OnProgress | None
    validator: str = ""
    """Strong ETag or Last-Modified of the version that the part belongs to, for ``If-Range``."""

    @property
    def part(self) -> Path:
        return self.destination.with_name(f"{self.destination.name}.part")

    def is_done(self) -> bool:
        if not self.destination.is_file():
            return False
        return self.sha256 is None or _sha256(self.destination) == self.sha256.lower()

    def part_size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def failure(self, reason: str) -> DownloadError:
        return DownloadError(
            f"cannot download {self.destination.name} from {self.url}: {reason}",
            hint=f"check the network and the address, or put the file at {self.destination} by hand",
        )


def fetch(url: str, destination: Path, *, sha256: str | None, on_progress: OnProgress | None = None) -> Path:
    """Download ``url`` to ``destination``, unless the file exists already.

    The bytes are written to ``<destination>.part``, which is renamed when it is complete and verified. After
    an interruption the download resumes; a later call resumes it, too, if the checksum is known. Of several
    processes that want the same file, one downloads and the others wait. Proxies come from the environment
    (``HTTPS_PROXY`` etc.).

    Args:
        url: An ``http`` or ``https`` address.
        destination: The file to write; its folder is created. An existing file with another checksum than
            ``sha256`` is replaced.
        sha256: The checksum in hexadecimal; None accepts any content.
        on_progress: Called with the state after every chunk.

    Returns:
        ``destination``.

    Raises:
        DownloadError: The file cannot be reached, verified or written.
    """
    job = _Download(url, destination, sha256, on_progress)
    try:
        if not job.is_done():
            with exclusive(destination.with_name(f"{destination.name}.lock")):
                if not job.is_done():  # or another process downloaded it meanwhile
                    _download(job)
    except requests.RequestException as error:
        raise job.failure(str(error)) from error
    except OSError as error:
        raise DownloadError(
            f"cannot write {error.filename or job.part}: {error.strerror or error}",
            hint=f"make room or fix the permissions of {destination.parent}, or choose another folder",
        ) from error
    return destination


def _download(job: _Download) -> None:
    if job.destination.exists():
        logger.warning("%s does not have the expected checksum, downloading it again", job.destination)
    if job.sha256 is None:  # a part of an earlier call may be of another version
        job.part.unlink(missing_ok=True)
    is_resumed = job.part.exists()
    with requests.Session() as session:
        _receive(session, job)
        if job.sha256 is not None and is_resumed and _sha256(job.part) != job.sha256.lower():
            job.part.unlink()
            _receive(session, job)
    actual = _sha256(job.part)
    if job.sha256 is not None and actual != job.sha256.lower():
        job.part.unlink()
        raise DownloadError(
            f"{job.url} has SHA-256 {actual}, expected {job.sha256}; the download was deleted",
            hint="the file was changed or damaged: check the address, or the checksum in the config",
        )
    job.part.replace(job.destination)


def _receive(session: requests.Session, job: _Download) -> None:
    """Complete ``job.part``, in as many attempts as make progress."""
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
            logger.debug("%s: interrupted at byte %d: %s", job.url, furthest, error)
        time.sleep(_BACKOFF * 2 ** (failures - 1))


def _attempt(session: requests.Session, job: _Download) -> None:
    if job.sha256 is None and not job.validator:  # nothing would tell that the rest is of the same version
        job.part.unlink(missing_ok=True)
    offset = job.part_size()
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        if job.validator:
            headers["If-Range"] = job.validator
    with session.get(job.url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        status = f"HTTP {response.status_code} {response.reason}"
        if response.status_code in _TEMPORARY:
            raise _Interrupted(status)
        is_rest = response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")
        if response.status_code == 416 or (response.status_code == 206 and not is_rest):
            job.part.unlink(missing_ok=True)  # the part does not fit the file
            raise _Interrupted(status)
        if response.status_code not in (200, 206):
            raise job.failure(status)
        etag = response.headers.get("ETag", "")
        is_strong = etag and not etag.startswith("W/")
        job.validator = etag if is_strong else response.headers.get("Last-Modified", "")
        _save(response, job, offset if response.status_code == 206 else 0)


def _save(response: requests.Response, job: _Download, offset: int) -> None:
    """Write the body to the part from ``offset``, as the bytes come: a ``.gz`` file stays compressed."""
    length = response.headers.get("Content-Length", "")
    total = offset + int(length) if length.isdecimal() else None
    with job.part.open("ab" if offset else "wb") as file:
        _report(job, offset, total)
        for chunk in response.raw.stream(_CHUNK, decode_content=False):
            file.write(chunk)
            _report(job, file.tell(), total)
        file.flush()
        os.fsync(file.fileno())
        done = file.tell()
    if total is not None and done != total:
        raise _Interrupted(f"{done} of {total} bytes arrived")


def _report(job: _Download, done: int, total: int | None) -> None:
    if job.on_progress:
        name = job.destination.name
        job.on_progress(DownloadProgress(url=job.url, name=name, done=done, total=total))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(error: Exception) -> str:
    """The system's own message ("Connection refused") instead of requests' and urllib3's wrapping."""
    inner = getattr(error.args[0], "reason", error) if error.args else error
    return str(inner.__cause__ or inner)


def unpack_zip(archive: Path, folder: Path) -> None:
    """Unpack an untrusted archive as ``folder``: all of it, or nothing.

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
            f"{archive} is no zip archive or is damaged: {error}",
            hint=f"delete {archive} and download it again",
        ) from error
    except OSError as error:
        raise DownloadError(
            f"cannot unpack {archive} as {folder}: {error.strerror or error}",
            hint=f"make room or fix the permissions of {folder.parent}",
        ) from error


def _check(content: zipfile.ZipFile, archive: Path) -> None:
    for entry in content.infolist():
        fault = _fault(entry)
        if fault:
            raise DownloadError(f"refused to unpack {archive}: its entry {entry.orig_filename!r} {fault}")
    # zipfile never writes more of an entry than it declares, so the declared sum is an upper bound.
    size = sum(entry.file_size for entry in content.infolist())
    if size > _MAX_UNPACKED_BYTES:
        raise DownloadError(
            f"refused to unpack {archive}: {size:,} bytes unpacked, the limit is {_MAX_UNPACKED_BYTES:,}"
        )


def _fault(entry: zipfile.ZipInfo) -> str:
    """Why the entry is refused; "" if it is not."""
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
