"""Packages for Argos Translate, which LibreTranslate runs on: a zip archive with a model and its tokenizer.

Argos splits a text into sentences with the package's spaCy pipeline, tokenizes each with SentencePiece, and
passes the bare sub-words to CTranslate2. So what ptenmt does around its engine goes into the model: [START]
and [END] around the source, tokens that are never generated, positions for any sentence; and into the
SentencePiece model: the preparation of the text.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ptenmt.atomic_files import write_bytes
from ptenmt.config import Config
from ptenmt.ctranslate2_export import Quantization, convert
from ptenmt.data.text import spacing
from ptenmt.errors import ExportError, OutputError
from ptenmt.export.argos_text import with_preparation
from ptenmt.export.card import CARD_FILE, SUMS_FILE
from ptenmt.languages import language_name
from ptenmt.runs import versions
from ptenmt.tokenizers import forbidden
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer
from ptenmt.trained_model import TrainedModel

if TYPE_CHECKING:
    from ptenmt.ctranslate2_specification import Weights

PACKAGE_VERSION = "1.0"
ENDING = ".argosmodel"
_ARGOS_VERSION = "1.9.0"
_LONGEST_SOURCE = 1024
"""CTranslate2 truncates longer ones by default."""
_NEVER = -1e9
_SPACY_CONFIG = """[nlp]
lang = "xx"
pipeline = []
disabled = []
before_creation = null
after_creation = null
after_pipeline_creation = null
batch_size = 1000

[nlp.tokenizer]
@tokenizers = "spacy.Tokenizer.v1"
"""
_SPACY_META = {"lang": "xx", "name": "blank", "version": "0.0.0", "pipeline": []}
_SPACY_SUFFIXES = """[.!?…。！？؟।"'”’»)\\]]$"""
"""What spaCy splits off words: the marks that end sentences, and quotes and brackets after them."""
_METADATA = "metadata.json"

_USAGE = """
Install it into Argos Translate, or where LibreTranslate runs:

```
python -c 'import argostranslate.package as argos; argos.install_from_path("{name}")'
argos-translate --from {source} --to {target} "…"
```
"""


def usage(config: Config, name: str) -> str:
    """How a package is used, in Markdown.

    Args:
        config: The run's options.
        name: Of the package's file.
    """
    return _USAGE.format(name=name, source=config.data.source_language, target=config.data.target_language)


def check_argos(trained: TrainedModel) -> None:
    """Refuse a run whose tokenizer Argos Translate cannot use; warn of what Argos will do worse than ptenmt.

    Raises:
        ExportError: It says what the run lacks.
    """
    config, is_shared = trained.config, trained.tokenizers.shared
    if config.tokenizer.kind != "sentencepiece" or not is_shared:
        raise ExportError(
            "Argos Translate needs one SentencePiece model for both languages, and this run has "
            f"tokenizer.kind={config.tokenizer.kind}, tokenizer.shared={str(is_shared).lower()}",
            "train with --set tokenizer.kind=sentencepiece --set tokenizer.shared=true",
        )
    if (found := spacing(config.data)) != "none":
        trained.on_warning(
            f"the corpus separates words and punctuation (data.tokenization {found}), and Argos does not: "
            "translations will be worse, with spaces before punctuation; better train on plain text, as "
            "configs/files.yaml does"
        )


def package_name(config: Config) -> str:
    """The file's name, such as ``translate-pt_en-1_0.argosmodel``."""
    return f"{_folder(config)}{ENDING}"


def package_files(trained: TrainedModel, quantization: Quantization) -> dict[str, bytes]:
    """The files of a package, by their paths in it.

    Args:
        trained: A model with one SentencePiece tokenizer.
        quantization: How CTranslate2 stores the weights.

    Raises:
        ExportError: CTranslate2 cannot express the model.
        OutputError: There is no room for temporary files.
    """
    tokenizer = trained.tokenizers.source
    assert isinstance(tokenizer, SentencePieceTokenizer)
    longest = max(trained.config.model.max_positions, _LONGEST_SOURCE + 2)
    model = convert(
        replace(trained.config.model, max_positions=longest),
        _without_forbidden(trained),
        trained.tokenizers,
        trained.info.checksum,
        quantization,
        adds_marks=True,
    )
    return {
        **{f"model/{name}": content for name, content in model.files.items()},
        "sentencepiece.model": with_preparation(tokenizer.model, trained.config.data),
        "spacy/config.cfg": _SPACY_CONFIG.encode(),
        "spacy/meta.json": _json(_SPACY_META),
        "spacy/tokenizer": _spacy_tokenizer(),
        _METADATA: _json(_metadata(trained)),
    }


def check_replaceable(file: Path) -> None:
    """Refuse to overwrite anything but an earlier package.

    Raises:
        OutputError: It is a folder, or another file.
    """
    hint = f"name a new file with --output, such as model{ENDING}"
    if file.is_dir():
        raise OutputError(f"{file} is a folder, and an Argos package is a file", hint)
    if not file.exists():
        return
    try:
        with zipfile.ZipFile(file) as package:
            names = {name.partition("/")[2] for name in package.namelist()}
    except (OSError, zipfile.BadZipFile):
        names = set()
    if not {_METADATA, CARD_FILE, SUMS_FILE} <= names:
        raise OutputError(f"{file} exists and is not an export", hint)


def write_package(file: Path, config: Config, files: Mapping[str, bytes]) -> int:
    """Write a package, wholly or not at all; its parents are made.

    Args:
        file: The archive.
        config: The run's options.
        files: Contents by their paths in it.

    Returns:
        The archive's size in bytes.

    Raises:
        OutputError: It cannot be written.
    """
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in files.items():
            # A fixed date, so that equal models make equal packages.
            entry = zipfile.ZipInfo(f"{_folder(config)}/{name}")
            entry.external_attr = 0o644 << 16
            package.writestr(entry, content, zipfile.ZIP_DEFLATED)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from error
    write_bytes(file, archive.getvalue())
    return len(archive.getvalue())


def _without_forbidden(trained: TrainedModel) -> "Weights":
    """The weights, with a bias that keeps forbidden tokens from being generated."""
    (name,) = (name for name in trained.weights if name.endswith("final/bias"))
    bias = trained.weights[name].copy()
    bias[forbidden(trained.config.tokenizer)] = _NEVER
    return {**trained.weights, name: bias}


def _folder(config: Config) -> str:
    languages = f"{config.data.source_language}_{config.data.target_language}"
    return f"translate-{languages}-{PACKAGE_VERSION.replace('.', '_')}"


def _spacy_tokenizer() -> bytes:
    """A MessagePack map of one short string."""
    key, value = b"suffix_search", _SPACY_SUFFIXES.encode()
    return b"\x81" + bytes([0xA0 | len(key)]) + key + b"\xd9" + bytes([len(value)]) + value


def _metadata(trained: TrainedModel) -> dict[str, str]:
    source, target = trained.config.data.source_language, trained.config.data.target_language
    return {
        "package_version": PACKAGE_VERSION,
        "argos_version": _ARGOS_VERSION,
        "from_code": source,
        "from_name": language_name(source),
        "to_code": target,
        "to_name": language_name(target),
        "made_with": f"ptenmt {versions().get('ptenmt', '')}, weights {trained.info.checksum}",
    }


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
