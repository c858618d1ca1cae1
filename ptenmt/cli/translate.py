"""``ptenmt translate``."""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ptenmt.cli.console import Screen, quiet_tensorflow, standard_output
from ptenmt.cli.options import InputFile, Quiet, RunName, Verbose, WhichWeights
from ptenmt.corpus.files import decoded_lines, read_lines
from ptenmt.errors import OutputError, PtenmtError
from ptenmt.runs import find_run
from ptenmt.writing import written_whole

if TYPE_CHECKING:
    from ptenmt.translation import Translation


def translate(
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="Sentences; by default standard input.")
    ] = None,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    input_file: InputFile = None,
    output_file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the translations to this file."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Keep the training corpus' spacing: 'well .' for 'well.'")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="A JSON object a line: source, text, raw, tokens and more.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Translate sentences: arguments, a file, or standard input, a line a sentence.

    Empty lines stay empty, the order is kept, and only translations go to standard output. Where the
    training corpus comes tokenised, spacing is repaired. Obeys decoding.max_length of the run's config.

    Example: ptenmt translate "este modelo parece funcionar bem"

    Example: ptenmt translate --input letter.pt.txt --output letter.en.txt
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    if texts and input_file is not None:
        raise PtenmtError("TEXT and --input exclude each other", "give one of them")
    if input_file is not None and output_file is not None and _same_file(input_file, output_file):
        raise OutputError(f"--output {output_file} is the input itself", "choose another file")
    if output_file is not None and output_file.suffix.lower() == ".gz":
        raise OutputError(f"--output {output_file}: translations are written as plain text", "leave out .gz")
    found = find_run(run)
    sources = _sources(texts, input_file)
    interactive = not texts and input_file is None and sys.stdin.isatty()
    with quiet_tensorflow(screen):
        from ptenmt.translation import Translator
    with screen.working("loading the model"):
        translator = Translator.load(found, screen.warn, checkpoint)
    if interactive:
        screen.say("Type a sentence and press Enter; Ctrl-D ends.")
    window = {"window": 1} if interactive else {}
    counted = _Counted(translator.translate_iterable(sources, **window))
    with standard_output() if output_file is None else written_whole(output_file) as stream:
        for translation in counted:
            stream.write(_line(translation, raw=raw, as_json=as_json))
            stream.flush()
    for message in counted.remarks():
        screen.warn(message)


class _Counted:
    """Passes translations on and counts those that are not whole."""

    def __init__(self, translations: Iterable["Translation"]) -> None:
        self._translations = translations
        self._num_cut = self._num_sources_cut = 0

    def __iter__(self) -> Iterator["Translation"]:
        for translation in self._translations:
            self._num_cut += not translation.is_complete
            self._num_sources_cut += translation.is_source_cut
            yield translation

    def remarks(self) -> Iterator[str]:
        if self._num_cut:
            yield f"translations cut at the length limit (decoding.max_length): {self._num_cut:,}"
        if self._num_sources_cut:
            yield (
                "sentences longer than the model's positions, of which only the beginning "
                f"was translated: {self._num_sources_cut:,}"
            )


def _sources(texts: list[str] | None, input_file: Path | None) -> Iterable[str]:
    if texts:
        # Bytes that are not UTF-8 reach Python as halves of surrogate pairs, which cannot be written.
        return [text.encode(errors="replace").decode() for text in texts]
    if input_file is None:
        return decoded_lines(sys.stdin.buffer, "standard input")
    lines = read_lines(input_file)
    first = list(islice(lines, 1))  # a missing file is told now, not once the model is loaded
    return chain(first, lines)


def _line(translation: "Translation", *, raw: bool, as_json: bool) -> str:
    if as_json:
        return json.dumps(asdict(translation), ensure_ascii=False) + "\n"
    return (translation.raw if raw else translation.text) + "\n"


def _same_file(one: Path, other: Path) -> bool:
    return other.exists() and one.exists() and one.samefile(other)
