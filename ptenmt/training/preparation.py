"""What a training, or a rehearsal of one, begins with: data, tokenizers, model, batches."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from ptenmt.config import Config
from ptenmt.config.loading import fixed_differences
from ptenmt.data.batches import BatchPlan
from ptenmt.data.cache import corpus_cache
from ptenmt.data.download import OnProgress
from ptenmt.errors import RunError
from ptenmt.events import Event, Warned
from ptenmt.runs import Run
from ptenmt.schedule import num_warmup_steps
from ptenmt.training.input_pipeline import num_steps
from ptenmt.training.model_selection import num_total_steps
from ptenmt.training.next_word_task import NextWordTask
from ptenmt.training.origin import Origin
from ptenmt.training.task import Task
from ptenmt.training.translation_task import TranslationTask

TASKS = {"translation": TranslationTask, "next-word": NextWordTask}


@dataclass(frozen=True, kw_only=True)
class Material:
    """What is read from disk."""

    is_resumed: bool
    """Whether the run has a checkpoint from which the training is to go on."""
    origin: Origin | None
    """Another run that it is to begin with."""
    task: Task
    """The data, and what is to be learnt from them."""


@dataclass(frozen=True, kw_only=True)
class Built:
    """What is made of that."""

    model: Any
    """With initial weights, or the origin's."""
    plan: BatchPlan
    facts: dict[str, Any]
    """What ``run.json`` is to say of data and model."""


class Preparation:
    """Checks that a training can take place, and makes all that its loop needs; writes nothing into the run.

    Args:
        config: What to train on, and how.
        run: Where.
        on_event: Told what is found.
        on_download: Told about downloads.
    """

    def __init__(
        self,
        config: Config,
        run: Run,
        on_event: Callable[[Event], None],
        on_download: OnProgress | None,
    ) -> None:
        self.config = config
        self.run = run
        self.on_event = on_event
        self._on_download = on_download
        self._cache = corpus_cache(config.data.cache_dir)

    def load(self, fresh: bool, init_from: str | Path | None) -> Material:
        """Read the data and make or find their tokenizers (see ``train`` for the arguments)."""
        config, run = self.config, self.run
        resuming = _check_folder(run, config, fresh)
        origin = None if resuming or init_from is None else Origin(init_from, config, run)
        if resuming and init_from is not None:
            self.warn(f"{run.path} goes on from its own checkpoint; --init-from is for its beginning alone")
        known = run if resuming else origin
        folder = None if known is None else known.tokenizer_folder
        task: Task = TASKS[config.task].load(config, folder, self._cache, self._on_download)  # type: ignore[attr-defined]
        if resuming:
            _check_data(run, task)
        return Material(is_resumed=resuming, origin=origin, task=task)

    def build(self, material: Material, strategy: tf.distribute.Strategy) -> Built:
        """Tokenise the data, plan their batches, build the model where the strategy wants it."""
        config, task = self.config, material.task
        examples, ready = task.encode()
        self.on_event(ready)
        keras.utils.set_random_seed(config.seed)
        with strategy.scope():
            model = task.new_model()
        plan = BatchPlan(examples, config.batch, config.seed)
        steps_per_epoch = num_steps(len(plan), config.batch.accumulate)
        facts = _facts(task, model) | {"steps_per_epoch": steps_per_epoch} | self._beginning(material, model)
        self._check_schedule(steps_per_epoch, self.run.config() if material.is_resumed else config)
        return Built(model=model, plan=plan, facts=facts)

    def warn(self, message: str) -> None:
        """Tell the user something that does not stop the training."""
        self.on_event(Warned(message=message))

    def _beginning(self, material: Material, model: Any) -> dict[str, Any]:
        """Take over the origin's weights, if there is one, and tell which; a resumed run knows of its own."""
        name = "initialised_from"
        if material.origin is not None:
            return {name: str(material.origin.restore(model, self.warn).absolute())}
        known = self.run.facts() if material.is_resumed else {}
        return {name: known[name]} if name in known else {}

    def _check_schedule(self, steps_per_epoch: int, before: Config) -> None:
        """Warn of a learning rate that will not reach its peak, or goes another way than it would have."""
        options = self.config.training
        steps, steps_before = (num_total_steps(each, steps_per_epoch) for each in (self.config, before))
        follows_end = options.schedule == "cosine" or options.warmup_fraction is not None
        if follows_end and steps != steps_before:
            self.warn(
                f"the whole training has {steps:,} steps now, not {steps_before:,}: from here the learning "
                "rate goes as if it had always been so"
            )
        warmup = num_warmup_steps(options, steps)
        if steps < warmup:
            self.warn(
                f"the learning rate climbs for training.warmup_steps={warmup:,} steps, but "
                f"the whole training has {steps:,} only: the model may learn little; try "
                f"training.warmup_steps={max(steps // 5, 1)}"
            )


def _facts(task: Task, model: Any) -> dict[str, Any]:
    """What ``run.json`` says of data and model."""
    return {
        "data": {
            name: {task.unit: split.size, "fingerprint": split.fingerprint}
            for name, split in task.splits.items()
        },
        "removed": task.removed,
        "vocabulary_sizes": [
            tokenizer.vocabulary_size for tokenizer in (task.tokenizers.source, task.tokenizers.target)
        ],
        "parameters": model.count_params(),
    }


def _check_folder(run: Run, config: Config, fresh: bool) -> bool:
    """Whether there is a checkpoint in the run's folder from which this config may, and is to, go on."""
    if not (run.path / "run.json").exists():
        if run.path.is_dir() and any(not file.name.startswith(".") for file in run.path.iterdir()):
            raise RunError(f"{run.path} is not empty and not a run", "choose another name with --run")
        return False
    if fresh:
        return False
    if "averaged_from" in run.facts():
        raise RunError(
            f"{run.path} is an average of checkpoints, which no training goes on from",
            f"begin another with its weights: --init-from {run.path} --run NAME",
        )
    if not run.checkpoints():
        return False
    differences = fixed_differences(config, run.config())
    if differences:
        raise RunError(
            f"{run.path} was trained with other options: {'; '.join(differences)}",
            "put them back, or train beside it with --run NAME, or start anew with --fresh",
        )
    return True


def _check_data(run: Run, task: Task) -> None:
    """Refuse to go on with other data; on other validation data the best score so far means nothing."""
    for name in ("train", "validation"):
        if run.data_fingerprint(name) != task.splits[name].fingerprint:
            what = "was trained" if name == "train" else "is validated"
            raise RunError(
                f"{run.path} {what} on other {task.reads} than its config gives now",
                "put the data back, or train beside it with --run NAME, or start anew with --fresh",
            )
