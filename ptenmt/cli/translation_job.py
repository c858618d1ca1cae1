"""How ``ptenmt translate`` translates, in which format, and where the translations are written."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ptenmt import __version__
from ptenmt.atomic_files import json_text, written_whole
from ptenmt.cli.console import standard_output
from ptenmt.errors import OutputError, PtenmtError

if TYPE_CHECKING:
    from ptenmt.translation import Alternative, Translation, Translator
    from ptenmt.translation.resumable_output import ResumableOutput


@dataclass(frozen=True, kw_only=True)
class TranslationFormat:
    """The format of translations: a line for each, several ranked ones, or JSON."""

    raw: bool = False
    """Keep the spacing of the training corpus."""
    as_json: bool = False
    """Write a JSON object for each text."""
    num_rows: int = 0
    """If above 0, write as many lines for each text: rank, score and translation, separated by tabs. If there
    are fewer translations, score and translation of the last lines are empty."""

    def lines(self, translations: Iterable["Translation"]) -> str:
        """Format translations, each with its line end."""
        return "".join(map(self._format, translations))

    def _format(self, translation: "Translation") -> str:
        if self.as_json:
            return json_text(_json_facts(translation)) + "\n"
        if not self.num_rows:
            return f"{self._text(translation)}\n"
        ranked = [translation, *translation.alternatives][: self.num_rows]
        rows = [f"{each.score:.4f}\t{' '.join(self._text(each).split())}" for each in ranked]
        rows += ["\t"] * (self.num_rows - len(rows))
        return "".join(f"{rank}\t{row}\n" for rank, row in enumerate(rows, start=1))

    def _text(self, translation: "Alternative") -> str:
        return translation.raw if self.raw else translation.text


def _json_facts(translation: "Translation") -> dict[str, Any]:
    """A translation as ``--json`` writes it."""

    def ranked(each: "Alternative") -> dict[str, Any]:
        return {"translation": each.text, "raw": each.raw, "score": each.score, "tokens": each.tokens}

    return {
        "source": translation.source,
        **ranked(translation),
        "alternatives": [
            {**ranked(each), "is_complete": each.is_complete} for each in translation.alternatives
        ],
        "milliseconds": round(translation.milliseconds, 3),
        "is_complete": translation.is_complete,
        "is_split": translation.is_split,
        "unknown": translation.unknown,
    }


@dataclass(frozen=True, kw_only=True)
class TranslationJob:
    """A translator with the options of the command line."""

    translator: "Translator"
    weights: str
    """The identity of the weights."""
    format: TranslationFormat
    prefix: str
    """What every translation starts with."""
    alternatives: int
    """If above 0: how many next tokens after the prefix to show with their completions."""

    @property
    def is_sampled(self) -> bool:
        """Whether a text may have another translation next time."""
        return self.translator.config.decoding.is_sampled

    def translate(
        self,
        texts: Iterable[str],
        on_done: Callable[[Collection["Translation"]], None] = lambda _translations: None,
        *,
        line_by_line: bool = False,
    ) -> Iterator[list["Translation"]]:
        """Translate texts, a buffer at a time; see ``Translator.translate_buffers``."""
        # Alternatives take long, and a text that is not a single sentence must not cost those before it.
        buffer_size = {"buffer_size": 1} if line_by_line or self.alternatives else {}
        return self.translator.translate_buffers(
            texts,
            prefix=self.prefix,
            next_token_alternatives=self.alternatives,
            with_scores=self.format.as_json or self.format.num_rows > 0,
            on_done=on_done,
            **buffer_size,
        )

    def facts(self) -> dict[str, Any]:
        """What the translations depend on, besides the texts."""
        return {
            "ptenmt": __version__,
            "weights": self.weights,
            "engine": self.translator.engine.identity,
            "prefix": self.prefix,
            "alternatives": self.alternatives,
            **asdict(self.format),
            **asdict(self.translator.config.decoding),
        }


class StreamOutput:
    """Standard output or a device; ``num_saved`` of None: it cannot be resumed."""

    num_saved = None

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def append(self, _texts: Sequence[str], translations: str) -> None:
        """Write at once."""
        self._stream.write(translations)
        self._stream.flush()


@dataclass(frozen=True, kw_only=True)
class Destination:
    """The target of ``--output``: a file that appears when it is complete, a device, or standard output.

    Raises:
        PtenmtError: ``resume`` without a file.
        OutputError: The file does not allow it.
    """

    file: Path | None
    """None: standard output."""
    resume: bool
    """Continue the output of an interrupted run."""

    def __post_init__(self) -> None:
        if self.resume and self.file is None:
            raise PtenmtError("--resume needs an --output file")
        if self.resume and not self._is_regular:
            raise OutputError(f"--resume: {self.file} is not a regular file")
        if self.file is not None and self.file.suffix.lower() == ".gz":
            raise OutputError(
                f"--output {self.file}: translations are written as plain text", "leave out .gz"
            )

    def locked(self) -> AbstractContextManager[None]:
        """Keep other processes from writing the same file.

        Raises:
            OutputError: Another process writes it, or it cannot be written.
        """
        if self.file is None or not self._is_regular:
            return nullcontext()
        from ptenmt.translation.resumable_output import locked

        return locked(self.file)

    @property
    def leftover(self) -> Path | None:
        """The output of an interrupted run that will be replaced."""
        if self.file is None or not self._is_regular or self.resume:
            return None
        from ptenmt.translation.resumable_output import partial_file

        partial = partial_file(self.file.resolve())
        return partial if os.path.exists(partial) else None

    @contextmanager
    def opened(
        self, texts: Iterator[str], facts: Mapping[str, Any], *, is_sampled: bool
    ) -> Iterator["StreamOutput | ResumableOutput"]:
        """Open the output.

        Args:
            texts: The texts to translate; those that are translated already are skipped.
            facts: What the translations depend on.
            is_sampled: The same text may have another translation next time.

        Raises:
            OutputError: It cannot be written or resumed.
        """
        if self.resume and is_sampled:
            raise PtenmtError("--resume: sampling (decoding.top_k) cannot be resumed")
        if self.file is None:
            with standard_output() as stream:
                yield StreamOutput(stream)
        elif (descriptor := _descriptor(self.file)) is not None:
            try:
                with open(descriptor, "w", encoding="utf-8", newline="", closefd=False) as stream:
                    yield StreamOutput(stream)
            except OSError as error:
                raise OutputError(f"cannot write {self.file}: {error.strerror or error}") from error
        elif is_sampled or not self._is_regular:
            with written_whole(self.file) as stream:
                yield StreamOutput(stream)
        else:
            from ptenmt.translation.resumable_output import ResumeError, open_resumable

            try:
                with open_resumable(self.file, facts, texts, resume=self.resume) as output:
                    yield output
            except ResumeError as error:
                hint = "leave out --resume to start from the first line"
                raise OutputError(f"--resume: {error.message}", hint) from error

    @property
    def _is_regular(self) -> bool:
        """Whether the file is, or will be, a regular one: not ``/dev/null``, a pipe, an open descriptor."""
        file = self.file
        if file is None or _descriptor(file) is not None:
            return False
        return not os.path.exists(file) or os.path.isfile(file) or os.path.isdir(file)


def _descriptor(file: Path) -> int | None:
    """The open descriptor that a path names; replacing the file behind it would lose what is in it."""
    if str(file) == "/dev/stderr":
        return 2
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", str(file))
    return int(found[1]) if found else None
