"""What a training, or a rehearsal of one, begins with: sentence pairs, tokenizers, model, batches."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from ptenmt.config import Config
from ptenmt.config.files import fixed_differences
from ptenmt.corpus.batches import BatchPlan, EncodedPairs
from ptenmt.corpus.cache import corpus_cache
from ptenmt.corpus.download import OnProgress
from ptenmt.corpus.encoding import encode_pairs, encode_training_pairs, learn_tokenizers
from ptenmt.corpus.pairs import Corpus, fingerprint, load_corpus
from ptenmt.corpus.sources import fetch_sources
from ptenmt.errors import RunError
from ptenmt.events import CorpusReady, Event, Warned
from ptenmt.model import Transformer
from ptenmt.runs import Run
from ptenmt.schedule import num_warmup_steps
from ptenmt.tokenizers import TokenizerPair, load_tokenizers
from ptenmt.training.feed import num_steps
from ptenmt.training.judge import total_steps
from ptenmt.training.origin import Origin

NUM_SHOWN_PAIRS = 3


@dataclass(frozen=True, kw_only=True)
class Material:
    """What is read from disk."""

    is_resumed: bool
    """Whether the run has a checkpoint from which the training is to go on."""
    origin: Origin | None
    """Another run that it is to begin with."""
    corpus: Corpus
    tokenizers: TokenizerPair


@dataclass(frozen=True, kw_only=True)
class Built:
    """What is made of that."""

    model: Transformer
    """With initial weights, or the origin's."""
    validation_pairs: EncodedPairs
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
        """Read the sentence pairs and make or find their tokenizers (see ``train`` for the arguments)."""
        config, run = self.config, self.run
        resuming = _check_folder(run, config, fresh)
        origin = None if resuming or init_from is None else Origin(init_from, config, run)
        if resuming and init_from is not None:
            self.warn(f"{run.path} goes on from its own checkpoint; --init-from is for its beginning alone")
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
        return Material(is_resumed=resuming, origin=origin, corpus=corpus, tokenizers=tokenizers)

    def build(self, material: Material, strategy: tf.distribute.Strategy) -> Built:
        """Tokenise the pairs, plan their batches, build the model where the strategy wants it."""
        config, corpus, tokenizers = self.config, material.corpus, material.tokenizers
        sizes = tokenizers.source.vocabulary_size, tokenizers.target.vocabulary_size
        longest = config.model.max_positions
        train_pairs, train_cut = encode_training_pairs(
            tokenizers, corpus.train, longest, config.tokenizer.sampling, self._cache
        )
        validation_pairs, validation_cut = encode_pairs(tokenizers, corpus.validation, longest)
        self.on_event(
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
        with strategy.scope():
            model = Transformer(config.model, *sizes, dtype=keras.DTypePolicy(config.machine.precision))
            model.build_weights()
        plan = BatchPlan(train_pairs, config.batch, config.seed)
        steps_per_epoch = num_steps(len(plan), config.batch.accumulate)
        steps = {"steps_per_epoch": steps_per_epoch}
        facts = _facts(corpus, sizes, model) | steps | self._beginning(material, model)
        self._check_schedule(steps_per_epoch, self.run.config() if material.is_resumed else config)
        return Built(model=model, validation_pairs=validation_pairs, plan=plan, facts=facts)

    def warn(self, message: str) -> None:
        """Tell the user something that does not stop the training."""
        self.on_event(Warned(message=message))

    def _beginning(self, material: Material, model: Transformer) -> dict[str, Any]:
        """Take over the origin's weights, if there is one, and tell which; a resumed run knows of its own."""
        name = "initialised_from"
        if material.origin is not None:
            return {name: str(material.origin.restore(model, self.warn).absolute())}
        known = self.run.facts() if material.is_resumed else {}
        return {name: known[name]} if name in known else {}

    def _check_schedule(self, steps_per_epoch: int, before: Config) -> None:
        """Warn of a learning rate that will not reach its peak, or goes another way than it would have."""
        options = self.config.training
        steps, steps_before = (total_steps(each, steps_per_epoch) for each in (self.config, before))
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
    """Refuse to go on with other pairs; on other validation pairs the best score so far means nothing."""
    found = {"train": corpus.train.fingerprint, "validation": fingerprint(corpus.validation)}
    for split, pairs in found.items():
        if run.data_fingerprint(split) != pairs:
            what = "was trained" if split == "train" else "is validated"
            raise RunError(
                f"{run.path} {what} on other sentence pairs than its config gives now",
                "put the data back, or train beside it with --run NAME, or start anew with --fresh",
            )
