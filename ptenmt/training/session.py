"""Training a run from its config: data, tokenizers, model, and then the loop."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from ptenmt.events import CorpusReady, Event, Stopped, TrainingStarted, Warned
from ptenmt.model import Transformer
from ptenmt.runs import Run, run_path, set_aside
from ptenmt.tokenizers import TokenizerPair, load_tokenizers
from ptenmt.training.schedule import num_warmup_steps
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
        on_event: Told everything that happens.
        on_download: Told about the download of a data set or tokenizer that this machine lacks.

    Raises:
        OutputError: The folder cannot be written.
        RunError: The folder holds something else, or a run that these options do not fit.
        DownloadError: A data set or tokenizer is missing and cannot be fetched.
        DataError: The pairs cannot be read, or none is left.
        TokenizerError: The tokenizer cannot be trained or loaded.
        CheckpointError: A checkpoint cannot be written, or none of those there can be read.
    """
    directory = Run(run_path(run))
    directory.check_writable()
    with directory.locked():
        return _train(directory, config, fresh, on_event, on_download)


def _train(
    run: Run,
    config: Config,
    fresh: bool,
    on_event: Callable[[Event], None],
    on_download: OnProgress | None,
) -> TrainingResult:
    """Train a run that nobody else is training."""
    resuming = _check_folder(run, config, fresh)
    tokenizer_options = fetch_sources(config, on_download)
    corpus = load_corpus(config.data, config.seed)
    if resuming:
        _check_data(run, corpus)
        tokenizers = load_tokenizers(run.tokenizer_folder)
    else:
        languages = (config.data.source_language, config.data.target_language)
        cache = corpus_cache(config.data.cache_dir)
        tokenizers = learn_tokenizers(tokenizer_options, corpus.train, languages, cache)
    if fresh and run.path.exists():
        on_event(Warned(message=f"the run so far is kept as {set_aside(run)}"))
    trainer, facts = _build_trainer(run, config, corpus, tokenizers, on_event)
    with _stopping_on_signals(trainer) as signals:
        for event in trainer.fit():
            if isinstance(event, TrainingStarted) and event.epoch < event.epochs:
                run.write(config, facts)
                if not resuming:
                    tokenizers.save(run.tokenizer_folder)
            on_event(event)
    return TrainingResult(
        run=run.path,
        history=run.history(),
        stopped_by=signals[0] if signals and isinstance(event, Stopped) else None,
    )


def _check_folder(run: Run, config: Config, fresh: bool) -> bool:
    """Whether there is a checkpoint in the run's folder from which this config may, and is to, go on."""
    if not (run.path / "run.json").exists():
        if run.path.is_dir() and any(not file.name.startswith(".") for file in run.path.iterdir()):
            raise RunError(f"{run.path} is not empty and not a run", "choose another name with --run")
        return False
    if fresh:
        return False
    differences = fixed_differences(config, run.config())
    if not run.checkpoints():
        return False
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


def _build_trainer(
    run: Run,
    config: Config,
    corpus: Corpus,
    tokenizers: TokenizerPair,
    on_event: Callable[[Event], None],
) -> tuple[Trainer, dict[str, Any]]:
    """The trainer, and what ``run.json`` is to say."""
    sizes = tokenizers.source.vocabulary_size, tokenizers.target.vocabulary_size
    longest = config.model.max_positions
    train_pairs, train_cut = encode_training_pairs(
        tokenizers, corpus.train, longest, config.tokenizer.sampling, corpus_cache(config.data.cache_dir)
    )
    validation_pairs, validation_cut = encode_pairs(tokenizers, corpus.validation, longest)
    on_event(
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
    model = Transformer(config.model, *sizes)
    model.build_weights()
    held_out = {"validation": corpus.validation, "test": corpus.test}
    facts = {
        "data": {"train": {"pairs": len(corpus.train), "fingerprint": corpus.train.fingerprint}}
        | {
            name: {"pairs": len(pairs), "fingerprint": fingerprint(pairs)} for name, pairs in held_out.items()
        },
        "removed": corpus.removed,
        "vocabulary_sizes": sizes,
        "parameters": model.count_params(),
    }
    validator = Validator(config, model, tokenizers, corpus.validation, validation_pairs)
    plan = BatchPlan(train_pairs, config.batch, config.seed)
    num_steps = len(plan) * config.training.epochs
    warmup = num_warmup_steps(config.training, num_steps)
    if num_steps < warmup:
        on_event(
            Warned(
                message=f"the learning rate climbs for training.warmup_steps={warmup:,} steps, but "
                f"{config.training.epochs} epochs have {num_steps:,} only: the model may learn little"
            )
        )
    return Trainer(config, run, model, plan, validator), facts


@contextmanager
def _stopping_on_signals(trainer: Trainer) -> Iterator[list[int]]:
    """Let the first SIGINT or SIGTERM stop the trainer after its step; gives the list it is put into."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def handle(number: int, _frame: Any) -> None:
        received.append(number)
        for known, handler in before.items():
            signal.signal(known, handler)
        trainer.stop()

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # What a background job was told to ignore, it goes on ignoring.
    before = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, handle)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
