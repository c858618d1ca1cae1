"""Models in CTranslate2's form; the cache of them is tested in translation/test_loading.py."""

from dataclasses import replace

import numpy as np
import pytest
from random_models import SMALL, made_up_words, random_model, weights_of

from ptenmt.config import ModelConfig
from ptenmt.errors import ExportError
from ptenmt.model.ctranslate2_model import (
    CTranslate2Model,
    Quantization,
    convert,
    nearest_quantization,
    why_not_ctranslate2,
)

SIZE = 40
WORDS = made_up_words(SIZE, SIZE)


@pytest.fixture(scope="module")
def weights() -> dict[str, np.ndarray]:
    return weights_of(random_model(SMALL, SIZE, SIZE))


def size(model: CTranslate2Model) -> int:
    return sum(map(len, model.files.values()))


def test_fewer_bits_take_less_room(weights: dict[str, np.ndarray]):
    def size_in(quantization: Quantization) -> int:
        return size(convert(SMALL, weights, WORDS, "", quantization))

    sizes = [size_in("int8"), size_in("int16"), size_in("float32")]
    assert size_in("float16") < sizes[2]
    assert sizes == sorted(sizes)
    matrices = {name: array for name, array in weights.items() if name.endswith(("kernel", "embeddings"))}
    numbers = sum(array.size for array in matrices.values())
    rows = sum(array.shape[name.endswith("kernel")] for name, array in matrices.items())  # a scale each
    assert sizes[2] - sizes[0] == pytest.approx(3 * numbers - 4 * rows, rel=0.05)


def test_tied_tables_are_stored_once(weights: dict[str, np.ndarray]):
    weights, sizes = dict(weights), []
    for tied, spared in {
        "none": "",
        "target": "final/kernel",
        "all": "decoder/embedding/tokens/embeddings",
    }.items():
        weights.pop(f"transformer/{spared}", None)
        config = replace(SMALL, tied_embeddings=tied)
        sizes.append(size(convert(config, weights, WORDS, "", "float32")))
    table = 4 * SIZE * SMALL.d_model
    assert [larger - smaller for larger, smaller in zip(sizes, sizes[1:], strict=False)] == [
        pytest.approx(table, rel=0.05)
    ] * 2


@pytest.mark.parametrize(
    ("wanted", "supported", "nearest"),
    [
        ("int8", {"int8_float32", "int16", "float32"}, "int8_float32"),
        ("float16", {"int8", "bfloat16", "float32"}, "float32"),
        ("float16", {"int8", "bfloat16", "int16", "float32"}, "int16"),
        ("float32", {"int8"}, "float32"),
    ],
)
def test_the_nearest_type_is_the_next_more_precise_one(wanted: str, supported: set[str], nearest: str):
    assert nearest_quantization(wanted, supported) == nearest


def test_two_widths_of_a_head_cannot_be_expressed():
    two = ModelConfig(d_model=16, num_heads=2, key_size=5, value_size=7)
    assert "(model.key_size=5, model.value_size=7)" in why_not_ctranslate2(two)
    assert why_not_ctranslate2(replace(two, value_size=5)) == ""
    assert why_not_ctranslate2(ModelConfig(d_model=16, num_heads=2, key_size=8)) == ""
    assert why_not_ctranslate2(ModelConfig(d_model=16, num_heads=2, key_size=5)) != ""
    with pytest.raises(ExportError, match="one size for a head") as failure:
        convert(two, {}, WORDS, "")
    assert failure.value.hint == "translate with the engine keras"
