"""Where translations go."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from ptenmt.atomic_files import written_whole
from ptenmt.cli.console import standard_output
from ptenmt.errors import OutputError, PtenmtError


class Sink(Protocol):
    """What translations are written into."""

    @property
    def num_kept(self) -> int | None:
        """How many texts need not be translated again by who goes on; None: nobody can."""
        ...

    def append(self, texts: Sequence[str], translations: str) -> None:
        """Write the translations of some texts."""
        ...


class _Stream:
    """Standard output, or a device: nothing is kept."""

    num_kept = None

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def append(self, _texts: Sequence[str], translations: str) -> None:
        """Write at once."""
        self._stream.write(translations)
        self._stream.flush()


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Where translations go: into a file, which appears when it is whole, a device, or standard output.

    Raises:
        PtenmtError: There is no file to go on with.
        OutputError: The file cannot be what is asked for.
    """

    file: Path | None
    """None: to standard output."""
    resume: bool
    """Go on with what an interrupted run left of the file."""
    command: Sequence[str]
    """The words of the command, for who wants to go on with it."""

    def __post_init__(self) -> None:
        if self.resume and self.file is None:
            raise PtenmtError("--resume goes on with an --output, and none is given")
        if self.resume and self._is_device:
            raise OutputError(f"--resume: {self.file} is no file that could be gone on with")
        if self.file is not None and self.file.suffix.lower() == ".gz":
            raise OutputError(
                f"--output {self.file}: translations are written as plain text", "leave out .gz"
            )

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Keep other processes from writing the same file.

        Raises:
            OutputError: One does already, or the file cannot be written.
        """
        if self.file is None or self._is_device:
            yield
            return
        from ptenmt.translation.resumable_output import reserved

        with reserved(self.file):
            yield

    @contextmanager
    def opened(
        self, texts: Iterator[str], facts: Mapping[str, Any], *, is_repeatable: bool
    ) -> Iterator[Sink]:
        """Open it.

        Args:
            texts: What will be translated; what is translated already is read past.
            facts: What the translations depend on.
            is_repeatable: Whether the same texts have the same translations.

        Raises:
            OutputError: It cannot be written, or what is left belongs to something else.
        """
        if self.resume and not is_repeatable:
            raise PtenmtError("--resume: what is drawn at random (decoding.top_k) cannot be gone on with")
        if self.file is None:
            with standard_output() as stream:
                yield _Stream(stream)
        elif self._is_device or not is_repeatable:
            with written_whole(self.file) as stream:
                yield _Stream(stream)
        else:
            from ptenmt.translation.resumable_output import ResumeError, drafted

            try:
                with drafted(self.file, facts, texts, resume=self.resume) as draft:
                    yield draft
            except ResumeError as error:
                hint = "leave out --resume to begin anew"
                raise OutputError(f"--resume: {error.message}", hint) from error

    @property
    def left_over(self) -> Path | None:
        """What an interrupted run left, and this one will not go on with."""
        if self.file is None or self._is_device or self.resume:
            return None
        from ptenmt.translation.resumable_output import partial_file

        partial = partial_file(self.file.resolve())
        return partial if os.path.exists(partial) else None

    @property
    def command_to_resume(self) -> list[str]:
        """The words of the command, ``--resume`` among them."""
        if self.resume:
            return list(self.command)
        place = self.command.index("translate") + 1
        return [*self.command[:place], "--resume", *self.command[place:]]

    @property
    def _is_device(self) -> bool:
        """Such as ``/dev/null``, or a pipe."""
        file = self.file
        return file is not None and os.path.exists(file) and not (os.path.isfile(file) or os.path.isdir(file))
