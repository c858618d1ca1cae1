"""Documents for ``ptenmt translate --output-dir``."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ptenmt.atomic_files import make_folder, write_bytes
from ptenmt.cli.console import Screen
from ptenmt.documents import check_format, translate_document
from ptenmt.errors import DocumentError, OutputError
from ptenmt.translation import Translator


def translate_documents(
    screen: Screen, files: Sequence[Path], folder: Path, load: Callable[[], Translator]
) -> None:
    """Translate documents into a folder, where they keep their names; what can be wrong is checked first."""
    for file in files:
        check_format(file.name)
        if not file.is_file():
            raise DocumentError(f"no file {file}")
        if (folder / file.name).exists() and (folder / file.name).samefile(file):
            raise OutputError(f"{file} would be replaced by its translation", "choose another --output-dir")
    if len({file.name for file in files}) < len(files):
        raise OutputError("two of the documents have the same name", "translate them into different folders")
    make_folder(folder)
    translator = load()
    for file in files:
        began = time.monotonic()
        with screen.bar(file.name) as show:

            def show_progress(done: int, total: int, name: str = file.name) -> None:
                show(name, done, total)

            try:
                content = translate_document(translator, file.name, file.read_bytes(), show_progress)
            except DocumentError as error:
                raise DocumentError(f"{file}: {error.message}", error.hint) from error
            except OSError as error:
                raise DocumentError(f"cannot read {file}: {error.strerror or error}") from error
        write_bytes(folder / file.name, content)
        screen.say(f"{folder / file.name}: {time.monotonic() - began:.1f} s")
