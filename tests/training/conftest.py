from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import keras
import pytest
from copy_task import InstantValidator, copy_config, write_pairs

from ptenmt.config import Config
from ptenmt.corpus.batches import BatchPlan, EncodedPairs
from ptenmt.corpus.pairs import load_corpus
from ptenmt.evaluation.evaluation import encode_pairs
from ptenmt.model import Transformer
from ptenmt.runs import Run
from ptenmt.tokenizers import build_tokenizers
from ptenmt.training import Trainer
from ptenmt.training.judge import Scorer


class Laboratory(NamedTuple):
    """A trainer, and what it works on."""

    trainer: Trainer
    model: Transformer
    pairs: EncodedPairs
    run: Run


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Three epochs of six steps (47 pairs or so by 8) with dropout, saved after each."""
    return copy_config(write_pairs(tmp_path_factory.mktemp("quick") / "pairs.tsv", 58))


@pytest.fixture(scope="session")
def laboratory() -> Callable[[Config, Path], Laboratory]:
    """Builds what ``train`` builds, with a validator that costs nothing."""
    instant = InstantValidator()

    def build(config: Config, folder: Path, validator: Scorer = instant) -> Laboratory:
        corpus = load_corpus(config.data, config.seed)
        tokenizers = build_tokenizers(config.tokenizer, corpus.train, ("pt", "en"))
        pairs, _ = encode_pairs(tokenizers, corpus.train, config.model.max_positions)
        keras.utils.set_random_seed(config.seed)
        sizes = tokenizers.source.vocabulary_size, tokenizers.target.vocabulary_size
        model = Transformer(config.model, *sizes, dtype=keras.DTypePolicy(config.machine.precision))
        model.build_weights()
        folder.mkdir(exist_ok=True)
        run = Run(folder)
        plan = BatchPlan(pairs, config.batch, config.seed)
        return Laboratory(Trainer(config, run, model, plan, validator), model, pairs, run)

    return build


@pytest.fixture
def _every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the trainer report each step, not a few a second."""
    monkeypatch.setattr("ptenmt.training.trainer.SECONDS_BETWEEN_REPORTS", 0)
