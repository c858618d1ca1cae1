"""Training a run from its config: data, tokenizers, model, and then the loop."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptenmt.config import Config
from ptenmt.corpus.download import OnProgress
from ptenmt.events import CurvePoint, Event, StepDone, Stopped, TrainingStarted
from ptenmt.runs import Run, run_path, set_aside
from ptenmt.training.machine import prepare
from ptenmt.training.preparation import Material, Preparation
from ptenmt.training.signals import StopSignals
from ptenmt.training.tensorboard import TensorBoard
from ptenmt.training.trainer import Trainer
from ptenmt.training.validation import Validator


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """How a training ended."""

    run: Path
    history: list[dict[str, Any]]
    """The epochs of the run, those before a resumption included (see ``history.jsonl``)."""
    stopped_by: int | None
    """The signal that ended it early, or None if it went through all its epochs."""
    is_saved: bool
    """Whether all that was learnt is on disk: not if a signal ended it before the first step, or twice."""


def train(
    config: Config,
    run: str | Path = "default",
    *,
    fresh: bool = False,
    init_from: str | Path | None = None,
    on_event: Callable[[Event], None] = lambda _event: None,
    on_download: OnProgress | None = None,
) -> TrainingResult:
    """Train a run, or resume it from its latest checkpoint.

    In the main thread, SIGINT and SIGTERM finish the current step, save and end the training; a second
    one interrupts at once.

    Args:
        config: What to train on, and how.
        run: A path, or a name below ``checkpoints/``.
        fresh: Start anew; a run of that name is renamed, not deleted.
        init_from: A run whose weights and tokenizers a new run begins with, to learn from other data.
        on_event: Told everything that happens.
        on_download: Told about the download of a data set or tokenizer that this machine lacks.

    Raises:
        OutputError: The folder cannot be written.
        RunError: The folder holds something else, or a run that these options do not fit.
        DownloadError: A data set or tokenizer is missing and cannot be fetched.
        DataError: The pairs cannot be read, or none is left.
        TokenizerError: The tokenizer cannot be trained or loaded.
        CheckpointError: A checkpoint cannot be written, or none of those there can be read.
        TrainingError: The loss is not finite for many steps in a row.
    """
    directory = Run(run_path(run))
    directory.check_writable()
    stop = StopSignals()
    with directory.locked(), stop.heeded():
        try:
            preparation = Preparation(config, directory, on_event, on_download)
            is_stopped = _train(preparation, preparation.load(fresh, init_from), fresh, stop)
            is_saved = True
        except BaseException as error:
            # Whatever a library made of the interruption of the start, it was one.
            if stop.received is None or (stop.is_handed_over and not isinstance(error, KeyboardInterrupt)):
                raise
            is_stopped, is_saved = True, False
    return TrainingResult(
        run=directory.path,
        history=directory.history(),
        stopped_by=stop.received if is_stopped else None,
        is_saved=is_saved,
    )


def _train(preparation: Preparation, material: Material, fresh: bool, stop: StopSignals) -> bool:
    """Train, and tell whether a signal ended it early."""
    config, run = preparation.config, preparation.run
    # Without a checkpoint, best models are all that a training killed early, or a tidy user, has left.
    if run.path.exists() and (fresh or (not material.is_resumed and run.best_models())):
        preparation.warn(f"the run so far is kept as {set_aside(run)}")
    strategy = prepare(config, preparation.warn)
    built = preparation.build(material, strategy)
    validator = Validator(
        config, built.model, material.tokenizers, material.corpus.validation, built.validation_pairs
    )
    trainer = Trainer(config, run, built.model, built.plan, validator, strategy)
    board = TensorBoard(run) if config.training.tensorboard else None
    event: Event | None = None
    for event in trainer.fit():
        if isinstance(event, TrainingStarted) and not event.is_over:
            run.write(config, built.facts)
            if not material.is_resumed:
                material.tokenizers.save(run.tokenizer_folder)
        elif isinstance(event, StepDone | CurvePoint):
            stop.hand_over(trainer.stop)
        if board is not None:
            board.add(event)
        preparation.on_event(event)
    return isinstance(event, Stopped)
