"""Importing a model of another program as a run."""

import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ptenmt.atomic_files import file_checksum, temporary_folder
from ptenmt.config import AugmentConfig, Config, DataConfig
from ptenmt.data.download import unpack_zip
from ptenmt.data.kept_parts import PLACEHOLDERS
from ptenmt.data.languages import two_letter_code
from ptenmt.errors import DownloadError, ModelImportError, PtenmtError
from ptenmt.importing.ctranslate2 import read_ctranslate2
from ptenmt.importing.foreign import ForeignModel, most_unpacked, reading
from ptenmt.importing.marian import read_hugging_face, read_npz
from ptenmt.runs import SEARCH_FACTS, Run, run_path, written_whole
from ptenmt.runs.weights import write_weights

_KNOWN = (
    "a folder of Hugging Face's (config.json, model.safetensors), of OPUS-MT's (*.npz, source.spm), "
    "of CTranslate2's (model.bin, with a SentencePiece model), or a zip archive, such as an Argos package"
)
_PLACEHOLDERS = 0.5
"""Share of pairs with placeholders, in a training that starts from a model of ptenmt's that knows them."""
_LICENCE_FILES = ("LICENSE", "LICENCE", "LICENSE.txt")


def import_model(
    path: str | Path,
    run: str | Path,
    *,
    source_language: str | None = None,
    target_language: str | None = None,
    tag: str = "",
    licence: str = "",
    on_warning: Callable[[str], None] = warnings.warn,
) -> Run:
    """Make a run of a model that another program trained; it is written whole or not at all.

    Args:
        path: A folder, or a zip archive such as an Argos package: Marian's and OPUS-MT's models, those of
            Hugging Face's class Marian, and CTranslate2's with SentencePiece.
        run: The new run, a path or name.
        source_language: Its code; by default what the files say, else ``pt``.
        target_language: Its code; by default what the files say, else ``en``.
        tag: A token before every source, such as ``>>por<<``, that tells a model of several languages which
            one to write.
        licence: Of the weights; by default what the files state.
        on_warning: Is called with what the files do not state.

    Raises:
        ModelImportError: A file is missing, damaged or does not fit, or ptenmt cannot express the model.
        TokenizerError: A SentencePiece model is damaged, or there is no such tag.
        RunError: The run exists.
        OutputError: The run cannot be written.
    """
    path, target = Path(path).expanduser(), Run(run_path(run))
    with written_whole(target, "--run") as new, _opened(path) as folder:
        _check_sums(folder / "SHA256SUMS")
        model = read_model(folder)
        source_language, target_language = _languages(
            folder, model, (source_language, target_language), on_warning
        )
        tokenizer, tokenizers = model.tokenizers(tag or model.exported.get("tag", ""))
        is_own = tokenizer.kind == "sentencepiece"
        has_placeholders = is_own and set(PLACEHOLDERS) <= set(tokenizers.source.vocabulary)
        data = DataConfig(
            source="imported",
            source_language=source_language,
            target_language=target_language,
            augment=AugmentConfig(placeholders=_PLACEHOLDERS if has_placeholders else 0.0),
        )
        config = Config(data=data, tokenizer=tokenizer, model=model.model, decoding=model.decoding)
        files = [path] if path.is_file() else sorted(file for file in folder.rglob("*") if file.is_file())
        weights = model.weights()
        facts = {
            "imported_from": {
                "path": str(path.absolute()),
                "form": model.form,
                "licence": licence or model.exported.get("licence") or _stated_licence(folder),
                "files": {str(file.relative_to(path.parent)): file_checksum(file) for file in files},
            },
            "data": {},
            "vocabulary_sizes": [*tokenizers.vocabulary_sizes],
            "parameters": sum(array.size for array in weights.values()),
            **{name: model.exported[name] for name in SEARCH_FACTS if name in model.exported},
        }
        new.write(config, facts)
        tokenizers.save(new.tokenizer_folder)
        write_weights(new.weights_folder / "best.safetensors", weights, config, step=0)
    return target


def read_model(folder: Path) -> ForeignModel:
    """Read a model of any form; raises ModelImportError."""
    if (folder / "model.bin").exists() or (folder / "model" / "model.bin").exists():
        return read_ctranslate2(folder)
    if (folder / "config.json").exists():
        return read_hugging_face(folder)
    if (folder / "decoder.yml").exists():
        return read_npz(folder)
    raise ModelImportError(f"{folder} is no model that ptenmt knows", f"name {_KNOWN}")


@contextmanager
def _opened(path: Path) -> Iterator[Path]:
    """The folder with a model's files: the path itself, or a temporary one if it is an archive."""
    if not path.exists():
        raise ModelImportError(f"{path} does not exist", f"name {_KNOWN}")
    if path.is_dir():
        yield path
        return
    if not zipfile.is_zipfile(path):
        raise ModelImportError(f"{path} is no zip archive or is damaged", f"name {_KNOWN}")
    with temporary_folder() as temporary:
        try:
            unpack_zip(path, temporary / "unpacked", most_unpacked(path))
        except DownloadError as error:
            raise ModelImportError(error.message, error.hint) from error
        folder = temporary / "unpacked"
        while len(inside := list(folder.iterdir())) == 1 and inside[0].is_dir():
            folder = inside[0]
        try:
            yield folder
        except PtenmtError as error:
            named = [text.replace(str(folder), str(path)) for text in (error.message, error.hint)]
            raise type(error)(*named) from error


def _check_sums(file: Path) -> None:
    """Raise ModelImportError if a file is not the one that the list of checksums beside it, if any, names."""
    with reading(file):
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    for line in lines:
        checksum, _, name = line.partition("  ")
        if (listed := file.parent / name).is_file() and file_checksum(listed) != checksum:
            hint = f"copy the folder again, or delete {file.name} if you have changed the file"
            raise ModelImportError(f"{listed} is not the file that {file.name} lists", hint)


def _languages(
    folder: Path, model: ForeignModel, given: tuple[str | None, str | None], on_warning: Callable[[str], None]
) -> tuple[str, str]:
    """The languages: those that were given, else those of the files, else pt and en with a warning."""
    languages = []
    stated_languages = model.exported.get("languages") or model.languages
    for side, code, stated, default in zip(
        ("source", "target"), given, stated_languages, ("pt", "en"), strict=True
    ):
        found = code or (two_letter_code(stated) if len(stated) > 2 else stated)
        if stated and not found:
            raise ModelImportError(
                f"{folder} states {stated} as the {side} language, which is not the code of one language",
                f"name it with --{side}-language, such as {default}",
            )
        if not found:
            on_warning(f"the {side} language is not stated: --{side}-language {default} is assumed")
        languages.append(found or default)
    return languages[0], languages[1]


def _stated_licence(folder: Path) -> str:
    """The licence that a model card's head names, or the first line of a licence's text."""
    for name in ("README.md", *_LICENCE_FILES):
        if (folder / name).exists():
            with reading(folder / name):
                text = (folder / name).read_text(encoding="utf-8", errors="replace")
            pattern = r"^licen[sc]e: *(\S.*)$" if name == "README.md" else r"^ *(\S.*)$"
            if found := re.search(pattern, text[:10_000], re.MULTILINE | re.IGNORECASE):
                return found[1].strip()
    return ""
