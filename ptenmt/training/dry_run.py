"""A rehearsal of a training: the largest step, some usual ones, some batches of validation."""

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import tensorflow as tf

from ptenmt.config import CheckpointConfig, Config
from ptenmt.data.batches import Batch, BatchPlan
from ptenmt.data.download import OnProgress
from ptenmt.events import EpochDone, Event, Scores, StepDone, ValidationStep, Warned
from ptenmt.runs import Run, run_path
from ptenmt.training.input_pipeline import num_steps
from ptenmt.training.machine import prepare
from ptenmt.training.memory import peak_device_memory, peak_memory
from ptenmt.training.model_selection import num_total_steps, num_validations
from ptenmt.training.preparation import Built, Material, Preparation
from ptenmt.training.trainer import Trainer
from ptenmt.training.workers import Workers

MOST_STEPS = 40
_ENOUGH_SECONDS = 15.0
_FEWEST_STEPS = 4


@dataclass(frozen=True, kw_only=True)
class DryRun:
    """What a training would be like."""

    is_resumed: bool
    """Whether it would go on from a checkpoint; times are for the whole training all the same."""
    unit: str
    """What the data are counted in: pairs, or windows."""
    examples: dict[str, int]
    """How many there are, by split."""
    vocabulary_sizes: list[int]
    parameters: int
    steps_per_epoch: int
    total_steps: int
    largest_batch: tuple[int, int]
    """Sentences, and the tokens that each is padded to, of the batch that needs the most memory."""
    seconds_per_step: float
    """Mean over usual batches."""
    seconds_per_validation: float
    """Of an untrained model, whose translations are longer or shorter than a trained one's."""
    validations: int
    """In the whole training."""
    peak_memory: int | None
    """Bytes that this process held at the most; None where the system does not say."""
    peak_device_memory: int | None
    """Bytes on the GPU; None without one."""

    @property
    def seconds_per_epoch(self) -> float:
        """Without validation."""
        return self.steps_per_epoch * self.seconds_per_step

    @property
    def seconds(self) -> float:
        """Of the whole training, validations included."""
        return self.total_steps * self.seconds_per_step + self.validations * self.seconds_per_validation


def dry_run(
    config: Config,
    run: str | Path = "default",
    *,
    fresh: bool = False,
    init_from: str | Path | None = None,
    on_event: Callable[[Event], None] = lambda _event: None,
    on_download: OnProgress | None = None,
) -> DryRun:
    """Rehearse a training: check config, data and tokenizers, build the model, run its largest step.

    Nothing is written into the run's folder. What training reads may be fetched and prepared: the data set,
    the published tokenizer, and the cache of token ids (``data.cache_dir``).

    Args:
        config: As for ``train``.
        run: As for ``train``.
        fresh: As for ``train``.
        init_from: As for ``train``.
        on_event: Told what is found and how far the rehearsal is.
        on_download: As for ``train``.

    Raises:
        PtenmtError: Whatever would keep ``train`` from training.
    """
    directory = Run(run_path(run))
    directory.check_writable()
    preparation = Preparation(config, directory, on_event, on_download)
    strategy = prepare(config, preparation.warn)
    material = preparation.load(fresh, init_from)
    built = preparation.build(material, strategy)
    largest = next(built.plan.batches(0))  # an epoch begins with it
    seconds_per_step = _rehearse_steps(preparation, built, largest, strategy)
    seconds_per_validation = _rehearse_validation(preparation, material, built.model)
    steps_per_epoch = num_steps(len(built.plan), config.batch.accumulate)
    steps = num_total_steps(config, steps_per_epoch)
    return DryRun(
        is_resumed=material.is_resumed,
        unit=material.task.unit,
        examples={name: split.size for name, split in material.task.splits.items()},
        vocabulary_sizes=built.facts["vocabulary_sizes"],
        parameters=built.facts["parameters"],
        steps_per_epoch=steps_per_epoch,
        total_steps=steps,
        largest_batch=(len(largest[0]), max(largest[0].shape[1], largest[1].shape[1])),
        seconds_per_step=seconds_per_step,
        seconds_per_validation=seconds_per_validation,
        validations=num_validations(config.validation, steps, steps_per_epoch),
        peak_memory=peak_memory(),
        peak_device_memory=peak_device_memory(),
    )


class _Rehearsal:
    """The batches of a rehearsal: for the first step the largest, then usual ones."""

    def __init__(self, plan: BatchPlan, largest: Batch, accumulate: int) -> None:
        self._plan = plan
        self._largest = [largest] * accumulate
        self._skipped = min(1, len(plan) - 1)
        self._usual = min(MOST_STEPS * accumulate, len(plan) - self._skipped)

    def __len__(self) -> int:
        return len(self._largest) + self._usual

    def batches(self, epoch: int, _first: int) -> Iterator[Batch]:
        """The batches of the only epoch."""
        yield from self._largest
        yield from islice(self._plan.batches(epoch, self._skipped), self._usual)


class _NoValidation:
    """Stands in for the validator while steps are rehearsed."""

    def validate(self) -> Iterator[ValidationStep | Scores]:
        """Nothing."""
        return iter(())


class _Stopwatch:
    """Times steps, but for the first that is reported: it waited for the compilation."""

    def __init__(self) -> None:
        self._marks = [(0, time.perf_counter())]

    def mark(self, step: int) -> None:
        """So many steps are done."""
        self._marks.append((step, time.perf_counter()))

    def seconds_per_step(self) -> float:
        """Over what was timed."""
        steps, seconds = self._timed()
        return seconds / steps

    def has_enough(self) -> bool:
        """Whether the mean can be relied on."""
        steps, seconds = self._timed()
        return steps >= _FEWEST_STEPS and seconds > _ENOUGH_SECONDS

    def _timed(self) -> tuple[int, float]:
        (first, started), (last, ended) = self._marks[min(1, len(self._marks) - 2)], self._marks[-1]
        return last - first, ended - started


def _rehearse_steps(
    preparation: Preparation, built: Built, largest: Batch, strategy: tf.distribute.Strategy
) -> float:
    """Learn from the largest batch and from usual ones; tell the mean seconds a step of the latter."""
    config = preparation.config
    plan = _Rehearsal(built.plan, largest, config.batch.accumulate)
    rehearsed = replace(
        config,
        training=replace(config.training, epochs=1, max_steps=None),
        validation=replace(config.validation, every_epochs=None, every_steps=None, patience=None),
        checkpoint=CheckpointConfig(),
    )
    watch = _Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(rehearsed, Run(Path(folder)), built.model, plan, _NoValidation(), Workers(strategy))
        for event in trainer.fit():
            if isinstance(event, StepDone | Warned):
                preparation.on_event(event)
            if isinstance(event, StepDone):
                watch.mark(event.step_in_epoch)
            if isinstance(event, EpochDone) or (isinstance(event, StepDone) and watch.has_enough()):
                break  # before anything is saved
    return watch.seconds_per_step()


def _rehearse_validation(preparation: Preparation, material: Material, model: Any) -> float:
    """Score part of the validation data; tell the seconds that all of them take."""
    scorer, share = material.task.rehearsal(model)
    for _ in range(2):  # the first time it waits for the compilation
        started = time.perf_counter()
        for event in scorer.validate():
            if isinstance(event, ValidationStep):
                preparation.on_event(event)
        seconds = time.perf_counter() - started
    return seconds / share
