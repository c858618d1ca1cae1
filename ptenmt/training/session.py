"""Training a run from its config: data, tokenizers, model, and then the loop."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ptenmt.config import Config
from ptenmt.ctranslate2_export import ctranslate2_model, why_not_ctranslate2
from ptenmt.data.download import OnProgress
from ptenmt.errors import PtenmtError, TrainingError
from ptenmt.events import CurvePoint, Event, StepDone, Stopped, TrainingStarted, Validated, Warned
from ptenmt.history import History
from ptenmt.runs import Run, run_path, set_aside
from ptenmt.tokenizers import TokenizerPair
from ptenmt.trained_model import TrainedModel
from ptenmt.training.cluster import find_cluster
from ptenmt.training.machine import prepare
from ptenmt.training.preparation import Material, Preparation
from ptenmt.training.signals import StopSignals
from ptenmt.training.tensorboard import TensorBoard
from ptenmt.training.trainer import Trainer
from ptenmt.training.workers import Workers
from ptenmt.weights import list_weights

SECONDS_TO_SEE = 60.0


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """How a training ended."""

    run: Path
    history: list[dict[str, Any]]
    """The validations of the run, those before a resumption included (see ``history.jsonl``)."""
    stopped_by: int | None
    """The signal that ended it early; None if all steps are done (``training.epochs``,
    ``training.max_steps``) or the patience is lost (``validation.patience``)."""
    is_saved: bool
    """Whether all that was learnt is on disk: not if a signal ended it before the first step, or twice."""
    is_chief: bool = True
    """Whether this process wrote the run, as it does unless it was one of several workers."""


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
        TrainingError: The loss is not finite for many steps in a row, or another worker is gone.
    """
    directory = Run(run_path(run))
    cluster = find_cluster(config.machine.strategy)
    is_chief = cluster is None or cluster.is_chief
    stop = StopSignals()
    with _claimed(directory) if is_chief else nullcontext(), stop.heeded():
        try:
            tell = on_event if is_chief else partial(_tell_warnings, on_event)
            preparation = Preparation(config, directory, tell, on_download)
            workers = Workers(prepare(config, preparation.warn, cluster), cluster)
            stop.renew()
            with workers.together():
                material = preparation.load(fresh, init_from)
                is_stopped = _train(preparation, material, fresh, workers, stop)
            is_saved = True
        except BaseException as error:
            # Whatever a library made of the interruption of the start, it was one.
            if stop.received is None or (stop.is_handed_over and not isinstance(error, KeyboardInterrupt)):
                raise
            is_stopped, is_saved = True, False
    return TrainingResult(
        run=directory.path,
        history=History(directory.path).validations(),
        stopped_by=stop.received if is_stopped else None,
        is_saved=is_saved,
        is_chief=is_chief,
    )


@contextmanager
def _claimed(run: Run) -> Iterator[None]:
    """Make sure that the run's folder is ours to write."""
    run.check_writable()
    with run.locked():
        yield


def _tell_warnings(on_event: Callable[[Event], None], event: Event) -> None:
    """What a worker other than the chief tells."""
    if isinstance(event, Warned):
        on_event(event)


def _agree(config: Config, material: Material, workers: Workers) -> None:
    """Make sure that all workers are to learn the same, before they build a model together."""
    sections = ("seed", "model", "batch", "training", "optimizer", "validation")
    workers.agree(
        **{name: asdict(config)[name] for name in sections},
        sampling=config.tokenizer.sampling,
        precision=config.machine.precision,
        training_data=material.task.splits["train"].fingerprint,
        validation_data=material.task.splits["validation"].fingerprint,
        tokenizers=material.task.tokenizers.checksums,
        resumed=material.is_resumed,
    )


def _set_aside(preparation: Preparation, material: Material, fresh: bool, workers: Workers) -> None:
    """Make room for a new run, now that all else is ready."""
    run = preparation.run
    # A training that was killed before its first checkpoint may have left best weights.
    is_unsaved = not material.is_resumed and run.has_weights
    if run.path.exists() and (fresh or is_unsaved) and workers.is_chief:
        kept = f"the old run is kept as {set_aside(run)}"
        preparation.warn(kept if fresh else f"nothing had been saved yet: starting again at step 0; {kept}")
    workers.gather(None)


def _train(
    preparation: Preparation, material: Material, fresh: bool, workers: Workers, stop: StopSignals
) -> bool:
    """Train, and tell whether a signal ended it early."""
    config, run, task = preparation.config, preparation.run, material.task
    _agree(config, material, workers)
    built = preparation.build(material, workers.strategy)
    _set_aside(preparation, material, fresh, workers)
    trainer = Trainer(config, run, built.model, built.plan, task.scorer(built.model, workers), workers)
    board = TensorBoard(run) if config.training.tensorboard and workers.is_chief else None
    event: Event | None = None
    for event in trainer.fit():
        if isinstance(event, TrainingStarted) and not event.is_over:
            if workers.is_chief:
                _write_beginning(preparation, material, built.facts)
            _check_shared(run, workers)
        elif isinstance(event, StepDone | CurvePoint):
            stop.hand_over(trainer.stop)
        if workers.is_chief and isinstance(event, Validated) and event.is_best:
            cache_translator(config, run, task.tokenizers, preparation.warn)
        if board is not None:
            board.add(event)
        preparation.on_event(event)
    if workers.is_chief:
        cache_translator(config, run, task.tokenizers, preparation.warn)
    is_stopped = isinstance(event, Stopped)
    if is_stopped:  # a signal to one worker stops all
        stop.received = next((number for number in workers.gather(stop.received) if number), None)
    return is_stopped


def _write_beginning(preparation: Preparation, material: Material, facts: dict[str, Any]) -> None:
    """Write what a run has before its first checkpoint."""
    config, run = preparation.config, preparation.run
    if config.task == "translation" and (reason := why_not_ctranslate2(config.model)):
        preparation.warn(f"{reason}: the Keras engine will translate, which is slower")
    run.write(config, facts)
    if not material.is_resumed:
        material.task.tokenizers.save(run.tokenizer_folder)


def cache_translator(
    config: Config, run: Run, tokenizers: TokenizerPair, warn: Callable[[str], None]
) -> None:
    """Convert the best weights so far for CTranslate2, unless that is done already; errors are warnings."""
    candidates = list_weights(run.weights_folder, "best")
    if config.task != "translation" or why_not_ctranslate2(config.model) or not candidates:
        return
    try:
        ctranslate2_model(TrainedModel(run, config, tokenizers, candidates, warn))
    except PtenmtError as error:
        warn(f"cannot convert the best weights for CTranslate2: {error.message}")


def _check_shared(run: Run, workers: Workers) -> None:
    """Make sure that all workers see the folder that the chief writes: they will go on from it one day.

    Raises:
        TrainingError: Some do not, after a while that network file systems may need.
    """
    if workers.count == 1:
        return
    written = workers.gather(run.facts()["trained"] if workers.is_chief else None)[0]
    deadline = time.monotonic() + SECONDS_TO_SEE
    while not (sees := _trained(run) == written) and time.monotonic() < deadline:
        time.sleep(1)
    if blind := [str(index) for index, sight in enumerate(workers.gather(sees)) if not sight]:
        raise TrainingError(
            f"worker {', '.join(blind)} does not see what the chief writes into {run.path.absolute()}",
            "give all workers the same folder of a shared file system with --run",
        )


def _trained(run: Run) -> Any:
    """When ``run.json`` was written."""
    return run.facts().get("trained") if (run.path / "run.json").exists() else None
