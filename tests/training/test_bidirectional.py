"""``training.bidirectional``: first epochs in both directions, then one alone; resumed, shown, recorded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from copy_task import copy_config, write_pairs
from recorded_events import of, stopped_after
from saved_states import assert_same, losses, tensors

from ptenmt.config import BatchConfig, Config, TokenizerConfig, TrainingConfig, ValidationConfig
from ptenmt.data.batches import BatchPlan
from ptenmt.errors import ConfigError
from ptenmt.runs import Run
from ptenmt.runs.history import History
from ptenmt.training.events import StageStarted, TrainingStarted, Warned
from ptenmt.training.preparation import TrainingInputs

pytestmark = pytest.mark.usefixtures("_every_step")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """48 pairs whose targets are in capitals, 6 steps an epoch; two epochs of four in both directions."""
    folder = tmp_path_factory.mktemp("capitals")
    lines = write_pairs(folder / "same.tsv", 60).read_text().splitlines()
    pairs = [line.split("\t") for line in lines]
    (folder / "pairs.tsv").write_text("".join(f"{source}\t{target.upper()}\n" for source, target in pairs))
    config = copy_config(
        folder / "pairs.tsv",
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=60, shared=True),
        training=TrainingConfig(epochs=4, bidirectional=0.5, warmup_steps=20, log_every_steps=3),
    )
    return replace(config, data=replace(config.data, cache_dir=str(folder / "cache")))


def planned(config: Config, folder: Path) -> tuple[BatchPlan, dict[str, Any], list[list[tuple[str, str]]]]:
    """The batches of a training, the facts for ``run.json``, and the pairs of each epoch."""
    inputs = TrainingInputs(config, Run(folder), False, None, lambda _event: None, None)
    _, plan, facts = inputs.build(tf.distribute.get_strategy())
    decode = inputs.task.tokenizers.source.decode
    epochs = []
    for epoch in range(config.training.epochs):
        sides = [[decode(side.tolist()) for side in batch] for batch in plan.batches(epoch)]
        epochs.append([pair for batch in sides for pair in zip(*batch, strict=True)])
    return plan, facts, epochs


@pytest.mark.parametrize("reverse", [False, True])
def test_half_of_the_pairs_of_the_first_epochs_are_swapped(config: Config, tmp_path: Path, reverse: bool):
    config = replace(config, data=replace(config.data, reverse=reverse))
    plan, facts, epochs = planned(config, tmp_path / "run")
    assert facts["bidirectional_epochs"] == 2
    assert facts["steps_per_epoch"] == {"1": 6, "3": 6}
    for pairs in epochs:
        assert len(pairs) == facts["data"]["train"]["pairs"] == 48
        assert all(source.upper() == target.upper() for source, target in pairs)
        assert all(source.isupper() != target.isupper() for source, target in pairs)
    assert [sum(source.isupper() for source, _ in pairs) for pairs in epochs] == [24, 24, *[48 * reverse] * 2]
    assert len(set(epochs[0] + epochs[1])) == 2 * 48, "each pair once in each direction"
    directions = ["en→pt", "pt→en"] if reverse else ["pt→en", "en→pt"]
    assert list(plan.mixture.pairs(0)) == directions
    assert list(plan.mixture.pairs(2)) == directions[:1]


def test_the_share_is_of_the_steps_in_whole_epochs(config: Config, tmp_path: Path):
    def num_epochs(**options: Any) -> int:
        found = replace(config, training=replace(config.training, **options))
        return int(planned(found, tmp_path / "run")[1]["bidirectional_epochs"])

    assert num_epochs(epochs=10, bidirectional=0.33) == 3
    assert num_epochs(epochs=10, bidirectional=0.01) == 1
    assert num_epochs(epochs=10, max_steps=30, bidirectional=0.4) == 2
    assert num_epochs(epochs=10, max_steps=8, bidirectional=0.9) == 1
    with pytest.raises(
        ConfigError, match=r"bidirectional=0\.5 leaves no step of 6 for one direction"
    ) as failure:
        num_epochs(epochs=1)
    assert "raise training.epochs" in failure.value.hint


@pytest.mark.slow  # two trainings, as in test_resume
@pytest.mark.usefixtures("_uncompiled")
def test_resumed_across_the_switch_equals_straight_through(config: Config, tmp_path: Path):
    """Three steps an epoch, scored at the end."""
    validation = ValidationConfig(every_epochs=None)
    config = replace(config, batch=BatchConfig(sentences=16), validation=validation)
    straight = stopped_after(config, tmp_path / "straight", 0, 0)
    both = {"pt→en": 0.5, "en→pt": 0.5}
    stages = of(StageStarted, straight)
    assert [(stage.epoch, stage.shares) for stage in stages] == [(1, both), (3, {"pt→en": 1.0})]
    curve = History(tmp_path / "straight").curve()
    assert [(line["step"], line["shares"]) for line in curve] == [
        (step, both if step <= 6 else {"pt→en": 1.0}) for step in range(3, 13, 3)
    ]
    started = [
        of(TrainingStarted, stopped_after(config, tmp_path / "parts", epoch, step))[0]
        for epoch, step in ((1, 2), (2, 3), (9, 9))  # within the first part, at its end
    ]
    assert [(event.epoch, event.step_in_epoch) for event in started] == [(0, 0), (0, 2), (2, 0)]
    runs = [Run(tmp_path / name) for name in ("straight", "parts")]
    assert_same(tensors(runs[1]), tensors(runs[0]))
    assert losses(runs[1]) == losses(runs[0])

    longer = replace(config, training=replace(config.training, epochs=9))
    again = stopped_after(longer, tmp_path / "parts", 5, 1)
    assert of(StageStarted, again) == [StageStarted(epoch=5, pairs={"pt→en": 48}, shares={"pt→en": 1.0})]
    assert of(Warned, again) == []
    assert runs[1].facts()["bidirectional_epochs"] == 2, "a longer training switches where it did"
