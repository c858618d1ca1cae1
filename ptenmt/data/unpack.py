"""Unpack a zip archive that a stranger may have made."""

import lzma
import os
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path

from ptenmt.errors import DownloadError

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
