"""Exports as folders: written whole, told apart from damaged ones, replaced at any moment.

An export is a folder with the files of a model and one of facts, which says what was exported and what the
files are like. It is read into memory and checked there, so that what was checked is what is used, whatever
happens to the folder meanwhile. That needs neither TensorFlow nor Keras.
"""

import contextlib
import json
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from ptenmt.atomic_files import folder_written_whole
from ptenmt.errors import ExportError, OutputError
from ptenmt.export.papers import PAPERS, with_papers

FORMAT = 1
_SECONDS_BETWEEN_READS = (0.001, 0.003, 0.01, 0.03)


class NoExportError(ExportError):
    """There is no export."""


class OtherWeightsError(ExportError):
    """There is no export of the weights that are wanted, and the run itself has others by now."""


@dataclass(frozen=True, kw_only=True)
class ExportFacts:
    """What the file of facts says, whatever the form."""

    format: int = FORMAT
    weights: str
    """Which weights were exported, such as ``weights-1200:5f3ca701``, a name and a checksum."""
    files: dict[str, tuple[int, int]]
    """Size and CRC-32 of each file."""


Facts = TypeVar("Facts", bound=ExportFacts)


@dataclass(frozen=True)
class Export(Generic[Facts]):
    """An export in memory."""

    facts: Facts
    files: dict[str, bytes]
    """The model's files by name."""

    @property
    def num_bytes(self) -> int:
        """The size of all files together."""
        return sum(map(len, self.files.values()))


@dataclass(frozen=True, kw_only=True)
class Form(Generic[Facts]):
    """What an export is like."""

    name: str
    """Of its folder in a run's ``export/``."""
    facts_file: str
    model_files: frozenset[str]
    """What its files, or the folders that they are in, may be called."""
    companions: frozenset[str] = frozenset()
    """What else may stand there, besides the papers."""
    facts: Callable[..., Facts]
    """Makes the facts of what their file says; ValueError or TypeError: they cannot be."""

    def write(
        self,
        folder: Path,
        export: Export[Facts],
        *,
        card: str | None = None,
        companions: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        """Write an export, wholly or not at all; the one that stood there before is replaced.

        Args:
            folder: Of the export; its parents are made.
            export: What to write.
            card: A model card; with it comes a list of checksums.
            companions: More files, by their paths below the folder.

        Raises:
            OutputError: The folder cannot be written, or it is something else than an export.
        """
        self.check_replaceable(folder)
        try:
            with folder_written_whole(folder) as new:
                facts = json.dumps(asdict(export.facts), indent=2) + "\n"
                files = {**export.files, **companions, self.facts_file: facts.encode()}
                for name, content in (files if card is None else with_papers(files, card)).items():
                    (new / name).parent.mkdir(parents=True, exist_ok=True)
                    (new / name).write_bytes(content)
        except OSError as error:
            raise OutputError(f"cannot write {folder}: {error.strerror or error}") from error

    def read(self, folder: Path) -> Export[Facts]:
        """Read an export, and make sure that it is what was written.

        While another process replaces it, there may be none for a moment, or files of both are read: so what
        is not as it should be is looked at again.

        Raises:
            NoExportError: There is none.
            ExportError: It is damaged, or of another format.
        """
        for seconds in _SECONDS_BETWEEN_READS:
            with contextlib.suppress(ExportError):
                return self._read(folder)
            time.sleep(seconds)
        return self._read(folder)

    def facts_in(self, folder: Path) -> Facts | None:
        """What an export says of itself, be its model damaged or not; None if nobody can read that."""
        try:
            return self._read_facts(folder)
        except ExportError:
            return None

    def _read(self, folder: Path) -> Export[Facts]:
        facts = self._read_facts(folder)
        try:
            files = {name: (folder / name).read_bytes() for name in facts.files}
        except OSError as error:
            is_lost = isinstance(error, FileNotFoundError)
            reason = f"{Path(error.filename).name} is missing" if is_lost else error
            raise ExportError(f"the export in {folder} is damaged: {reason}") from error
        for name, state in states(files).items():
            if state != facts.files[name]:
                raise ExportError(f"the export in {folder} is damaged: {name} is not what was written")
        return Export(facts, files)

    def _read_facts(self, folder: Path) -> Facts:
        file = folder / self.facts_file
        try:
            return self._checked(json.loads(file.read_text(encoding="utf-8")))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoExportError(f"there is no export in {folder}") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ExportError(f"the export in {folder} is damaged: {error}") from error

    def _checked(self, found: Any) -> Facts:
        """The facts of what was read from their file."""
        if found["format"] != FORMAT:
            raise ValueError(f"it has format {found['format']}, and this ptenmt reads format {FORMAT}")
        files = {name: (int(size), int(checksum)) for name, (size, checksum) in found["files"].items()}
        if not {name.partition("/")[0] for name in files} <= self.model_files:
            raise ValueError(f"{self.facts_file} names {', '.join(files)}")
        return self.facts(**found | {"files": files})

    def check_replaceable(self, folder: Path) -> None:
        """Refuse to replace what is no export of this form.

        Raises:
            OutputError: It is a file, holds something else, or cannot be read.
        """
        hint = "choose another folder with --output"
        try:
            found = {file.name for file in folder.iterdir()} - {".DS_Store"}  # which macOS puts everywhere
        except FileNotFoundError:
            return
        except NotADirectoryError as error:
            raise OutputError(f"{folder} is a file, or below one", hint) from error
        except OSError as error:
            raise OutputError(f"cannot read {folder}: {error.strerror or error}") from error
        if others := found - self.model_files - self.companions - {self.facts_file, *PAPERS}:
            raise OutputError(f"{folder} holds what is no part of an export: {min(others)}", hint)


def states(files: Mapping[str, bytes]) -> dict[str, tuple[int, int]]:
    """Size and CRC-32 of each file, by name."""
    return {name: (len(content), zlib.crc32(content)) for name, content in files.items()}
