"""A dry run of a training: its first steps, which begin with the epoch's largest batch."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import tensorflow as tf

from ptenmt.config import CheckpointConfig, Config
from ptenmt.config.schedule import num_steps
from ptenmt.errors import OnDownload
from ptenmt.runs import UNITS, Run, run_path
from ptenmt.runs.weights import list_weights
from ptenmt.training.distributed import Workers, prepare
from ptenmt.training.events import Event, StepDone, Warned
from ptenmt.training.input_pipeline import num_epoch_steps
from ptenmt.training.preparation import TrainingInputs
from ptenmt.training.state import peak_memory
from ptenmt.training.trainer import Trainer

MAX_STEPS = 40
"""After the first one."""
_ENOUGH_SECONDS = 15.0
_MIN_STEPS = 4


@dataclass(frozen=True, kw_only=True)
class DryRun:
    """Sizes, memory and expected times of a training."""

    unit: str
    examples: dict[str, int]
    parameters: int
    steps_per_epoch: int
    steps_left: int
    """Of the whole training, or after the checkpoint that it would resume from."""
    largest_batch: tuple[int, int]
    """Sentences and padded length of the batch of the first epoch that needs the most memory."""
    seconds_per_step: float
    """Mean over usual batches."""
    peak_memory: int | None
    """Bytes; None where the system does not report it."""
    peak_device_memory: int | None
    """Bytes on the GPU; None without one."""

    @property
    def seconds(self) -> float:
        """Of what is left to train, without validations."""
        return self.steps_left * self.seconds_per_step


def dry_run(
    config: Config,
    run: str | Path = "default",
    *,
    fresh: bool = False,
    init_from: str | Path | None = None,
    on_event: Callable[[Event], None] = lambda _event: None,
    on_download: OnDownload | None = None,
) -> DryRun:
    """Check config, data and tokenizers, build the model, run its largest step and some usual ones.

    Nothing is written into the run's folder, which another process may be training; the training data may be
    downloaded and prepared. Arguments and errors are as in ``train``.
    """
    directory = Run(run_path(run))
    directory.check_writable()
    strategy = prepare(config, lambda message: on_event(Warned(message=message)))
    inputs = TrainingInputs(config, directory, fresh, init_from, on_event, on_download)
    model, plan, facts = inputs.build(strategy)
    steps_per_epoch = num_epoch_steps(plan, config.batch.accumulate)
    most = 1 + MAX_STEPS
    short = replace(
        config,
        training=replace(config.training, epochs=most, max_steps=most),  # an epoch may be a step
        validation=replace(config.validation, every_epochs=None, every_steps=None, patience=None),
        checkpoint=CheckpointConfig(every_epochs=most),
    )
    with tempfile.TemporaryDirectory() as folder:
        run_there, validator = Run(Path(folder)), inputs.task.validator(model)
        trainer = Trainer(short, run_there, model, plan, validator, Workers(strategy))
        seconds_per_step = _time_steps(trainer, steps_per_epoch, on_event)
    largest = next(plan.batches(0))  # which every epoch begins with
    latest = list_weights(directory.weights_folder, "latest")  # saved together with the newest checkpoint
    done = latest[0].step if inputs.is_resumed and latest else 0
    gpus = tf.config.list_logical_devices("GPU")
    return DryRun(
        unit=UNITS[config.task],
        examples={name: split.size for name, split in inputs.task.splits.items()},
        parameters=facts["parameters"],
        steps_per_epoch=steps_per_epoch,
        steps_left=max(num_steps(config.training, steps_per_epoch) - done, 0),
        largest_batch=(len(largest[0]), max(ids.shape[1] for ids in largest)),
        seconds_per_step=seconds_per_step,
        peak_memory=peak_memory(),
        peak_device_memory=tf.config.experimental.get_memory_info("GPU:0")["peak"] if gpus else None,
    )


def _time_steps(trainer: Trainer, steps_per_epoch: int, on_event: Callable[[Event], None]) -> float:
    """Train all steps or for some seconds; returns the mean seconds of all steps but the first."""
    first: tuple[int, float] | None = None
    for event in trainer.fit():
        if isinstance(event, StepDone | Warned):
            on_event(event)
        if isinstance(event, StepDone):
            step, now = (event.epoch - 1) * steps_per_epoch + event.step_in_epoch, time.perf_counter()
            first = first or (step, now)  # the first step includes the compilation
            timed, seconds = step - first[0], now - first[1]
            if step == 1 + MAX_STEPS or (timed >= _MIN_STEPS and seconds > _ENOUGH_SECONDS):
                break  # before anything is validated or saved
    return seconds / max(timed, 1)
