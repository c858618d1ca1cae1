"""Trains on two logical devices and on one, and writes down what came out; run by test_strategy.py.

The devices must be made before TensorFlow starts, so this is a process of its own.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from copy_task import copy_config, uncompiled
from recorded_events import ends_of_epochs
from trainer_setup import build_trainer

from ptenmt.config import BatchConfig, Config, MachineConfig, ModelConfig, OptimizerConfig, TrainingConfig
from ptenmt.data.batches import BatchPlan
from ptenmt.model.layers import dropout_seed
from ptenmt.model.loss import token_sums
from ptenmt.training.distributed import prepare

MODEL = ModelConfig(num_layers=1, d_model=16, num_heads=2, d_ff=32, dropout=0.0, max_positions=32)
SCHEDULE = TrainingConfig(epochs=2, warmup_steps=20)


def options(pairs: Path, **changes: Any) -> Config:
    sections = {"model": MODEL, "training": SCHEDULE, "machine": MachineConfig(strategy="mirrored")}
    return copy_config(pairs, **sections | changes)


def train(config: Config, folder: Path, strategy: Any = None) -> dict[str, Any]:
    """Train, and return the losses; the rest is in the checkpoint."""
    found = build_trainer(config, folder, strategy=strategy)
    events = list(found.trainer.fit())
    sizes = [len(source) for source, _ in BatchPlan(found.pairs, config.batch, config.seed).batches(0)]
    losses = [event.loss for event in ends_of_epochs(events)]
    return {"losses": losses, "sizes": sizes}


def resume(config: Config, folder: Path, strategy: Any = None) -> dict[str, Any]:
    """Resume from a checkpoint; return where, and each replica's distance from the saved weights."""
    found = build_trainer(config, folder, strategy=strategy)
    started = next(iter(found.trainer.fit()))
    reader = tf.train.load_checkpoint(str(started.resumed_from))
    name = "weights/{}/.ATTRIBUTES/VARIABLE_VALUE"
    distances = []
    for weight in found.model.trainable_variables:
        wanted = reader.get_tensor(name.format(weight.path.replace("/", ".S")))
        local = (strategy or tf.distribute.get_strategy()).experimental_local_results(weight.value)
        distances.append([float(np.abs(copy.numpy() - wanted).max()) for copy in local])
    return {"epoch": started.epoch, "distances": distances}


def draw_masks(pairs: Path, folder: Path, strategy: Any) -> dict[str, Any]:
    """The loss of one sentence, twice in a batch, a replica each; and by hand with the masks of each replica.

    Then a step that divides by zero.
    """
    config = options(pairs, model=replace(MODEL, dropout=0.5))
    found = build_trainer(config, folder, strategy=strategy)
    step, state = found.trainer._train_step, found.trainer._state
    ids = np.array([[2, 5, 6, 7, 8, 3]])
    by_hand = []
    for draw in (0, 1):
        with dropout_seed(config.seed, tf.constant(draw, tf.int64)):
            logits = found.model((ids, ids[:, :-1]), training=True)
        by_hand.append(float(token_sums(logits, ids[:, 1:]).loss))
    (source, target, tokens, number) = (
        strategy.experimental_distribute_values_from_function(
            lambda _context, value=value: tf.constant(value)
        )
        for value in (ids, ids, np.float32(10), np.int64(0))
    )
    step([(source, target, tokens, number)])
    loss = float(state.of_epoch.variables["loss"])
    before = [weight.numpy() for weight in found.model.trainable_variables]
    nothing = strategy.experimental_distribute_values_from_function(lambda _context: tf.constant(0.0))
    step([(source, target, nothing, number)])
    after = [weight.numpy() for weight in found.model.trainable_variables]
    unchanged = all((old == new).all() for old, new in zip(before, after, strict=True))
    return {"by_hand": by_hand, "loss": loss, "skipped": int(state.skipped), "unchanged": unchanged}


def main(pairs: Path, folder: Path) -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    config = options(
        pairs,
        batch=BatchConfig(tokens=56, accumulate=2),
        optimizer=OptimizerConfig(kind="adamw", weight_decay=0.01, clip_norm=0.5, ema=0.9),
    )
    # Each graph runs a few times: optimizing it would take longer.
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    two = prepare(config, print)
    with uncompiled():
        one = train(config, folder / "one")
        masks = draw_masks(pairs, folder / "masks", two)
    facts = {
        "replicas": two.num_replicas_in_sync,
        "one": one,
        "two": train(config, folder / "two", two),
        "two, then one": resume(config, folder / "two"),
        "one, then two": resume(config, folder / "one", two),
        "masks": masks,
    }
    (folder / "facts.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
