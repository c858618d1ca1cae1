"""Training a run from its config: data, tokenizers, model, and then the loop."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras

from ptenmt.config import Config
from ptenmt.config.files import fixed_differences
from ptenmt.corpus.batches import BatchPlan
from ptenmt.corpus.cache import corpus_cache
from ptenmt.corpus.download import OnProgress
from ptenmt.corpus.encoding import encode_pairs, encode_training_pairs, learn_tokenizers
from ptenmt.corpus.pairs import Corpus, fingerprint, load_corpus
from ptenmt.corpus.sources import fetch_sources
from ptenmt.errors import RunError
from ptenmt.events import CorpusReady, Event, StepDone, Stopped, TrainingStarted, Warned
from ptenmt.model import Transformer
from ptenmt.runs import Run, run_path, set_aside
from ptenmt.tokenizers import TokenizerPair, load_tokenizers
from ptenmt.training.judge import total_steps
from ptenmt.training.machine import prepare
from ptenmt.training.origin import Origin
from ptenmt.training.schedule import num_warmup_steps
from ptenmt.training.signals import StopSignals
from ptenmt.training.trainer import Trainer
from ptenmt.training.validation import Validator

NUM_SHOWN_PAIRS = 3


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """How a training ended."""

    run: Path
    history: list[dict[str, Any]]
    """The epochs of the run, those before a resumption included (see ``history.jsonl``)."""
    stopped_by: int | None
    """The signal that ended it early, or None if it went through all its epochs."""


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
            session = _Session(config, directory, on_event, on_download)
            is_stopped = session.train(stop, fresh, init_from)
        except BaseException as error:
            # Whatever a library made of the interruption of the start, it was one.
            if stop.received is None or (stop.is_handed_over and not isinstance(error, KeyboardInterrupt)):
                raise
            is_stopped = True
    return TrainingResult(
        run=directory.path, history=directory.history(), stopped_by=stop.received if is_stopped else None
    )


class _Session:
    """A training of a run that nobody else is training.

    Args:
        config: What to train on, and how.
        run: Where.
        on_event: Told everything that happens.
        on_download: Told about downloads.
    """

    def __init__(
        self,
        config: Config,
        run: Run,
        on_event: Callable[[Event], None],
        on_download: OnProgress | None,
    ) -> None:
        self._config = config
        self._run = run
        self._on_event = on_event
        self._on_download = on_download
        self._cache = corpus_cache(config.data.cache_dir)

    def train(self, stop: StopSignals, fresh: bool, init_from: str | Path | None) -> bool:
        """Train, and tell whether a signal ended it early."""
        config, run = self._config, self._run
        resuming = _check_folder(run, config, fresh)
        origin = None if resuming or init_from is None else Origin(init_from, config, run)
        if resuming and init_from is not None:
            self._warn(f"{run.path} goes on from its own checkpoint; --init-from is for its beginning alone")
        tokenizer_options = fetch_sources(config, self._on_download)
        corpus = load_corpus(config.data, config.seed)
        if resuming:
            _check_data(run, corpus)
        languages = (config.data.source_language, config.data.target_language)
        known = run if resuming else origin
        tokenizers = (
            learn_tokenizers(tokenizer_options, corpus.train, languages, self._cache)
            if known is None
            else load_tokenizers(known.tokenizer_folder)
        )
        # Without a checkpoint, best models are all that a training killed early, or a tidy user, has left.
        if run.path.exists() and (fresh or (not resuming and run.best_models())):
            self._warn(f"the run so far is kept as {set_aside(run)}")
        strategy = prepare(config, self._warn)
        with strategy.scope():
            trainer, facts = self._build_trainer(corpus, tokenizers, origin)
            event: Event | None = None
            for event in trainer.fit():
                if isinstance(event, TrainingStarted) and not event.is_over:
                    run.write(config, facts)
                    if not resuming:
                        tokenizers.save(run.tokenizer_folder)
                elif isinstance(event, StepDone):
                    stop.hand_over(trainer.stop)
                self._on_event(event)
        return isinstance(event, Stopped)

    def _warn(self, message: str) -> None:
        self._on_event(Warned(message=message))

    def _build_trainer(
        self, corpus: Corpus, tokenizers: TokenizerPair, origin: Origin | None
    ) -> tuple[Trainer, dict[str, Any]]:
        """The trainer, and what ``run.json`` is to say."""
        config = self._config
        sizes = tokenizers.source.vocabulary_size, tokenizers.target.vocabulary_size
        longest = config.model.max_positions
        train_pairs, train_cut = encode_training_pairs(
            tokenizers, corpus.train, longest, config.tokenizer.sampling, self._cache
        )
        validation_pairs, validation_cut = encode_pairs(tokenizers, corpus.validation, longest)
        self._on_event(
            CorpusReady(
                train=len(corpus.train),
                validation=len(corpus.validation),
                removed=corpus.removed,
                shortened=train_cut + validation_cut,
                vocabulary_sizes=sizes,
                samples=[corpus.train[row] for row in range(min(NUM_SHOWN_PAIRS, len(corpus.train)))],
            )
        )
        keras.utils.set_random_seed(config.seed)
        model = Transformer(config.model, *sizes, dtype=keras.DTypePolicy(config.machine.precision))
        model.build_weights()
        facts = _facts(corpus, sizes, model) | self._beginning(origin, model)
        validator = Validator(config, model, tokenizers, corpus.validation, validation_pairs)
        plan = BatchPlan(train_pairs, config.batch, config.seed)
        self._check_warmup(len(plan))
        return Trainer(config, self._run, model, plan, validator), facts

    def _beginning(self, origin: Origin | None, model: Transformer) -> dict[str, Any]:
        """Take over the origin's weights, if there is one, and tell which; a resumed run knows of its own."""
        if origin is not None:
            return origin.restore(model, self._warn)
        name = "initialised_from"
        resuming = bool(self._run.checkpoints())
        return {name: self._run.facts()[name]} if resuming and name in self._run.facts() else {}

    def _check_warmup(self, num_batches: int) -> None:
        """Warn of a learning rate that will not reach its peak."""
        config = self._config
        steps = total_steps(config, -(-num_batches // config.batch.accumulate))
        warmup = num_warmup_steps(config.training, steps)
        if steps < warmup:
            self._warn(
                f"the learning rate climbs for training.warmup_steps={warmup:,} steps, but "
                f"the whole training has {steps:,} only: the model may learn little"
            )


def _facts(corpus: Corpus, sizes: tuple[int, int], model: Transformer) -> dict[str, Any]:
    """What ``run.json`` says of data and model."""
    held_out = {"validation": corpus.validation, "test": corpus.test}
    return {
        "data": {"train": {"pairs": len(corpus.train), "fingerprint": corpus.train.fingerprint}}
        | {
            name: {"pairs": len(pairs), "fingerprint": fingerprint(pairs)} for name, pairs in held_out.items()
        },
        "removed": corpus.removed,
        "vocabulary_sizes": sizes,
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


def _check_data(run: Run, corpus: Corpus) -> None:
    if run.data_fingerprint("train") != corpus.train.fingerprint:
        raise RunError(
            f"{run.path} was trained on other sentence pairs than its config gives now",
            "put the data back, or train beside it with --run NAME, or start anew with --fresh",
        )
