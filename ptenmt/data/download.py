"""Downloads over HTTP, resumable and verified, from the first of several addresses that works.

The published tokenizer is one of them.
"""

import logging
import lzma
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import platformdirs
import requests
import urllib3

from ptenmt.atomic_files import exclusive, file_checksum, folder_written_whole, output_errors
from ptenmt.errors import DownloadError, DownloadProgress, OnDownload, TokenizerError

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16
_TIMEOUT = (5.0, 15.0)  # seconds to connect, and to the first and between two arrivals of data
_ATTEMPTS = 3  # in a row without progress
_BACKOFF = 0.5  # seconds before the second attempt, doubled before each next one
_TEMPORARY = {408, 429, 500, 502, 503, 504}
_MAX_UNPACKED_BYTES = 1_000_000_000  # the published tokenizer has half a million
_VOCABULARY = "assets/pt_vocab.txt"
WEB_ARCHIVE = "https://web.archive.org/web/20240301220426if_/"
"""Begins the address of a page's or file's copy in the web archive; the copy nearest in time answers."""
_BUCKET = "https://storage.googleapis.com/download.tensorflow.org/"
_HOST_OF_BUCKET = "http://download.tensorflow.org/"


class _ConnectionLost(Exception):
    """The server or the connection failed; another attempt may succeed."""


_INTERRUPTIONS = (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError, _ConnectionLost)


def first_success(sources: Sequence[Callable[[], Path]], option: str) -> Path:
    """Call functions that download the same from different addresses, until one succeeds; returns its result.

    A failure is logged if another source is left. If none is, raises DownloadError with all reasons, and the
    last one's hint; ``option`` names a mirror.
    """
    failures: list[DownloadError] = []
    for source in sources:
        if failures:
            logger.warning("%s; trying another address", failures[-1].message)
        try:
            return source()
        except DownloadError as error:
            failures.append(error)
    reasons = (failure.message.partition(" from ")[2] or failure.message for failure in failures)
    hint = f"set {option} to a mirror, {failures[-1].hint}"
    raise DownloadError(f"no address works: {'; '.join(reasons)}", hint)


def is_complete(file: Path, sha256: str | None) -> bool:
    """Whether a file exists and has the checksum; None accepts any content."""
    return file.is_file() and (sha256 is None or file_checksum(file) == sha256.lower())


def fetch(url: str, destination: Path, *, sha256: str | None, on_progress: OnDownload | None = None) -> Path:
    """Download ``url`` to ``destination``, unless the file exists already; returns ``destination``.

    The bytes are written to ``<destination>.part``, which is renamed when it is complete and verified. An
    interrupted download resumes, also in a later call, if the checksum is known or the server says by
    ``ETag`` or ``Last-Modified`` that the file is still the same; otherwise it starts again. Of several
    processes that want the same file, one downloads and the others wait. Proxies come from the environment
    (``HTTPS_PROXY`` etc.). A server that is silent for some seconds is left at once.

    The destination's folder is created. A file with another checksum than ``sha256``, hexadecimal, is
    replaced; None accepts any content. ``on_progress`` is called with the state after every chunk. Raises
    DownloadError if the file cannot be reached or verified, OutputError if it cannot be written.
    """
    if is_complete(destination, sha256):
        return destination
    hint = f"make room or fix the permissions of {destination.parent}, or choose another folder"
    with (
        output_errors(f"write {destination}", hint),
        exclusive(destination.with_name(f"{destination.name}.lock")),
    ):
        if not is_complete(destination, sha256):  # nor has another process downloaded it meanwhile
            _Download(url, destination, sha256, on_progress).run()
    return destination


class _Download:
    """One file on its way; arguments as of ``fetch``."""

    def __init__(
        self, url: str, destination: Path, sha256: str | None, on_progress: OnDownload | None
    ) -> None:
        self._url, self._destination, self._sha256 = url, destination, sha256
        self._on_progress = on_progress
        self._part = destination.with_name(f"{destination.name}.part")
        self._version = destination.with_name(f"{destination.name}.version")
        """Holds the part's ETag or date, if its checksum is not known."""

    def run(self) -> None:
        """Complete the part, verify it, and put it in its place."""
        is_resumed = self._part.exists()
        try:
            self._receive()
            if is_resumed and not is_complete(self._part, self._sha256):  # begun as part of another version
                self._part.unlink()
                self._receive()
        except requests.RequestException as error:
            raise self._failure(str(error)) from error
        if not is_complete(self._part, self._sha256):
            actual = file_checksum(self._part)
            self._part.unlink()
            raise DownloadError(
                f"{self._url} has SHA-256 {actual}, expected {self._sha256}; the download was deleted",
                hint="the file was changed or damaged: check the address, or the checksum in the config",
            )
        self._part.replace(self._destination)
        self._version.unlink(missing_ok=True)

    def _receive(self) -> None:
        """Complete the part, in as many attempts as make progress."""
        furthest = self._size()
        self._report(furthest, None)  # a host that cannot be reached takes a while
        failures = 0
        while True:
            try:
                return self._attempt()
            except _INTERRUPTIONS as error:
                is_further = self._size() > furthest
                failures = 1 if is_further else failures + 1
                furthest = max(furthest, self._size())
                is_silent = isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError)
                if failures >= _ATTEMPTS or (is_silent and not is_further):
                    raise self._failure(_reason(error)) from error
            time.sleep(_BACKOFF * 2 ** (failures - 1))

    def _attempt(self) -> None:
        version = self._version.read_text(encoding="utf-8") if self._version.exists() else ""
        if self._sha256 is None and not version:  # the part and the rest may be of different versions
            self._part.unlink(missing_ok=True)
        offset = self._size()
        headers = {"Accept-Encoding": "identity"}
        if offset:
            condition = {"If-Range": version} if self._sha256 is None else {}
            headers |= {"Range": f"bytes={offset}-"} | condition
        with requests.get(self._url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            status = f"HTTP {response.status_code} {response.reason}"
            if response.status_code in _TEMPORARY:
                raise _ConnectionLost(status)
            is_rest = response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")
            if response.status_code == 416 or (response.status_code == 206 and not is_rest):
                self._part.unlink(missing_ok=True)  # the part does not fit the file
                raise _ConnectionLost(status)
            if response.status_code not in (200, 206):
                raise self._failure(status)
            if response.status_code == 200 and self._sha256 is None:
                etag = response.headers.get("ETag", "")
                is_strong = etag.startswith('"')  # RFC 9110: If-Range takes no weak one
                self._version.write_text(etag if is_strong else response.headers.get("Last-Modified", ""))
            self._save(response, offset if response.status_code == 206 else 0)

    def _save(self, response: requests.Response, offset: int) -> None:
        """Write the body to the part from ``offset``, as the bytes come: a ``.gz`` file stays compressed."""
        length = response.headers.get("Content-Length", "")
        total = offset + int(length) if length.isdecimal() else None
        with self._part.open("ab" if offset else "wb") as file:
            self._report(offset, total)
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                file.write(chunk)
                self._report(file.tell(), total)
            file.flush()
            os.fsync(file.fileno())
            done = file.tell()
        if total is not None and done != total:
            raise _ConnectionLost(f"{done} of {total} bytes arrived")

    def _size(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _report(self, done: int, total: int | None) -> None:
        if self._on_progress:
            name = self._destination.name
            self._on_progress(DownloadProgress(url=self._url, name=name, done=done, total=total))

    def _failure(self, reason: str) -> DownloadError:
        return DownloadError(
            f"cannot download {self._destination.name} from {self._url}: {reason}",
            hint=f"check the network and the address, or put the file at {self._destination} by hand; "
            "demo.yaml needs no download",
        )


def _reason(error: Exception) -> str:
    """The system's own message ("Connection refused") instead of requests' and urllib3's wrapping."""
    inner = getattr(error.args[0], "reason", error) if error.args else error
    while inner.__cause__:
        inner = inner.__cause__
    return getattr(inner, "strerror", None) or str(inner)


def unpack_zip(archive: Path, folder: Path, limit: int = _MAX_UNPACKED_BYTES) -> None:
    """Unpack an untrusted zip archive as ``folder``, all of it or nothing; an existing one is replaced.

    zipfile itself never writes outside of the folder: it drops drives, leading slashes and ``..`` from names,
    and makes plain files of links. It never writes more of an entry than the entry declares. Raises
    DownloadError for an archive that is damaged, encrypted, above the limit of bytes unpacked, or cannot be
    written.
    """
    try:
        with zipfile.ZipFile(archive) as content:
            size = sum(entry.file_size for entry in content.infolist())
            if size > limit:
                raise DownloadError(
                    f"refused to unpack {archive}: {size:,} bytes unpacked, the limit is {limit:,}"
                )
            with folder_written_whole(folder) as new:
                content.extractall(new)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError) as error:
        raise DownloadError(
            f"{archive} is no zip archive or is damaged: {error}",
            hint=f"delete {archive} and download it again",
        ) from error
    except OSError as error:
        raise DownloadError(
            f"cannot unpack {archive} as {folder}: {error.strerror or error}",
            hint=f"make room or fix the permissions of {folder.parent}",
        ) from error


def published_tokenizer(url: str, path: str | None, on_progress: OnDownload | None = None) -> Path:
    """Find or download the published tokenizer: the folder with ``assets/``, where the vocabularies are.

    It is ``path``, or a folder of the user's cache, filled from the zip archive at ``url``. The vocabularies
    are verified when they are read.

    Raises:
        TokenizerError: ``path`` contains no tokenizer.
        DownloadError: The archive cannot be fetched or unpacked, or contains no tokenizer.
        OutputError: The cache cannot be written.
    """
    if path is not None:
        given = _tokenizer_below(Path(path).expanduser())
        if given is None:
            raise TokenizerError(
                f"no tokenizer in {path}: {_VOCABULARY} is missing",
                hint="set tokenizer.path to the unpacked folder, or leave it out to download the tokenizer",
            )
        return given
    cache = platformdirs.user_cache_path("ptenmt")
    folder = cache / PurePosixPath(urlsplit(url).path).name.removesuffix(".zip")
    if tokenizer := _tokenizer_below(folder):
        return tokenizer
    hint = "unpack the tokenizer by hand and set tokenizer.path to its folder"
    with output_errors(f"write {cache}", hint), exclusive(folder.with_name(f"{folder.name}.lock")):
        if tokenizer := _tokenizer_below(folder):  # another process has fetched it meanwhile
            return tokenizer
        urls = dict.fromkeys((url, url.replace(_BUCKET, _HOST_OF_BUCKET), WEB_ARCHIVE + url))
        sources = [partial(_fetch_tokenizer, each, folder, on_progress) for each in urls]
        return first_success(sources, "tokenizer.url")


def _tokenizer_below(folder: Path) -> Path | None:
    """``folder`` itself, or the one below it that the published archive contains."""
    vocabularies = sorted([*folder.glob(_VOCABULARY), *folder.glob(f"*/{_VOCABULARY}")])
    return vocabularies[0].parents[1] if vocabularies else None


def _fetch_tokenizer(url: str, folder: Path, on_progress: OnDownload | None) -> Path:
    archive = folder.with_name(f"{folder.name}.zip")
    fetch(url, archive, sha256=None, on_progress=on_progress)
    try:
        unpack_zip(archive, folder)
        if tokenizer := _tokenizer_below(folder):
            return tokenizer
        shutil.rmtree(folder)
        raise DownloadError(
            f"{archive} contains no tokenizer: {_VOCABULARY} is missing", hint="check tokenizer.url"
        )
    except DownloadError:
        archive.unlink(missing_ok=True)  # or the next run would find the same bad file
        raise
