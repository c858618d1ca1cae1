"""What a training writes for TensorBoard."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ptenmt.config import BatchConfig, CheckpointConfig, Config, TrainingConfig
from ptenmt.training.events import CurvePoint, Event, Validated
from ptenmt.training.session import train


def points(run: Path) -> list[tuple[str, int, Any]]:
    """Every point in the event files: tag, step, value."""
    found = []
    for file in (run / "tensorboard").iterdir():
        for record in tf.data.TFRecordDataset(str(file)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            found += [
                (value.tag, event.step, tf.make_ndarray(value.tensor).tolist())
                for value in event.summary.value
            ]
    return found


@pytest.fixture(scope="module")
def watched(quick: Config) -> Config:
    return replace(
        quick,
        batch=BatchConfig(sentences=16),
        training=TrainingConfig(epochs=3, warmup_steps=20, log_every_steps=1, tensorboard=True),
        checkpoint=CheckpointConfig(every_epochs=2),
    )


@pytest.mark.usefixtures("_uncompiled")
def test_curves_scores_and_samples(watched: Config, tmp_path: Path):
    events: list[Event] = []
    train(watched, tmp_path / "run", on_event=events.append)

    found = points(tmp_path / "run")
    counts = Counter((tag, step) for tag, step, _ in found)
    assert set(counts.values()) == {1}
    curves = {"loss", "accuracy", "learning_rate", "gradient_norm", "tokens_per_second"}
    scores = {"loss", "accuracy", "bleu", "chrf", "sample_1", "sample_2"}
    assert counts.keys() == {(f"training/{name}", step) for name in curves for step in range(1, 10)} | {
        (f"validation/{name}", step) for name in scores for step in (3, 6, 9)
    }
    expected: dict[tuple[str, int], Any] = {}
    for event in events:
        if isinstance(event, CurvePoint):
            expected |= {
                (f"training/{name}", event.global_step): getattr(event, name)
                for name in curves - {"tokens_per_second"}
            }
        elif isinstance(event, Validated):
            expected |= {
                (f"validation/{name}", event.global_step): getattr(event.scores, name)
                for name in ("loss", "bleu")
            }
            for number, sample in enumerate(event.scores.samples, 1):
                text = f"{sample.source}  \n{sample.reference}  \n{sample.translation}"
                expected[f"validation/sample_{number}", event.global_step] = text
    for tag, step, value in found:
        if isinstance(value, float) and (tag, step) in expected:
            np.testing.assert_allclose(value, expected[tag, step], rtol=1e-6)
        elif "sample" in tag:
            assert value.decode() == expected[tag, step]


@pytest.mark.slow
def test_without_the_option_nothing_is_written(watched: Config, tmp_path: Path):
    config = replace(watched, training=replace(watched.training, tensorboard=False, max_steps=2))
    train(config, tmp_path / "run")
    assert not (tmp_path / "run" / "tensorboard").exists()
