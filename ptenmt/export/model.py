"""Exporting a run's model for use elsewhere."""

import importlib.util
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from ptenmt.atomic_files import check_writable
from ptenmt.config import Config
from ptenmt.errors import ExportError, OutputError
from ptenmt.export import argos, keras_files
from ptenmt.export.card import model_card
from ptenmt.export.ctranslate2 import CTRANSLATE2, make_export
from ptenmt.export.folders import Export, ExportFacts, Form, states
from ptenmt.export.formats import Format, Quantization
from ptenmt.export.limits import check_ctranslate2
from ptenmt.export.papers import with_papers
from ptenmt.export.trained import Trained
from ptenmt.export.weights import WEIGHTS, make_weights
from ptenmt.runs import Choice, Run, find_run
from ptenmt.tasks import check_task
from ptenmt.tokenizers import TokenizerPair, load_tokenizers

_SAVEDMODEL = Form(
    name="savedmodel",
    facts_file="export.json",
    model_files=frozenset({"saved_model.pb", "fingerprint.pb", "variables"}),
    companions=frozenset({"assets"}),
    facts=ExportFacts,
)
_FORMS: Mapping[Format, Form[Any]] = {
    "ctranslate2": CTRANSLATE2,
    "savedmodel": _SAVEDMODEL,
    "weights": WEIGHTS,
}
_CTRANSLATE2_USAGE = """
```python
import ctranslate2
translator = ctranslate2.Translator("{folder}")
result = translator.translate_batch([["[START]", "…", "[END]"]])[0]
```

It takes and gives the pieces of the run's tokenizers; the source wants [START] and [END] around it. ptenmt
translates with it by itself: `ptenmt translate`.
"""


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was exported, and where to."""

    path: Path
    """A folder, or the file of an Argos package."""
    weights: Path
    """The file that they are from, without its ending."""
    quantization: Quantization | None
    """How the weights are stored; None: in float32, in a format that has no choice."""
    num_bytes: int
    seconds: float
    """That it took, once TensorFlow was there."""


def export_model(
    run: str | Path | Run | None = None,
    *,
    format: Format = "ctranslate2",  # noqa: A002 — as the command line has it
    quantization: Quantization | None = None,
    output: str | Path | None = None,
    checkpoint: Choice = "best",
    on_warning: Callable[[str], None] = warnings.warn,
    on_tensorflow: Callable[[], None] = lambda: None,
) -> Exported:
    """Export a run's model, with a model card and a list of checksums.

    Args:
        run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
        format: ``ctranslate2``: a folder that ``ctranslate2.Translator`` opens; ``savedmodel``: one that
            TensorFlow (Serving) loads, text in and text out, with greedy search; ``argos``: a package for
            Argos Translate and LibreTranslate; ``weights``: a folder with safetensors, Keras' files, and the
            tokenizers.
        quantization: How CTranslate2 stores the weights (formats ``ctranslate2`` and ``argos``); int8 if
            nothing is said.
        output: The folder, or the package's file; by default below the run's own ``export/``, from which
            ``ptenmt translate`` translates. An export that stood there before is replaced, and nothing else.
        checkpoint: ``best``: the weights that scored best in validation; ``latest``: the newest.
        on_warning: Told, in a sentence, of what is not as it should be.
        on_tensorflow: Called before TensorFlow is imported, once nothing else can be wrong without it.

    Raises:
        RunError: There is no such run.
        CheckpointError: It has no checkpoint that can be read.
        ExportError: The format cannot express the model, or has no such option.
        OutputError: The path cannot be written, or it is something else than an export.
    """
    _check_options(format, quantization)
    run = run if isinstance(run, Run) else find_run(run)
    config = run.config()
    check_task(run, config.task, "translation")
    tokenizers = load_tokenizers(run.tokenizer_folder)
    path = _path(run, config, format, checkpoint) if output is None else Path(output).expanduser()
    _check_path(path, format, is_own=output is None)
    _check_model(format, config, tokenizers, on_warning)
    on_tensorflow()
    from ptenmt.checkpoints import load_weights

    started = time.perf_counter()
    file, weights = load_weights(run, on_warning, checkpoint)
    trained = Trained(run=run, config=config, tokenizers=tokenizers, path=file, weights=weights)
    quantization = quantization or ("int8" if format in ("ctranslate2", "argos") else None)
    num_bytes = _write(path, trained, format, quantization)
    return Exported(
        path=path,
        weights=file,
        quantization=quantization,
        num_bytes=num_bytes,
        seconds=time.perf_counter() - started,
    )


def _check_options(form: str, quantization: str | None) -> None:
    """Refuse a format that there is not, and options that it has not."""
    if form not in get_args(Format):
        raise ExportError(
            f"there is no export format {form}", f"choose one of: {', '.join(get_args(Format))}"
        )
    if quantization is not None and form in ("savedmodel", "weights"):
        raise ExportError(
            f"the format {form} is in float32, not in {quantization}",
            "leave --quantization out, or choose --format ctranslate2 or argos",
        )


def _check_model(
    form: Format, config: Config, tokenizers: TokenizerPair, warn: Callable[[str], None]
) -> None:
    if form == "savedmodel" and importlib.util.find_spec("tensorflow_text") is None:
        raise ExportError(
            "TensorFlow Text, whose tokenizers a SavedModel contains, is not installed",
            "pip install 'tensorflow-text~=2.21.0' (Linux and macOS)",
        )
    if form == "argos":
        argos.check_argos(config, is_shared=tokenizers.shared, warn=warn)
    if form in ("ctranslate2", "argos"):
        check_ctranslate2(config.model)


def _path(run: Run, config: Config, form: Format, choice: Choice) -> Path:
    folder = run.export_folder(choice, form)
    return folder / argos.package_name(config) if form == "argos" else folder


def _check_path(path: Path, form: Format, *, is_own: bool) -> None:
    """Refuse to replace what is no export, and what cannot be written, before the work for it."""
    if form == "argos":
        argos.check_replaceable(path)
    else:
        _check_folder(path, form, is_own=is_own)
    check_writable(path)


def _check_folder(path: Path, form: Format, *, is_own: bool) -> None:
    """Another program's model may have files of the same names, too."""
    hint = "choose another folder with --output"
    there = next((name for name, each in _FORMS.items() if each.facts_in(path)), form)
    if there != form:
        raise OutputError(f"{path} holds an export in the format {there}, not {form}", hint)
    try:
        is_taken = path.is_dir() and any(path.iterdir()) and not (path / _FORMS[form].facts_file).exists()
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror or error}") from error
    if is_taken and not is_own:
        raise OutputError(f"{path} is not empty and no export", hint)
    _FORMS[form].check_replaceable(path)


def _write(path: Path, trained: Trained, form: Format, quantization: Quantization | None) -> int:
    """Make and write an export; gives its size in bytes."""
    data = trained.config.data
    if form == "argos":
        assert quantization is not None
        usage = argos.USAGE.format(name=path.name, source=data.source_language, target=data.target_language)
        files = with_papers(argos.package_files(trained, quantization), model_card(trained, usage))
        return argos.write_package(path, trained.config, files)
    if form == "weights":
        export = make_weights(trained.config.model, trained.weights, trained.origin)
        table = keras_files.name_table(trained.weights)
        card = model_card(trained, keras_files.USAGE, extra=table)
        companions = keras_files.keras_files(trained)
        WEIGHTS.write(path, export, card=card, companions=companions)
        return export.num_bytes + sum(map(len, companions.values()))
    if form == "savedmodel":
        from ptenmt.export import savedmodel

        files = savedmodel.savedmodel_files(trained)
        graph = Export(ExportFacts(weights=trained.origin, files=states(files)), files)
        card = model_card(trained, savedmodel.USAGE.format(folder=path.name))
        _SAVEDMODEL.write(path, graph, card=card)
        return graph.num_bytes
    assert quantization is not None
    model, weights = trained.config.model, trained.weights
    translator = make_export(model, weights, trained.tokenizers, trained.origin, quantization)
    card = model_card(trained, _CTRANSLATE2_USAGE.format(folder=path.name))
    CTRANSLATE2.write(path, translator, card=card)
    return translator.num_bytes
