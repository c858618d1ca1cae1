"""Exporting a run's model for other programs, with a model card and a list of checksums."""

import importlib.util
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ptenmt.atomic_files import (
    check_writable,
    folder_written_whole,
    make_folder,
    output_errors,
    temporary_folder,
    write_bytes,
)
from ptenmt.config import Config
from ptenmt.config.loading import dump_config, without_paths
from ptenmt.errors import ExportError, OutputError
from ptenmt.export import argos, web_page
from ptenmt.export.card import SEARCH_OPTIONS, card_text, json_file, model_card, warn_if_lacking, with_card
from ptenmt.export.huggingface import check_hugging_face, hugging_face_files, metadata
from ptenmt.model.ctranslate2_model import Quantization, check_ctranslate2, convert
from ptenmt.runs import Choice, Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.runs.weights import WeightsInfo, serialized
from ptenmt.tokenizers.imported import ImportedTokenizer
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

Format = Literal["ctranslate2", "savedmodel", "argos", "huggingface", "web", "weights"]
"""For CTranslate2; TensorFlow (Serving); Argos Translate and LibreTranslate; transformers; browsers; any
framework."""

_FILE_NAMES: Mapping[Format, Callable[[Config], str]] = {
    "argos": argos.package_name,
    "web": web_page.page_name,
}
"""The default names of exports that are one file."""


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was exported, and where to."""

    path: Path
    """A folder, or the file of an Argos package or of a web page."""
    weights: WeightsInfo
    quantization: Quantization | None
    """How the weights are stored; None: in float32, in a format that has no choice."""
    num_bytes: int
    seconds: float


def export_model(
    run: str | Path | Run | None = None,
    *,
    format: Format = "ctranslate2",
    quantization: Quantization | None = None,
    output: str | Path | None = None,
    checkpoint: Choice = "best",
    on_warning: Callable[[str], None] = warnings.warn,
) -> Exported:
    """Export a run's model, with a model card and a list of checksums.

    Args:
        run: For this, ``checkpoint`` and ``on_warning`` see ``TrainedModel.load``.
        format: ``ctranslate2``: a folder that ``ctranslate2.Translator`` opens; ``savedmodel``: one that
            TensorFlow (Serving) loads, text in and text out, with greedy search; ``argos``: a package for
            Argos Translate and LibreTranslate; ``huggingface``: a folder for transformers; ``web``: a
            page that translates in a browser; ``weights``: a folder with safetensors, the tokenizers, and if
            TensorFlow is installed, Keras' files.
        quantization: How CTranslate2 stores the weights (formats ``ctranslate2`` and ``argos``).
        output: The folder, or the package's file, which must not exist; by default below the run's
            ``export/``, where an earlier one is replaced.

    Raises:
        RunError: There is no such run.
        CheckpointError: It has no weights that can be read.
        ExportError: The format cannot express the model, or has no such option.
        OutputError: The path cannot be written, or exists.
    """
    if format not in get_args(Format):
        raise ExportError(
            f"there is no export format {format}", f"choose one of: {', '.join(get_args(Format))}"
        )
    stored = "int8" if format in ("ctranslate2", "argos", "web") else "float32"
    if quantization is not None and format not in ("ctranslate2", "argos"):
        raise ExportError(
            f"the format {format} is in {stored}, not in {quantization}",
            "leave --quantization out, or choose --format ctranslate2 or argos",
        )
    trained = TrainedModel.load(run, checkpoint=checkpoint, task="translation", on_warning=on_warning)
    _check_model(trained, format)
    path = Path(output).expanduser() if output is not None else _default_path(trained, format, checkpoint)
    is_earlier_export = path.is_file() or (path / "export.json").is_file()
    is_replaced = output is None and not trained.run.is_bundled and is_earlier_export
    if path.exists() and not is_replaced:
        raise OutputError(f"{path} exists", "choose another path with --output, or delete it")
    check_writable(path)
    started = time.perf_counter()
    chosen: Quantization = quantization or "int8"
    return Exported(
        path=path,
        weights=trained.info,
        quantization=chosen if stored == "int8" else None,
        num_bytes=_write(path, trained, format, chosen),
        seconds=time.perf_counter() - started,
    )


def _default_path(trained: TrainedModel, form: Format, checkpoint: Choice) -> Path:
    folder = Path() if trained.run.is_bundled else trained.run.path
    path = folder / "export" / (form if checkpoint == "best" else f"{form}-{checkpoint}")
    return path / _FILE_NAMES[form](trained.config) if form in _FILE_NAMES else path


def _write(path: Path, trained: TrainedModel, form: Format, quantization: Quantization) -> int:
    """Write an export, whole or not at all; returns its size in bytes."""
    files, card = _files(trained, form, quantization, path.name)
    if form in _FILE_NAMES:
        if form == "web":
            content = web_page.web_page(trained, card)
        else:
            content = argos.package(trained.config, with_card(files, card))
        make_folder(path.parent)
        write_bytes(path, content)
        return len(content)
    files = with_card(files, card)
    with output_errors(f"write {path}"), folder_written_whole(path) as new:
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
    return sum(map(len, files.values()))


def _check_model(trained: TrainedModel, form: Format) -> None:
    """Refuse a model that the format cannot express, or that cannot be exported on this machine."""
    if form == "savedmodel" and importlib.util.find_spec("tensorflow_text") is None:
        raise ExportError(
            "TensorFlow Text, whose tokenizers a SavedModel contains, is not installed",
            "pip install 'tensorflow-text~=2.21.0' (Linux and macOS)",
        )
    if form == "savedmodel" and (kind := trained.config.tokenizer.kind) in ("imported", "words"):
        raise ExportError(
            f"a SavedModel has no operations for tokenizer.kind={kind}",
            "choose another format, such as ctranslate2",
        )
    if form == "weights" and importlib.util.find_spec("tensorflow") is None:
        trained.on_warning("TensorFlow is not installed: exporting without model.keras and model.weights.h5")
    if form == "argos":
        argos.check_argos(trained)
    if form == "huggingface":
        check_hugging_face(trained)
    if form == "web":
        web_page.check_web(trained)
    if form in ("ctranslate2", "argos"):
        check_ctranslate2(trained.config.model)
    if form == "ctranslate2":
        warn_if_lacking(trained, "CTranslate2", SEARCH_OPTIONS)


def _files(
    trained: TrainedModel, form: Format, quantization: Quantization, name: str
) -> tuple[dict[str, bytes], str]:
    """The files of an export by their paths, and its card; ``name``: of its folder or file, for the usage."""
    files: dict[str, bytes] = {}
    extra = head = ""
    if form == "argos":
        files = argos.package_files(trained, quantization)
    elif form == "weights":
        files, extra = _weights_files(trained), card_text("weights-names.md", weights=trained.weights)
    elif form == "huggingface":
        files, head = hugging_face_files(trained), metadata(trained)
    elif form == "savedmodel":
        from ptenmt.export.savedmodel import savedmodel_files

        files = savedmodel_files(trained)
    elif form == "ctranslate2":
        model, weights, layer = trained.config.model, trained.weights, trained.alignment_layer
        identity, ids = (trained.info.checksum, quantization), trained.output_ids
        converted = convert(
            model, weights, trained.tokenizers, *identity, alignment_layer=layer, output_ids=ids
        )
        files = {**converted.files, **_tokenizer_files(trained)}
    source, target = trained.config.data.languages
    tokenizer = trained.tokenizers.source
    tag = tokenizer.tag if isinstance(tokenizer, ImportedTokenizer) else ""
    usage = card_text(
        f"{form}.md",
        name=name,
        source=source,
        target=target,
        tag=tag,
        marks=trained.config.model.source_marks,
        epsilon=trained.config.model.norm_epsilon,
        files=files,
        spm=[file for file in files if file.endswith((".model", ".spm"))],
    )
    if form not in _FILE_NAMES:
        made = {
            "format": form,
            "weights": trained.info.label,
            "checksum": trained.info.checksum,
            "languages": [source, target],
            "source_marks": trained.config.model.source_marks,
            **({"tag": tag} if tag else {}),
            **trained.run.exported_facts(),
        }
        files = {**files, "export.json": json_file(made)}
    return files, head + model_card(trained, usage, extra=extra)


def _tokenizer_files(trained: TrainedModel) -> dict[str, bytes]:
    """SentencePiece models with the run's text preparation; tokenizers of other kinds as the run has them."""
    source, target = trained.tokenizers.source, trained.tokenizers.target
    if isinstance(source, ImportedTokenizer) and isinstance(target, ImportedTokenizer):
        return {"source.spm": source.model, "target.spm": target.model}
    if not isinstance(source, SentencePieceTokenizer) or not isinstance(target, SentencePieceTokenizer):
        return _run_tokenizers(trained)
    names = ("sentencepiece.model",) if trained.tokenizers.shared else ("source.spm", "target.spm")
    models = zip(names, (source.model, target.model), strict=False)
    return {name: argos.with_preparation(model, trained.config.data) for name, model in models}


def _run_tokenizers(trained: TrainedModel) -> dict[str, bytes]:
    own = trained.run.tokenizer_folder
    parts = [file for file in sorted(own.rglob("*")) if file.is_file()]
    return {f"tokenizer/{file.relative_to(own).as_posix()}": file.read_bytes() for file in parts}


def _weights_files(trained: TrainedModel) -> dict[str, bytes]:
    """Safetensors, config and tokenizers; Keras' own files if it is installed."""
    files = {
        "model.safetensors": serialized(trained.info, trained.weights),
        "config.yaml": dump_config(without_paths(trained.config)).encode(),
    }
    files |= _run_tokenizers(trained)
    if importlib.util.find_spec("tensorflow") is not None:
        with temporary_folder() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Keras uses a deprecated NumPy function
            trained.keras_model.save(folder / "model.keras")
            trained.keras_model.save_weights(folder / "model.weights.h5")
            files |= {file.name: file.read_bytes() for file in folder.iterdir()}
    return files
