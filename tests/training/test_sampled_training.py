import os
import signal
from pathlib import Path
from typing import Any

import pytest
from copy_task import copy_config, write_pairs

from ptenmt.config import AugmentConfig, BatchConfig, DataConfig, TokenizerConfig, TrainingConfig
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer
from ptenmt.training.events import Event, StepDone
from ptenmt.training.session import train


def stop_at_first_step(event: Event) -> None:
    if isinstance(event, StepDone):
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.slow
def test_a_resumed_training_has_the_same_tokens_and_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    sample = SentencePieceTokenizer.sample

    def spied(*arguments: Any) -> list[list[int]]:
        drawn.append(sample(*arguments))
        return drawn[-1]

    monkeypatch.setattr(SentencePieceTokenizer, "sample", spied)
    pairs = write_pairs(tmp_path / "pairs.tsv", 120)
    config = copy_config(
        pairs,
        data=DataConfig(path=str(pairs), augment=AugmentConfig(upper_case=0.2, typos=0.2)),
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=60, sampling=0.3),
        batch=BatchConfig(tokens=256),
        training=TrainingConfig(epochs=1, warmup_steps=20),
    )
    straight = train(config, tmp_path / "straight").history
    assert len(drawn) > 2 * straight[0]["step"]  # both sides of each batch, and of the pairs measured
    stopped = train(config, tmp_path / "stopped", on_event=stop_at_first_step)
    assert stopped.stopped_by == signal.SIGTERM
    assert len(stopped.history) == 0
    resumed = train(config, tmp_path / "stopped").history
    assert [epoch["train"]["loss"] for epoch in resumed] == [epoch["train"]["loss"] for epoch in straight]
