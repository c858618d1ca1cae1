"""Inputs of a training or a dry run: data, tokenizers, batches, model."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from ptenmt.config import Config
from ptenmt.config.loading import fixed_differences, flat_options, show_value
from ptenmt.config.schedule import num_steps, num_warmup_steps
from ptenmt.data.augmentation import tokenizer_symbols
from ptenmt.data.batches import BatchPlan
from ptenmt.data.corpora import fetch_corpora
from ptenmt.data.store import corpus_cache
from ptenmt.data.text import preparation_differences
from ptenmt.errors import OnDownload, RunError
from ptenmt.runs import UNITS, Run, check_task, find_run
from ptenmt.runs.trained_model import TrainedModel, assign_weights, check_tokenizers, new_keras_model
from ptenmt.runs.weights import list_weights
from ptenmt.tokenizers import require_symbols
from ptenmt.training.events import Event, Warned
from ptenmt.training.input_pipeline import num_epoch_steps
from ptenmt.training.next_word_task import NextWordTask
from ptenmt.training.task import Task
from ptenmt.training.translation_task import TranslationTask

TASKS: dict[str, Any] = {"translation": TranslationTask, "next-word": NextWordTask}
_ORIGINS = frozenset({"imported_from", "inherited_output_ids"})
"""Facts of ``run.json`` that hold for what starts from a run, too."""
_TOKENIZER_OPTIONS = ("kind", "vocabulary_size", "shared", "algorithm", "punctuation", "order")


class TrainingInputs:
    """Validates a training's inputs and reads its data; writes nothing into the run.

    Arguments and errors are those of ``train``.
    """

    def __init__(
        self,
        config: Config,
        run: Run,
        fresh: bool,
        init_from: str | Path | None,
        on_event: Callable[[Event], None],
        on_download: OnDownload | None,
    ) -> None:
        self.config = config
        self.run = run
        self.on_event = on_event
        self.is_resumed = is_resumable(run, config, fresh)
        self._warm_start: TrainedModel | None = None
        self.initial_weights = ""
        """Checksum of the weights of another run that the training starts from."""
        tokenizers = run.tokenizer_folder if self.is_resumed else None
        if init_from is not None and self.is_resumed:
            self.warn(f"{run.path} resumes from its own checkpoint; --init-from is for new runs")
        elif init_from is not None:
            self._warm_start = load_warm_start(init_from, config, run, self.warn)
            self.initial_weights = self._warm_start.info.checksum
            tokenizers = self._warm_start.run.tokenizer_folder
        cache = corpus_cache(config.data.cache_dir)
        self.task: Task = TASKS[config.task].load(config, tokenizers, cache, on_download)
        if self.is_resumed:
            check_tokenizers(run, list_weights(run.weights_folder, "latest"))
            _check_data(run, self.task)

    def build(self, strategy: tf.distribute.Strategy) -> tuple[Any, BatchPlan, dict[str, Any]]:
        """Tokenize the data, plan their batches, and build the model under the strategy.

        Returns the model, with initial weights or those of ``init_from``; batches; facts for ``run.json``.
        """
        config, task = self.config, self.task
        examples, ready = task.encode()
        self.on_event(ready)
        keras.utils.set_random_seed(config.seed)
        with strategy.scope():
            policy = keras.DTypePolicy(config.machine.precision)
            model = new_keras_model(config, task.tokenizers.vocabulary_sizes, policy)
        plan = BatchPlan(examples, config.batch, config.seed, task.mixture)
        steps_per_epoch = num_epoch_steps(plan, config.batch.accumulate)
        self._check_schedule(steps_per_epoch)
        facts = self._initialize(model) | {
            "data": {
                name: {UNITS[config.task]: split.size, "fingerprint": split.fingerprint}
                for name, split in task.splits.items()
            },
            "removed": ready.removed,
            "vocabulary_sizes": [*task.tokenizers.vocabulary_sizes],
            "parameters": model.count_params(),
            "steps_per_epoch": steps_per_epoch,
        }
        if "corpora" not in facts and (corpora := fetch_corpora(config.data)):
            facts["corpora"] = corpora
        return model, plan, facts

    def warn(self, message: str) -> None:
        """Emit a warning."""
        self.on_event(Warned(message=message))

    def _initialize(self, model: Any) -> dict[str, Any]:
        """Assign the weights of a warm start, if there is one; returns the facts that the run has already."""
        if (trained := self._warm_start) is None:
            return self.run.facts() if self.is_resumed else {}
        depths = _depths(self.config, trained.config)
        for stack, (new, old) in depths.items():
            if new < old:
                self.warn(f"the {stack} starts from {new} of the {old} layers of {trained.run.path}")
        assign_weights(model, _kept_layers(trained.weights, depths), trained.info.file)
        self._warm_start = None  # its weights take memory
        facts = trained.run.facts()
        origin = {name: facts[name] for name in _ORIGINS & facts.keys()}
        if trained.config.data.languages == self.config.data.languages and "output_ids" in facts:
            origin["inherited_output_ids"] = facts["output_ids"]
        return origin | {"initialized_from": str(trained.info.file.absolute())}

    def _check_schedule(self, steps_per_epoch: int) -> None:
        """Warn of a learning rate that never reaches its peak, or that a changed length changes."""
        options = self.config.training
        before = self.run.config() if self.is_resumed else self.config
        steps, steps_before = (
            num_steps(config.training, steps_per_epoch) for config in (self.config, before)
        )
        follows_end = options.schedule == "cosine" or options.warmup_fraction is not None
        if follows_end and steps != steps_before:
            self.warn(
                f"the training now has {steps:,} steps in all, not {steps_before:,}: the learning rate "
                "follows the new schedule from here"
            )
        warmup = num_warmup_steps(options, steps)
        if steps < warmup:
            self.warn(
                f"warm-up takes training.warmup_steps={warmup:,} steps, but the training has only {steps:,} "
                f"in all: the model may learn little; try training.warmup_steps={max(steps // 5, 1)}"
            )


def is_resumable(run: Run, config: Config, fresh: bool) -> bool:
    """Whether the run has a checkpoint to resume from; RunError if the config or the folder does not fit."""
    if not (run.path / "run.json").exists():
        if run.path.is_dir() and any(not file.name.startswith(".") for file in run.path.iterdir()):
            raise RunError(f"{run.path} is not empty and not a run", "choose another name with --run")
        return False
    if fresh:
        return False
    facts = run.facts()
    if "averaged_from" in facts or ("imported_from" in facts and "initialized_from" not in facts):
        kind = "an average of checkpoints" if "averaged_from" in facts else "an imported model"
        raise RunError(
            f"{run.path} is {kind}, which cannot be resumed",
            f"start another run with its weights: --init-from {run.path} --run NAME",
        )
    if run.checkpoints() and isinstance(facts.get("steps_per_epoch"), dict):
        raise RunError(
            f"{run.path} was trained by an older version in stages, which this one has not",
            f"start another run with its weights: --init-from {run.path} --run NAME",
        )
    if run.checkpoints() and (differences := fixed_differences(config, run.config())):
        raise RunError(
            f"{run.path} was trained with other options: {'; '.join(differences)}",
            "restore them, train beside it with --run NAME, or start over with --fresh",
        )
    return bool(run.checkpoints())


def _check_data(run: Run, task: Task) -> None:
    """Refuse to resume with other data; with other validation data the best score means nothing."""
    for name in ("train", "validation"):
        if run.data_fingerprint(name) != task.splits[name].fingerprint:
            what = "was trained" if name == "train" else "is validated"
            raise RunError(
                f"{run.path} {what} on other data than its config now reads",
                "restore the data, their weights and tags, train beside it with --run NAME, from its weights "
                f"with --init-from {run.path}, or use --fresh",
            )


def load_warm_start(
    name: str | Path, config: Config, run: Run, on_warning: Callable[[str], None]
) -> TrainedModel:
    """Load the run that ``--init-from`` names.

    RunError or TokenizerError if its task, tokenizers, sizes or direction do not fit the config, which may
    have other rates of dropout, fewer layers, and the reverse direction if all embeddings are shared.
    """
    other = find_run(name)
    if other.path.absolute() == run.path.absolute():
        raise RunError(
            f"{run.path} cannot start from its own weights", "choose another name for the new run: --run NAME"
        )
    before = other.config()
    check_task(other, before.task, config.task)
    _check_warm_start(other, before, config)
    if config.task == "translation":
        direction = {
            name: getattr(config.data, name) for name in ("source_language", "target_language", "reverse")
        }
        if differences := preparation_differences(replace(before.data, **direction), config.data):
            on_warning(f"{other.path} learned from text of another form: {'; '.join(differences)}")
    trained = TrainedModel.load(other, on_warning=on_warning)
    require_symbols(trained.tokenizers, tokenizer_symbols(config.data), other.tokenizer_folder)
    return trained


def _check_warm_start(other: Run, before: Config, config: Config) -> None:
    """Raise RunError if the weights of another run do not fit a config; ``before`` is that run's."""
    wanted, given = flat_options(config), flat_options(before)
    must_agree = {option for option in wanted if option.startswith("model.") and "dropout" not in option}
    must_agree |= {f"tokenizer.{name}" for name in _TOKENIZER_OPTIONS}
    must_agree -= {f"model.{name}_layers" for name in ("num", "encoder", "decoder")}
    for stack, (new, old) in _depths(config, before).items():
        option = f"model.{stack}_layers"
        wanted[option], given[option] = new, min(new, old)
        must_agree.add(option)
    if differing := [option for option in wanted if option in must_agree and wanted[option] != given[option]]:
        old_values = {option: show_value(given[option]) for option in differing}
        listed = [f"{option}: {old} → {show_value(wanted[option])}" for option, old in old_values.items()]
        raise RunError(
            f"the config's model or tokenizer options differ from those of {other.path}: {'; '.join(listed)}",
            "use those of the run: "
            + " ".join(f"--set {option}={old}" for option, old in old_values.items()),
        )
    languages, other_languages = config.data.languages, before.data.languages
    is_reverse = languages == other_languages[::-1] and config.task == "translation"
    if is_reverse and not (config.model.tied_embeddings == "all" and config.tokenizer.shared):
        raise RunError(
            f"{other.path} translates {'→'.join(other_languages)}, not {'→'.join(languages)}, "
            "without shared embeddings",
            "train without --init-from, or both runs with model.tied_embeddings=all",
        )


def _depths(config: Config, before: Config) -> dict[str, tuple[int, int]]:
    """The numbers of layers of the stacks of a model, each now and before."""
    new, old = config.model, before.model
    depths = {"encoder": (new.num_encoder_layers, old.num_encoder_layers)}
    if config.task == "translation":
        depths["decoder"] = (new.num_decoder_layers, old.num_decoder_layers)
    return depths


def _kept_layers(weights: Mapping[str, Any], depths: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Weights for stacks of fewer layers: of evenly spaced ones, the first and the last included.

    A single layer is the first (Shleifer and Rush 2020, "Pre-trained Summarization Distillation").
    """
    kept = dict(weights)
    for stack, (new, old) in depths.items():
        for number in range(new):
            source = round(number * (old - 1) / max(1, new - 1))
            before, after = (f"/{stack}/block{layer + 1}/" for layer in (source, number))
            kept |= {path.replace(before, after): array for path, array in weights.items() if before in path}
    return kept
