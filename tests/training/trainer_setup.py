"""What ``train`` builds, put together by hand."""

from pathlib import Path
from typing import NamedTuple

import keras
import tensorflow as tf
from copy_task import InstantValidator

from ptenmt.config import Config
from ptenmt.data.augmentation import tokenizer_symbols
from ptenmt.data.batches import BatchPlan, EncodedPairs, encode_pairs
from ptenmt.data.corpus import load_corpus
from ptenmt.data.mixing import Mixture
from ptenmt.model.transformer import Transformer
from ptenmt.runs import Run
from ptenmt.tokenizers import build_tokenizers
from ptenmt.training.distributed import Workers
from ptenmt.training.model_selection import Validator
from ptenmt.training.trainer import Trainer

_INSTANT = InstantValidator()


class TrainerSetup(NamedTuple):
    """A trainer, and what it works on."""

    trainer: Trainer
    model: Transformer
    pairs: EncodedPairs
    run: Run


def build_trainer(
    config: Config,
    folder: Path,
    validator: Validator = _INSTANT,
    strategy: tf.distribute.Strategy | None = None,
) -> TrainerSetup:
    """What ``train`` builds; unless one is given, with a validator that costs nothing."""
    strategy = strategy or tf.distribute.get_strategy()
    corpus = load_corpus(config.data, config.seed)
    symbols = tokenizer_symbols(config.data)
    tokenizers = build_tokenizers(config.tokenizer, corpus.train, config.data.languages, symbols)
    pairs, _ = encode_pairs(tokenizers, corpus.train, config.model.max_positions)
    keras.utils.set_random_seed(config.seed)
    sizes = tokenizers.source.vocabulary_size, tokenizers.target.vocabulary_size
    with strategy.scope():
        model = Transformer(config.model, *sizes, dtype=keras.DTypePolicy(config.machine.precision))
    folder.mkdir(exist_ok=True)
    run = Run(folder)
    mixture = Mixture.configured(config.data, corpus.train.sizes)
    plan = BatchPlan(pairs, config.batch, config.seed, mixture)
    trainer = Trainer(config, run, model, plan, validator, Workers(strategy))
    return TrainerSetup(trainer, model, pairs, run)
