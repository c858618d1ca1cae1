"""A trained run, loaded: the one way to its model for everything but training; its cache for CTranslate2."""

import json
import logging
import warnings
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptenmt.atomic_files import folder_written_whole
from ptenmt.config import Config, TaskName
from ptenmt.errors import CheckpointError, TokenizerError
from ptenmt.model.ctranslate2_model import (
    DEFAULT_QUANTIZATION,
    VOCABULARY_MAP,
    CTranslate2Model,
    check_ctranslate2,
    convert,
    default_alignment_layer,
)
from ptenmt.processes import load_tensorflow
from ptenmt.runs.directory import Choice, Run, check_task, find_run
from ptenmt.runs.weights import WeightsInfo, list_weights, model_fingerprint, read_weights
from ptenmt.tokenizers import TokenizerPair, load_tokenizers, tokenizer_fingerprint

if TYPE_CHECKING:
    import numpy as np

    from ptenmt.model.numpy_transformer import NumpyNextWord, NumpyTransformer
    from ptenmt.model.transformer import TrainableModel

logger = logging.getLogger(__name__)
_CACHE_FILE = "cache.json"
_CACHE_FORMAT = 1


@dataclass(eq=False)
class TrainedModel:
    """A run's config, tokenizers and weights; arrays and models are loaded when first used.

    All parts of one object come from the same weights, even if a running training replaces the file;
    ``info`` are the metadata of that file.
    """

    run: Run
    config: Config
    tokenizers: TokenizerPair
    info: WeightsInfo
    on_warning: Callable[[str], None] = warnings.warn

    @classmethod
    def load(
        cls,
        run: str | Path | Run | None = None,
        *,
        checkpoint: Choice = "best",
        task: TaskName | None = None,
        on_warning: Callable[[str], None] = warnings.warn,
    ) -> "TrainedModel":
        """Load a trained run, found like ``find_run`` does; for ``task``, if one is given.

        ``checkpoint`` ``best`` are the weights that scored best in validation, ``latest`` the newest.

        Raises:
            RunError: There is no such run, or it was trained for another task.
            CheckpointError: It has no weights that can be read.
            TokenizerError: Its tokenizers cannot be read, or are not those of the weights.
        """
        run = find_run(run, task)
        config = run.config()
        if task is not None:
            check_task(run, config.task, task)
        damaged: list[str] = []
        candidates = list_weights(run.weights_folder, checkpoint, damaged.append)
        if not candidates:
            reason = f" that can be read: {damaged[0]}" if damaged else ""
            hint = f"train first (ptenmt train --config CONFIG --run {run.path}), or restore them from a copy"
            raise CheckpointError(f"no weights in {run.path}{reason}", hint)
        for message in damaged:
            on_warning(f"{message}; using {candidates[0].file.name} instead")
        tokenizers = load_tokenizers(run.tokenizer_folder)
        check_tokenizers(run, candidates)
        return cls(run, config, tokenizers, candidates[0], on_warning)

    @property
    def alignment_layer(self) -> int:
        """The decoder layer, counted from 1, whose cross-attention shows which words belong together.

        Training chooses it on the validation pairs (``ptenmt.inspection.alignment.choose_layer``).
        """
        default = default_alignment_layer(self.config.model.num_decoder_layers)
        return self.run.facts().get("alignment_layer") or default

    @property
    def output_ids(self) -> list[int] | None:
        """The target tokens that search generates, those of the training's targets; None for all.

        Training records them when it ends (``ptenmt.train``).
        """
        return self.run.recorded_ids("output_ids")

    @cached_property
    def weights(self) -> dict[str, "np.ndarray"]:
        """All weights: float32 arrays by Keras path.

        Raises CheckpointError if they cannot be read, do not belong to the run's config, or were replaced by
        a training since this object was made.
        """
        info, arrays = read_weights(self.info.file)
        if info.checksum != self.info.checksum:
            raise CheckpointError(
                f"{self.info.file} was replaced by a running training", "load the run again"
            )
        if info.model != model_fingerprint(self.config.model):
            raise CheckpointError(
                f"{self.info.file} does not fit {self.run.path / 'config.yaml'}",
                "restore the run's own config.yaml",
            )
        return arrays

    @cached_property
    def numpy_model(self) -> "NumpyTransformer | NumpyNextWord":
        """The model in NumPy, for one forward pass without TensorFlow."""
        from ptenmt.model.numpy_transformer import NumpyNextWord, NumpyTransformer

        kind = NumpyTransformer if self.config.task == "translation" else NumpyNextWord
        return kind(self.config.model, self.weights)

    @cached_property
    def keras_model(self) -> "TrainableModel":
        """The Keras model; raises PtenmtError if TensorFlow is not installed."""
        load_tensorflow()
        weights = self.weights
        model = new_keras_model(self.config, self.tokenizers.vocabulary_sizes)
        assign_weights(model, weights, self.info.file)
        return model


def new_keras_model(config: Config, sizes: tuple[int, int], dtype: Any = None) -> "TrainableModel":
    """The model of a config's task, built, with initial weights; ``sizes`` are those of the vocabularies."""
    from ptenmt.model.transformer import NextWordModel, Transformer

    if config.task == "translation":
        return Transformer(config.model, *sizes, dtype=dtype)
    return NextWordModel(config.model, sizes[0], dtype=dtype)


def check_tokenizers(run: Run, candidates: Sequence[WeightsInfo]) -> None:
    """Raise TokenizerError if a run's tokenizers are not those of its weights, as far as it is recorded."""
    found = tokenizer_fingerprint(run.tokenizer_folder)
    if any(info.tokenizer not in ("", found) for info in candidates):
        raise TokenizerError(
            f"{run.tokenizer_folder} is the tokenizer of another model, not of the weights in {run.path}",
            "copy the whole run folder again from where it was trained",
        )


def assign_weights(model: Any, weights: Mapping[str, "np.ndarray"], file: Path) -> None:
    """Assign arrays by Keras path to a built model; raises CheckpointError if ``file`` is of another one."""
    for variable in model.trainable_variables:
        array = weights.get(variable.path)
        if array is None or array.shape != tuple(variable.shape):
            raise CheckpointError(
                f"{file} does not fit the model: {variable.path}",
                "use the version of ptenmt that wrote it, or train again with --fresh",
            )
        variable.assign(array)


def ctranslate2_model(trained: TrainedModel) -> CTranslate2Model:
    """Load a run's model for translating from the cache, or convert its weights and fill the cache.

    Raises ExportError if CTranslate2 cannot express the model, CheckpointError if its weights are damaged.
    """
    config, layer, output_ids = trained.config.model, trained.alignment_layer, trained.output_ids
    check_ctranslate2(config)
    folder = trained.run.ctranslate2_folder
    made_from: dict[str, Any] = {"weights": trained.info.checksum, "alignment_layer": layer}
    inode = folder.stat().st_ino if folder.exists() else 0  # read first: a training may replace the folder
    names = _read_cache(folder, made_from)
    if names is not None and (VOCABULARY_MAP in names) == (output_ids is not None):
        marks, form = config.source_marks, DEFAULT_QUANTIZATION
        return CTranslate2Model(
            **made_from, quantization=form, source_marks=marks, files={}, folder=folder, inode=inode
        )
    model = convert(
        config,
        trained.weights,
        trained.tokenizers,
        trained.info.checksum,
        alignment_layer=layer,
        output_ids=output_ids,
    )
    if trained.info.file.stem != "latest":
        facts = _cache_facts(made_from, model.files)
        try:
            with folder_written_whole(folder) as new:
                for name, content in model.files.items():
                    (new / name).write_bytes(content)
                (new / _CACHE_FILE).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
            return replace(model, files={}, folder=folder, inode=folder.stat().st_ino)
        except OSError as error:
            logger.info("cannot write %s, keeping the model in memory: %s", folder, error)
    return model


def _read_cache(folder: Path, made_from: Mapping[str, Any]) -> Collection[str] | None:
    """The names of the cached files, if they are whole and of this origin."""
    try:
        facts = json.loads((folder / _CACHE_FILE).read_text(encoding="utf-8"))
        files = {name: (folder / name).read_bytes() for name in facts["files"]}
        wanted = _cache_facts(made_from, files)
        return files.keys() if all(facts[name] == value for name, value in wanted.items()) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _cache_facts(made_from: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """What the cache says of itself: its origin, and size and CRC-32 of each file."""
    checksums = {name: [len(content), zlib.crc32(content)] for name, content in files.items()}
    return {"format": _CACHE_FORMAT, **made_from, "files": checksums}
