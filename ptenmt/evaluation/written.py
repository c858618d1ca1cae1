"""What was compared, as text files, so that other programs can compute the scores again."""

from pathlib import Path

from ptenmt.atomic_files import write_text
from ptenmt.errors import OutputError
from ptenmt.evaluation.results import Evaluation


def write_texts(evaluation: Evaluation, folder: Path) -> list[Path]:
    """Write sources, references and hypotheses into a folder, a sentence a line.

    The files are ``source.txt`` and, for each form, such as ``detokenised``: ``detokenised.hypotheses.txt``,
    ``detokenised.reference.txt`` and, if there are more references, ``detokenised.reference2.txt`` and so on;
    with a baseline, ``detokenised.baseline.txt``.

    Args:
        evaluation: What was found.
        folder: Made if need be; other files in it stay.

    Returns:
        The files.

    Raises:
        OutputError: They cannot be written.
    """
    make_folder(folder)
    columns: dict[str, list[str | None]] = {}
    if all(sentence.source is not None for sentence in evaluation.sentences):
        columns["source"] = [sentence.source for sentence in evaluation.sentences]
    for form, texts in evaluation.texts.items():
        columns[f"{form}.hypotheses"] = [*texts.hypotheses]
        if texts.baseline is not None:
            columns[f"{form}.baseline"] = [*texts.baseline]
        for number, references in enumerate(texts.references, start=1):
            columns[f"{form}.reference{number if number > 1 else ''}"] = references
    files = []
    for name, lines in columns.items():
        file = folder / f"{name}.txt"
        write_text(file, "".join(f"{line or ''}\n" for line in lines))
        files.append(file)
    return files


def make_folder(folder: Path) -> None:
    """Make a folder, if it is not there.

    Raises:
        OutputError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create {folder}: {error.strerror or error}") from error
