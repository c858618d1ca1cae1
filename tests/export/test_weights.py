"""The weights as they are, in the form of safetensors."""

import json
from pathlib import Path

import numpy as np
import pytest
from random_models import SMALL, random_model, weights_of
from safetensors.numpy import load_file

from ptenmt.errors import ExportError, OutputError
from ptenmt.export.weights import WEIGHTS, WeightsExport, arrays_of, make_weights


@pytest.fixture(scope="module")
def weights() -> dict[str, np.ndarray]:
    return weights_of(random_model(SMALL, 20, 20))


@pytest.fixture
def folder(weights: dict[str, np.ndarray], tmp_path: Path) -> Path:
    """Of an export."""
    WEIGHTS.write(tmp_path / "weights", make_weights(SMALL, weights, "weights-7:0123abcd"))
    return tmp_path / "weights"


def test_they_are_read_again_and_by_safetensors_itself(weights: dict[str, np.ndarray], folder: Path):
    export: WeightsExport = WEIGHTS.read(folder)
    assert (export.facts.weights, export.facts.model) == ("weights-7:0123abcd", SMALL)
    for found in (arrays_of(export), load_file(folder / "model.safetensors")):
        assert found.keys() == weights.keys()
        assert all(array.dtype == np.float32 for array in found.values())
        assert all((found[path] == array).all() for path, array in weights.items())
    assert "transformer/encoder/block1/self_attention/query/kernel" in weights


def test_other_precisions_are_widened():
    export = make_weights(SMALL, {"a/kernel": np.array([[0.5, 1.5]], np.float16).T}, "")
    assert arrays_of(export)["a/kernel"].tolist() == [[0.5], [1.5]]
    assert arrays_of(export)["a/kernel"].dtype == np.float32


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": {"num_layers": 0}}, "model.num_layers=0 must be 1 or more"),
        ({"model": {"depth": 3}}, "depth"),
        ({"format": 2}, "it has format 2"),
        ({"files": {"other.bin": [1, 2]}}, "names other.bin"),
    ],
)
def test_facts_that_cannot_be_are_damage(folder: Path, change: dict[str, object], told: str):
    file = folder / "weights.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(ExportError, match=told):
        WEIGHTS.read(folder)


def test_another_forms_export_is_left_alone(folder: Path, weights: dict[str, np.ndarray]):
    (folder / "model.bin").write_text("CTranslate2's")
    with pytest.raises(OutputError, match=r"holds what is no part of an export: model.bin"):
        WEIGHTS.write(folder, make_weights(SMALL, weights, ""))
