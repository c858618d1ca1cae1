"""docs/tour/transformer.py computes what ptenmt computes: logits, attention, loss, learning rate."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
from random_models import attention_of

from ptenmt.config import ModelConfig, TrainingConfig
from ptenmt.config.schedule import learning_rate
from ptenmt.model.loss import token_sums, training_loss
from ptenmt.model.transformer import Transformer

FILE = Path(__file__).parents[1] / "docs" / "tour" / "transformer.py"
SOURCE = np.array([[2, 5, 7, 3, 0], [2, 4, 6, 8, 3]])
TARGET = np.array([[2, 5, 8, 3, 0, 0], [2, 4, 7, 6, 5, 3]])


@pytest.fixture(scope="module")
def tour() -> ModuleType:
    specification = importlib.util.spec_from_file_location("tour_transformer", FILE)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def small(tour: ModuleType) -> Any:
    sizes = tour.Sizes()
    sizes.num_layers, sizes.width, sizes.num_heads, sizes.inner_width = 2, 16, 4, 24
    return sizes


def named(model: Any) -> dict[str, Any]:
    """The weights of ptenmt's model by their paths in the file's."""
    paths = {variable.path.replace("/norm/", "/"): variable for variable in model.trainable_variables}
    return {path.removeprefix("transformer/"): variable for path, variable in paths.items()}


@pytest.fixture(scope="module")
def models(tour: ModuleType) -> tuple[Any, Any]:
    """Both models with the same weights."""
    ours = Transformer(ModelConfig(num_layers=2, d_model=16, num_heads=4, d_ff=24, dropout=0.0), 11, 9)
    own = tour.Transformer(11, 9, small(tour))
    own((SOURCE, TARGET))
    weights = named(ours)
    for variable in own.trainable_variables:
        variable.assign(weights.pop(variable.path.removeprefix("transformer/")))
    assert not weights
    return ours, own


def test_logits_and_attention_are_equal(models: tuple[Any, Any]) -> None:
    ours, own = models
    logits, attention = own.with_attention(SOURCE, TARGET)
    np.testing.assert_allclose(ours((SOURCE, TARGET)), logits, atol=1e-4)
    weights = attention_of(ours, SOURCE, TARGET)
    for number, (of_self, of_cross) in enumerate(attention, start=1):
        np.testing.assert_allclose(weights[f"decoder_layer{number}_block1"], of_self, atol=1e-5)
        np.testing.assert_allclose(weights[f"decoder_layer{number}_block2"], of_cross, atol=1e-5)


def test_loss_and_accuracy_are_equal(tour: ModuleType, models: tuple[Any, Any]) -> None:
    _, own = models
    logits, labels = own((SOURCE, TARGET[:, :-1])), TARGET[:, 1:]
    loss, _ = training_loss(logits, labels, 0.0)
    sums = token_sums(logits, labels)
    assert float(tour.masked_loss(labels, logits)) == pytest.approx(float(loss / sums.tokens), abs=1e-5)
    accuracy = float(sums.correct) / float(sums.tokens)
    assert float(tour.masked_accuracy(labels, logits)) == pytest.approx(accuracy)


def test_the_learning_rates_are_the_papers(tour: ModuleType) -> None:
    rates = [float(tour.WarmUp(128, 4000)(step - 1)) for step in (1, 1000, 4000, 16000)]
    assert rates == pytest.approx([3.493856e-07, 3.493856e-04, 1.397542e-03, 6.987712e-04])
    options = TrainingConfig(warmup_steps=4000)
    ours = [float(learning_rate(step, options, 128, 20_000, np)) for step in (1, 1000, 4000, 16000)]
    assert rates == pytest.approx(ours)


def test_the_tutorials_sizes_are_published_ones(tour: ModuleType) -> None:
    """Those of which tests/model/test_transformer.py counts the parameters."""
    sizes, ours = tour.Sizes(**tour.BASE), ModelConfig()
    assert (sizes.num_layers, sizes.width, sizes.num_heads) == (ours.num_layers, ours.d_model, ours.num_heads)
    assert (sizes.inner_width, sizes.dropout) == (ours.d_ff, ours.dropout)


def test_a_sentence_is_learned_and_translated(tour: ModuleType) -> None:
    sizes = small(tour)
    sizes.dropout, sizes.num_warmup_steps, sizes.num_layers = 0.0, 20, 1
    keras.utils.set_random_seed(1)
    source, target = SOURCE[1:], TARGET[1:]
    model = tour.compiled(tour.Transformer(11, 9, sizes), sizes)
    model.jit_compile = False  # XLA takes longer to compile the step than all of them to run
    model((source, target))
    model.optimizer.build(model.trainable_variables)  # or the step is traced twice
    for _ in range(100):
        tour.step(model, source, target)
    assert tour.translate(model, source) == target[0].tolist()
