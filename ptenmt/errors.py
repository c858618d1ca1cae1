"""What functions report: errors that a user can cause and fix, and the progress of long work.

Every other error is a bug and shows its traceback. Progress goes to a callback, which renders it.
"""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """Return `` — did you mean …?`` with the known name that is most similar; empty if none is similar."""
    near = difflib.get_close_matches(name, list(known), 1, cutoff)
    return f" — did you mean {near[0]}?" if near else ""


class PtenmtError(Exception):
    """Base of all errors that ptenmt raises for its users.

    Args:
        message: What is wrong and where, on one line.
        hint: How to fix it, on one line; empty if the message implies it.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(PtenmtError):
    """A config file or ``--set`` override that cannot be used."""


class DataError(PtenmtError):
    """Sentence pairs that cannot be read, or that all filters together remove."""


class DocumentError(PtenmtError):
    """A document that cannot be read, or is too large to be."""

    def __init__(self, message: str, hint: str = "", *, is_too_large: bool = False) -> None:
        super().__init__(message, hint)
        self.is_too_large = is_too_large


class DownloadError(PtenmtError):
    """A file that could not be fetched, verified or unpacked."""


class TokenizerError(PtenmtError):
    """A tokenizer that cannot be trained, loaded or saved."""


class RunError(PtenmtError):
    """A run directory that is missing, of another format, or belongs to another config."""


class CheckpointError(PtenmtError):
    """A checkpoint that cannot be read or written."""


class TrainingError(PtenmtError):
    """A training that cannot continue."""


class ExportError(PtenmtError):
    """A model that another engine cannot run, or an export that cannot be used."""


class OutputError(PtenmtError):
    """A result that cannot be written to the given place."""


class ServerError(PtenmtError):
    """A server that cannot start."""


class ModelImportError(PtenmtError):
    """A model of another program that cannot be imported."""


@dataclass(frozen=True, kw_only=True)
class DownloadProgress:
    """Progress of a download."""

    url: str
    name: str
    done: int
    """Bytes so far, including those of an earlier attempt."""
    total: int | None
    """Bytes of the whole file; None if the server does not report it."""


OnDownload = Callable[[DownloadProgress], None]
OnProgress = Callable[[str, int, int], None]
"""Called with the current activity, how much of it is done, and how much there is."""


def not_installed(package: str) -> PtenmtError:
    """The error for a package that an installation lacks, such as one by ``pip install ./deploy``."""
    hint = "install all of ptenmt: in its clone, pip install '.[documents]'"
    return PtenmtError(f"this needs {package}, which is not installed", hint)
