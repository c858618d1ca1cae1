"""Words after a text: NumPy against Keras, and how words are chosen; the logits are scripted."""

from collections import Counter
from dataclasses import replace
from typing import Any

import keras
import numpy as np
import pytest
from random_models import attention_of

from ptenmt.config import Config, DataConfig, DecodingConfig, ModelConfig, TokenizerConfig, ValidationConfig
from ptenmt.errors import DataError
from ptenmt.model.numpy_transformer import NumpyNextWord
from ptenmt.model.transformer import NextWordModel
from ptenmt.tokenizers import SPECIAL_PIECES
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.completion import Completer, context_words

SMALL = ModelConfig(num_layers=2, d_model=16, num_heads=2, d_ff=24, max_positions=12)
CONFIG = Config(
    task="next-word",
    data=DataConfig(source="demo", lowercase=True, window=3),
    tokenizer=TokenizerConfig(kind="words", punctuation="space", shared=True),
    model=SMALL,
    validation=ValidationConfig(metric="loss"),
)
WORDS = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prediction": "causal"},
        {"prediction": "causal", "norm": "pre", "tied_embeddings": "all", "activation": "swiglu"},
        {"positions": "none", "activation": "gelu", "key_size": 3, "value_size": 5},
    ],
    ids=str,
)
def test_numpy_computes_what_keras_does(options: dict[str, Any]):
    config = replace(SMALL, **options)
    keras.utils.set_random_seed(5)
    model = NextWordModel(config, 11)
    chance = np.random.default_rng(1)
    for weight in model.trainable_variables:
        weight.assign(chance.normal(weight.path.endswith("gamma"), 0.4, weight.shape))
    ids = chance.integers(1, 11, size=(3, 7))
    ours = NumpyNextWord(config, {weight.path: weight.numpy() for weight in model.trainable_variables})
    expected = np.array(model((ids, ids)))[:, -1]
    np.testing.assert_allclose(ours.logits(ids), expected, atol=1e-4)
    found = ours.attention(ids)
    for name, weights in attention_of(model, ids, ids).items():
        np.testing.assert_allclose(found[name], weights, atol=1e-5)


class Script:
    """Stands in for the model; remembers what it read."""

    def __init__(self, probabilities: dict[str, float]) -> None:
        pieces = [*SPECIAL_PIECES, *WORDS]
        self._logits = np.log([[probabilities.get(piece, 1e-9) for piece in pieces]])
        self.read: list[list[int]] = []

    def logits(self, words: np.ndarray) -> np.ndarray:
        self.read.append(words[0].tolist())
        return self._logits


def completer(**probabilities: float) -> Completer:
    return Completer(Script(probabilities), WordTokenizer([*SPECIAL_PIECES, *WORDS], "space"), CONFIG)  # type: ignore[arg-type]


LIKELY = {"a": 0.1, "b": 0.4, "c": 0.2, "[END]": 0.2, "[PAD]": 0.1}


def test_the_most_probable_words_with_their_probabilities():
    found = completer(**LIKELY).next_words("A, b?", 2)
    assert [each.word for each in found] == ["b", "c"], "special tokens are no words"
    assert [each.probability for each in found] == pytest.approx([0.4, 0.2], abs=1e-6)
    assert len(completer(**LIKELY).next_words("a", 99)) == 5


def test_of_a_long_text_the_last_words_are_read_and_of_a_short_one_all():
    script = completer(**LIKELY)
    script.next_words("a b c d e")
    script.next_words("e")
    assert script.model.read == [[6, 7, 8], [8]]  # type: ignore[attr-defined]


def test_what_is_added_is_read_in_its_turn():
    script = completer(d=1.0)
    assert script.complete("a b c", 3) == "d d d"
    assert script.model.read == [[4, 5, 6], [5, 6, 7], [6, 7, 7]]  # type: ignore[attr-defined]


def test_unknown_words_are_reported():
    script = completer(**LIKELY)
    assert script.read("a Zebra b (gnu) zebra").warning == "the model has never seen: zebra, gnu"
    assert script.read("a zebra").ids == [4, 1]


def test_a_text_is_read_in_the_language_that_was_trained_on():
    data = replace(CONFIG.data, tokenization="moses", source_language="en", target_language="pt")
    words = WordTokenizer([*SPECIAL_PIECES, "don", "'t"], "space")
    english = replace(data, source_language="pt", target_language="en")
    assert context_words("don't", words, replace(CONFIG, data=data)).words == ["don", "'", "t"]
    assert context_words("don't", words, replace(CONFIG, data=english)).words == ["don", "'t"]


@pytest.mark.parametrize("text", ["", "  \n", "?! ..."])
def test_a_text_without_words(text: str):
    with pytest.raises(DataError, match="there is no word in"):
        completer(**LIKELY).next_words(text)


def drawn(count: int = 600, **how: Any) -> Counter[str]:
    options = DecodingConfig(beam_size=1, **{"top_k": 0} | how)
    return Counter(completer(a=0.1, b=0.6, c=0.3).complete("a", count, options).split())


def test_words_are_drawn_by_their_probabilities_and_the_seed():
    counts = drawn()
    assert counts["b"] / 600 == pytest.approx(0.6, abs=0.08)
    assert counts["c"] / 600 == pytest.approx(0.3, abs=0.08)
    assert drawn() == counts
    assert drawn(seed=1) != counts


def test_temperature_sharpens_and_flattens():
    sharp, flat = drawn(temperature=0.25), drawn(temperature=4.0)
    assert sharp["b"] / 600 == pytest.approx(0.6**4 / (0.6**4 + 0.3**4 + 0.1**4), abs=0.05)
    assert flat["b"] / 600 < 0.5


@pytest.mark.parametrize(
    ("how", "words"), [({"top_p": 0.59}, "b"), ({"top_p": 0.61}, "bc"), ({"top_k": 2}, "bc")]
)
def test_only_the_most_probable_are_sampled(how: dict[str, Any], words: str):
    assert {*drawn(**how)} == {*words}
