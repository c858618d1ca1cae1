"""Packages for Argos Translate, which LibreTranslate runs on: a zip archive with a model and its tokenizer.

Argos splits a text into sentences with the package's spaCy pipeline, tokenizes each with SentencePiece, and
passes the bare sub-words to CTranslate2. What ptenmt does around its engine therefore goes into the model
([START] and [END] around the source, tokens that are never generated, positions for any sentence) and into
the SentencePiece model: ptenmt turns white space and control characters into spaces, composes accents, and
lower-cases text if the corpus was. SentencePiece has a normalization table for that, of characters and short
sequences; ptenmt trains with an empty one.
"""

import io
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import sentencepiece

from ptenmt.atomic_files import temporary_folder
from ptenmt.config import Config, DataConfig
from ptenmt.data.languages import language_name
from ptenmt.data.text import TextPreparation, lowers_typed
from ptenmt.errors import ExportError
from ptenmt.export.card import card_text, json_file, warn_if_lacking
from ptenmt.model.ctranslate2_model import Quantization, convert
from ptenmt.runs import versions
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import suppressed_ids
from ptenmt.tokenizers.base import clean_text
from ptenmt.tokenizers.imported import ImportedTokenizer
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

_ENDING = ".argosmodel"
_PACKAGE_VERSION = "1.0"
_ARGOS_VERSION = "1.9.0"
_LONGEST_SOURCE = 1024
"""CTranslate2 truncates longer ones by default."""
_NEVER = -1e9
_SPACY_SUFFIXES = """[.!?…。！？؟।"'”’»)\\]]$""".encode()
"""What spaCy splits off words: the marks that end sentences, and quotes and brackets after them."""
_SPACY_TOKENIZER = b"\x81\xad" + b"suffix_search" + b"\xd9" + bytes([len(_SPACY_SUFFIXES)]) + _SPACY_SUFFIXES
"""A MessagePack map of one string of 13 characters to another."""
_NO_TEXT = frozenset({"Cn", "Co", "Cs"})
"""Unicode categories: unassigned, private use, surrogates."""
_NO_FILE = b"\x1a\x02\x32\x00"
"""A Protocol Buffers message that clears the name of the normalization table's file."""
_NEIGHBOUR = "q"
"""A letter that no accent composes with and no preparation changes."""


def check_argos(trained: TrainedModel) -> None:
    """Warn if translations will be worse; raises ExportError for a run without shared SentencePiece model."""
    _shared_tokenizer(trained)
    warn_if_lacking(trained, "Argos Translate")


def _shared_tokenizer(trained: TrainedModel) -> SentencePieceTokenizer | ImportedTokenizer:
    tokenizer, is_shared = trained.tokenizers.source, trained.tokenizers.shared
    if isinstance(tokenizer, ImportedTokenizer):
        if not tokenizer.tag:
            return tokenizer
        raise ExportError(
            f"Argos Translate puts no tag before a source, and this run needs {tokenizer.tag}",
            "export with another --format, such as ctranslate2",
        )
    if not isinstance(tokenizer, SentencePieceTokenizer) or not is_shared:
        raise ExportError(
            "Argos Translate needs one SentencePiece model for both languages, and this run has "
            f"tokenizer.kind={tokenizer.kind}, tokenizer.shared={str(is_shared).lower()}",
            "train with --set tokenizer.kind=sentencepiece --set tokenizer.shared=true",
        )
    return tokenizer


def package_name(config: Config) -> str:
    """The name of a package's file, such as ``translate-pt_en-1_0.argosmodel``; its folder has no ending."""
    languages = "_".join(config.data.languages)
    return f"translate-{languages}-{_PACKAGE_VERSION.replace('.', '_')}{_ENDING}"


def package_files(trained: TrainedModel, quantization: Quantization) -> dict[str, bytes]:
    """The files of a package, by their paths in it.

    Raises ExportError if CTranslate2 cannot express the model, or it has no shared SentencePiece tokenizer,
    and OutputError if there is no room for temporary files.
    """
    tokenizer, model = _shared_tokenizer(trained), trained.config.model
    (name,) = (name for name in trained.weights if name.endswith("final/bias"))
    bias = trained.weights[name].copy()
    bias[suppressed_ids(trained.config.tokenizer)] = _NEVER
    is_own = isinstance(tokenizer, SentencePieceTokenizer)  # others have their own text preparation
    spm = with_preparation(tokenizer.model, trained.config.data) if is_own else tokenizer.model
    converted = convert(
        replace(model, max_positions=max(model.max_positions, _LONGEST_SOURCE + 2)),
        {**trained.weights, name: bias},
        trained.tokenizers,
        trained.info.checksum,
        quantization,
        adds_marks=True,
    )
    return {
        **{f"model/{name}": content for name, content in converted.files.items()},
        "sentencepiece.model": spm,
        "spacy/config.cfg": card_text("spacy.cfg").encode(),
        "spacy/meta.json": json_file({"lang": "xx", "name": "blank", "version": "0.0.0", "pipeline": []}),
        "spacy/tokenizer": _SPACY_TOKENIZER,
        "metadata.json": json_file(_metadata(trained)),
    }


def _metadata(trained: TrainedModel) -> dict[str, Any]:
    source, target = trained.config.data.languages
    return {
        "package_version": _PACKAGE_VERSION,
        "argos_version": _ARGOS_VERSION,
        "from_code": source,
        "from_name": language_name(source),
        "to_code": target,
        "to_name": language_name(target),
        "made_with": f"ptenmt {versions().get('ptenmt', '')}, weights {trained.info.checksum}",
        "ptenmt": trained.run.exported_facts(),
    }


def package(config: Config, files: Mapping[str, bytes]) -> bytes:
    """The content of a package; equal files make equal packages."""
    archive = io.BytesIO()
    folder = package_name(config).removesuffix(_ENDING)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, content in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}")  # with a fixed date
            entry.external_attr = 0o644 << 16
            stream.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def with_preparation(model: bytes, data: DataConfig) -> bytes:
    """Give a SentencePiece model, whose table is empty, the run's text preparation; raises OutputError.

    Splitting off punctuation is not part of it.
    """
    rules = [f"{_hexadecimal(before)}\t{_hexadecimal(after)}\n" for before, after in _rules(data)]
    with temporary_folder() as folder:
        file = folder / "rules.tsv"
        file.write_text("".join(rules), encoding="ascii")
        normalizer = sentencepiece.SentencePieceNormalizer(
            rule_tsv=str(file), add_dummy_prefix=True, escape_whitespaces=True, remove_extra_whitespaces=True
        )
    # Concatenated Protocol Buffers messages merge; the later table wins.
    changed = model + normalizer.serialized_model_proto() + _NO_FILE
    return bytes(sentencepiece.SentencePieceProcessor(model_proto=changed).serialized_model_proto())


def _rules(data: DataConfig) -> Iterator[tuple[str, str]]:
    """Characters and sequences that preparation changes, and their replacements."""
    preparation = TextPreparation(replace(data, tokenization="none", lowercase=lowers_typed(data)))

    def prepared(text: str) -> str:
        between = f"{_NEIGHBOUR}{text}{_NEIGHBOUR}"  # spaces at the edges would be lost
        return clean_text(preparation.prepare_input(between, data.languages[0]))[1:-1]

    for code in range(1, 0x20000):
        character = chr(code)
        if unicodedata.category(character) in _NO_TEXT:
            continue
        for text in (character, *_decompositions(character)):
            if (after := prepared(text)) != text:
                yield text, after


def _decompositions(character: str) -> set[str]:
    """The sequences of a letter and accents that are equivalent to a character."""
    parts = unicodedata.decomposition(character)
    if not parts or parts.startswith("<"):
        return set()
    halves = "".join(chr(int(code, 16)) for code in parts.split())
    sequences = {halves, unicodedata.normalize("NFD", character)}
    return {sequence for sequence in sequences if len(sequence) > 1}


def _hexadecimal(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)
