"""Where the published tokenizer lies on this machine, after fetching it if need be."""

import shutil
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import platformdirs

from ptenmt.data.download import OnProgress, fetch
from ptenmt.data.unpack import unpack_zip
from ptenmt.errors import DownloadError, TokenizerError
from ptenmt.locks import exclusive

_VOCABULARY = "assets/pt_vocab.txt"


def published_tokenizer(
    url: str, path: str | None, *, sha256: str | None = None, on_progress: OnProgress | None = None
) -> Path:
    """Find the folder of the published tokenizer: a SavedModel, of which its vocabularies are read.

    Args:
        url: The zip archive that holds it.
        path: A folder of the user's that holds it; None takes the user's cache, filled from ``url``.
        sha256: The archive's checksum in hexadecimal; None takes what comes.
        on_progress: Told about the download.

    Returns:
        The folder with ``assets/``, where the vocabularies are.

    Raises:
        TokenizerError: ``path`` holds no tokenizer.
        DownloadError: The archive cannot be fetched or unpacked, or is something else.
    """
    if path is not None:
        return _of_user(Path(path).expanduser())
    cache = platformdirs.user_cache_path("ptenmt")
    folder = cache / PurePosixPath(urlsplit(url).path).name.removesuffix(".zip")
    archive = folder.with_name(folder.name + ".zip")
    found = _tokenizer(folder)
    if found and sha256 is None:
        return found
    try:
        with exclusive(folder.with_name(folder.name + ".lock")):
            before = _modified(archive)
            fetch(url, archive, sha256=sha256, on_progress=on_progress)
            is_current = before is None or _modified(archive) == before
            return (_tokenizer(folder) if is_current else None) or _unpack(archive, folder)
    except OSError as error:
        raise DownloadError(
            f"cannot write {error.filename or cache}: {error.strerror or error}",
            hint="unpack the tokenizer by hand and set tokenizer.path to its folder",
        ) from error


def _of_user(folder: Path) -> Path:
    found = _tokenizer(folder)
    if found is None:
        raise TokenizerError(
            f"no tokenizer in {folder}: {_VOCABULARY} is missing",
            hint="set tokenizer.path to the unpacked folder, or leave it out to download the tokenizer",
        )
    return found


def _tokenizer(folder: Path) -> Path | None:
    """``folder`` itself, or the one below it that the published archive holds."""
    found = sorted([*folder.glob(_VOCABULARY), *folder.glob(f"*/{_VOCABULARY}")])
    return found[0].parents[1] if found else None


def _modified(file: Path) -> int | None:
    return file.stat().st_mtime_ns if file.exists() else None


def _unpack(archive: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        unpack_zip(archive, folder)
        found = _tokenizer(folder)
        if found is None:
            shutil.rmtree(folder)
            raise DownloadError(
                f"{archive} holds no tokenizer: {_VOCABULARY} is missing",
                hint="check tokenizer.url",
            )
    except DownloadError:
        archive.unlink(missing_ok=True)  # or the next run would find the same bad file
        raise
    return found
