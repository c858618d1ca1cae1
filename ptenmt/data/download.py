"""Downloads over HTTP, resumable and verified. The published tokenizer is one of them."""

import logging
import lzma
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import platformdirs
import requests
import urllib3
from requests.adapters import HTTPAdapter

from ptenmt.atomic_files import exclusive, file_checksum, folder_written_whole, output_errors
from ptenmt.errors import DownloadError, DownloadProgress, OnDownload, TokenizerError

TOKENIZER_URL = (
    "https://storage.googleapis.com/download.tensorflow.org/models/ted_hrlr_translate_pt_en_converter.zip"
)
_CHUNK = 1 << 16
_TIMEOUT = (5.0, 15.0)  # seconds to connect, and to the first and between two arrivals of data
_RETRIES = urllib3.Retry(
    2, backoff_factor=0.5, status_forcelist=[408, 429, 500, 502, 503, 504], respect_retry_after_header=False
)
_MOST_VAIN = 2
_INTERRUPTIONS = (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError)
_MAX_UNPACKED_BYTES = 1_000_000_000  # the published tokenizer has half a million
_VOCABULARY = "assets/pt_vocab.txt"
WEB_ARCHIVE = "https://web.archive.org/web/20240301220426if_/"
"""Begins the address of a page's or file's copy in the web archive; the copy nearest in time answers."""

_Report = Callable[[int, int | None], None]
"""Called with the bytes that have arrived, and those of the whole file, if they are known."""


def fetch(url: str, destination: Path, *, sha256: str | None, on_progress: OnDownload | None = None) -> Path:
    """Download ``url`` to ``destination``, unless the file exists already; returns ``destination``.

    The bytes are written to ``<destination>.part``, which is renamed when it is complete and verified. An
    interrupted download resumes, also in a later call. Of several processes that want the same file, one
    downloads and the others wait. Proxies come from the environment (``HTTPS_PROXY`` etc.).

    The destination's folder is created. A file with another checksum than ``sha256``, hexadecimal, is
    replaced; None accepts any content: then what unpacks the file has to find damage. ``on_progress`` is
    called with the state after every chunk.
    Raises DownloadError if the file cannot be reached or verified, OutputError if it cannot be written.
    """
    if _is_complete(destination, sha256):
        return destination
    hint = f"make room or fix the permissions of {destination.parent}, or choose another folder"
    lock = exclusive(destination.with_name(f"{destination.name}.lock"))
    with output_errors(f"write {destination}", hint), lock:
        if _is_complete(destination, sha256):
            return destination
        part = destination.with_name(f"{destination.name}.part")

        def report(done: int, total: int | None) -> None:
            if on_progress:
                on_progress(DownloadProgress(url=url, name=destination.name, done=done, total=total))

        try:
            is_resumed = part.exists()
            _receive(url, part, report)
            if is_resumed and not _is_complete(part, sha256):  # begun as part of another version
                part.unlink()
                _receive(url, part, report)
        except (requests.RequestException, *_INTERRUPTIONS) as error:
            raise DownloadError(
                f"cannot download {destination.name} from {url}: {_reason(error)}",
                hint="check the network and the address, or put the file at "
                f"{destination} by hand, such as from {WEB_ARCHIVE}{url}; demo.yaml needs no download",
            ) from error
        _check(part, url, sha256)
        part.replace(destination)
    return destination


def _check(part: Path, url: str, sha256: str | None) -> None:
    """Delete a download that has another checksum, and raise DownloadError."""
    if not _is_complete(part, sha256):
        actual = file_checksum(part)
        part.unlink()
        raise DownloadError(
            f"{url} has SHA-256 {actual}, expected {sha256}; the download was deleted",
            hint="the file was changed or damaged: check the address",
        )


def _is_complete(file: Path, sha256: str | None) -> bool:
    """Whether a file exists and has the checksum; None accepts any content."""
    return file.is_file() and (sha256 is None or file_checksum(file) == sha256.lower())


def _receive(url: str, part: Path, report: _Report) -> None:
    """Complete the part, in as many attempts as make progress, and two that make none in a row."""
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)  # it warns of each retry
    report(_size(part), None)  # a host that cannot be reached takes a while
    with requests.Session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=_RETRIES))
        num_vain = 0
        while True:
            size = _size(part)
            try:
                _attempt(session, url, part, report)
                break
            except _INTERRUPTIONS:
                num_vain = num_vain + 1 if _size(part) <= size else 0
                if num_vain > _MOST_VAIN:
                    raise


def _attempt(session: requests.Session, url: str, part: Path, report: _Report) -> None:
    """Append the rest of the file to the part as its bytes come: a ``.gz`` file stays compressed."""
    offset = _size(part)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
    with session.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        is_rest = response.status_code == 206
        is_other = is_rest and not response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")
        if offset and (response.status_code == 416 or is_other):  # the part does not fit the file
            part.unlink()
            _attempt(session, url, part, report)
            return
        if response.status_code not in (200, 206):
            raise requests.HTTPError(f"HTTP {response.status_code} {response.reason}")
        length = response.headers.get("Content-Length", "")
        total = offset * is_rest + int(length) if length.isdecimal() else None
        with part.open("ab" if is_rest else "wb") as file:
            report(file.tell(), total)
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                file.write(chunk)
                report(file.tell(), total)
            file.flush()
            os.fsync(file.fileno())


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


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
    DownloadError for an archive that is damaged, encrypted or above the limit of bytes unpacked, OutputError
    if it cannot be written.
    """
    hint = f"make room or fix the permissions of {folder.parent}"
    try:
        with output_errors(f"unpack {archive} as {folder}", hint), zipfile.ZipFile(archive) as content:
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


def published_tokenizer(path: str | None, on_progress: OnDownload | None = None) -> Path:
    """Find or download the published tokenizer: the folder with ``assets/``, where the vocabularies are.

    It is ``path``, or a folder of the user's cache, filled from the zip archive at TOKENIZER_URL. The
    vocabularies are verified when they are read.

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
    folder = platformdirs.user_cache_path("ptenmt") / PurePosixPath(TOKENIZER_URL).stem
    if tokenizer := _tokenizer_below(folder):
        return tokenizer
    archive = folder.with_name(f"{folder.name}.zip")
    fetch(TOKENIZER_URL, archive, sha256=None, on_progress=on_progress)
    with exclusive(folder.with_name(f"{folder.name}.lock")):  # several workers may begin at once
        try:
            if not _tokenizer_below(folder):
                unpack_zip(archive, folder)
            if tokenizer := _tokenizer_below(folder):
                return tokenizer
            shutil.rmtree(folder)
            raise DownloadError(f"{archive} contains no tokenizer: {_VOCABULARY} is missing")
        except DownloadError:
            archive.unlink(missing_ok=True)  # or the next run would find the same bad file
            raise


def _tokenizer_below(folder: Path) -> Path | None:
    """``folder`` itself, or the one below it that the published archive contains."""
    vocabularies = sorted([*folder.glob(_VOCABULARY), *folder.glob(f"*/{_VOCABULARY}")])
    return vocabularies[0].parents[1] if vocabularies else None
