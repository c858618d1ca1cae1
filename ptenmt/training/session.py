"""Training a run from its config."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ptenmt.config import Config
from ptenmt.errors import OnDownload
from ptenmt.model.ctranslate2_model import why_not_ctranslate2
from ptenmt.processes import load_tensorflow
from ptenmt.runs import History, Run, run_path, set_aside
from ptenmt.signals import StopSignals
from ptenmt.training.conversion import prepare_for_translating

load_tensorflow()  # before the next modules import it

from ptenmt.training.distributed import Workers, find_cluster, prepare  # noqa: E402
from ptenmt.training.events import Event, StepDone, Stopped, TrainingStarted, Warned  # noqa: E402
from ptenmt.training.preparation import TrainingInputs  # noqa: E402
from ptenmt.training.trainer import Trainer  # noqa: E402


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """Outcome of a training."""

    run: Path
    history: list[dict[str, Any]]
    """All validations of the run (see ``history.jsonl``)."""
    stopped_by: int | None
    """The signal that ended it; None if all steps are done, or early stopping."""
    is_saved: bool
    """Whether the final state is on disk: not if a signal ended it before the first step, or twice."""
    is_chief: bool = True
    """Whether this process wrote the run: True unless it was another worker of several."""


def train(
    config: Config,
    run: str | Path = "default",
    *,
    fresh: bool = False,
    init_from: str | Path | None = None,
    facts: Mapping[str, Any] | None = None,
    on_event: Callable[[Event], None] = lambda _event: None,
    on_download: OnDownload | None = None,
) -> TrainingResult:
    """Train a run, or resume it from its latest checkpoint, and prepare it for translating.

    After the loop the layer that aligns words is chosen, and the best weights are converted for CTranslate2.

    In the main thread, SIGINT, SIGTERM and SIGHUP (a closed terminal) finish the current step, save and end
    the training; a second one exits immediately.

    Args:
        config: The run's options.
        run: A path, or a name below ``checkpoints/``.
        fresh: Start over; an existing run of that name is renamed, not deleted.
        init_from: Warm start: a run whose weights and tokenizers a new run starts from (fine-tuning).
        facts: Further entries of ``run.json``.
        on_event: Called with every event.
        on_download: Called with the progress of a download.

    Raises:
        OutputError: The folder cannot be written.
        RunError: The folder holds something else, or a run that these options do not fit; or parts of it were
            removed during the training.
        DownloadError: A data set or tokenizer is missing and cannot be fetched.
        DataError: The pairs cannot be read, or none is left.
        TokenizerError: The tokenizer cannot be trained or loaded.
        CheckpointError: A checkpoint cannot be written, or none of those there can be read.
        TrainingError: The loss is not finite for many steps in a row, or another worker is gone.
    """
    directory = Run(run_path(run))
    cluster = find_cluster(config.machine.strategy)
    is_chief = cluster is None or cluster.index == 0

    def emit(event: Event) -> None:
        if is_chief or isinstance(event, Warned):
            on_event(event)

    stop = StopSignals()
    if is_chief:
        directory.check_writable()
    with directory.locked() if is_chief else nullcontext(), stop.installed():
        try:
            strategy = prepare(config, lambda message: emit(Warned(message=message)), cluster)
            workers = Workers(strategy, cluster)
            stop.reinstall()
            with workers.together():
                inputs = TrainingInputs(config, directory, fresh, init_from, emit, on_download)
                is_stopped = _train(inputs, fresh, workers, stop, facts or {})
            is_saved = True
        except BaseException as error:
            # During the start, a library may replace the interruption by any other error.
            if stop.received is None or (stop.on_signal and not isinstance(error, KeyboardInterrupt)):
                raise
            is_stopped, is_saved = True, False
        if is_chief and is_saved:
            directory.config()  # an error if somebody has removed the run meanwhile
    result = TrainingResult(
        run=directory.path,
        history=History(directory.path).validations(),
        stopped_by=stop.received if is_stopped else None,
        is_saved=is_saved,
        is_chief=is_chief,
    )
    if config.task == "translation" and is_chief and is_saved:
        is_finished = result.stopped_by is None  # after a signal, the user waits for the end
        prepare_for_translating(
            config, directory, lambda message: on_event(Warned(message=message)), counts_tokens=is_finished
        )
    return result


def _train(
    inputs: TrainingInputs, fresh: bool, workers: Workers, stop: StopSignals, given: Mapping[str, Any]
) -> bool:
    config, run, task = inputs.config, inputs.run, inputs.task
    _check_agreement(inputs, workers)
    model, plan, facts = inputs.build(workers.strategy)
    if workers.is_chief:
        _make_room(inputs, fresh)
    workers.gather(None)
    validator = task.validator(model)
    starts_warm = bool(inputs.initial_weights)
    trainer = Trainer(config, run, model, plan, validator, workers, validates_start=starts_warm)
    event: Event | None = None
    for event in trainer.fit():
        if isinstance(event, TrainingStarted) and not event.is_over:
            if workers.is_chief:
                _write_run(inputs, {**facts, **given})
        elif isinstance(event, StepDone):
            stop.on_stop(trainer.stop)
        inputs.on_event(event)
    is_stopped = isinstance(event, Stopped)
    if is_stopped:  # a signal to one worker stops all
        stop.received = next((number for number in workers.gather(stop.received) if number), None)
    return is_stopped


def _check_agreement(inputs: TrainingInputs, workers: Workers) -> None:
    """Check that all workers train the same model on the same data, before they build it together."""
    config, task = inputs.config, inputs.task
    sections = ("seed", "model", "batch", "training", "optimizer", "validation")
    workers.agree(
        **{name: asdict(config)[name] for name in sections},
        augment=asdict(config.data.augment),
        precision=config.machine.precision,
        training_data=task.splits["train"].fingerprint,
        mixture=task.mixture.counts,
        validation_data=task.splits["validation"].fingerprint,
        tokenizers=task.tokenizers.checksums,
        resumed=inputs.is_resumed,
        weights=inputs.initial_weights,
    )


def _make_room(inputs: TrainingInputs, fresh: bool) -> None:
    """Rename an existing run that is not resumed, now that nothing else can fail."""
    run = inputs.run
    # A training that was killed before its first checkpoint may have left best weights.
    is_unsaved = not inputs.is_resumed and run.has_weights
    if run.path.exists() and (fresh or is_unsaved):
        kept = f"the old run is kept as {set_aside(run)}"
        inputs.warn(kept if fresh else f"nothing had been saved yet: starting again at step 0; {kept}")


def _write_run(inputs: TrainingInputs, facts: dict[str, Any]) -> None:
    config, run = inputs.config, inputs.run
    if config.task == "translation" and (reason := why_not_ctranslate2(config.model)):
        inputs.warn(f"{reason}: the Keras engine will translate, which is slower")
    run.write(config, facts)
    if not inputs.is_resumed:
        inputs.task.tokenizers.save(run.tokenizer_folder)
