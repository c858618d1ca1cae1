"""Progress of long work, which functions report to a callback and never render."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DownloadProgress:
    """Progress of a download."""

    url: str
    name: str
    done: int
    """Bytes so far, including those of an earlier attempt."""
    total: int | None
    """Bytes of the whole file; None if the server does not report it."""
    is_unpacking: bool = False
    """Whether a download is being read; then characters of text are counted."""


OnDownload = Callable[[DownloadProgress], None]
OnProgress = Callable[[str, int, int], None]
"""Called with the current activity, how much of it is done, and how much there is."""
