"""A SavedModel says what the Keras engine says, in a process that knows nothing of ptenmt."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from untrained_runs import DECODING

from ptenmt import Translator, export_model
from ptenmt.config import DataConfig, DecodingConfig
from ptenmt.errors import ExportError, OutputError
from ptenmt.export.formats import Format
from ptenmt.runs import Run
from ptenmt.tokenizers import END, START

TEXTS = [
    "O gato não vê o cão da vizinha.",
    "  Quem és tu? ",
    "",
    "E\u0301 manhã, d'água xyzw — 3,50 €; Sr. Gato!",
    "gato " * 60,
    "música\tà\u00a0noite",
]
PROGRAM = """
import json, sys
sys.modules["ptenmt"] = None  # importing it fails
import tensorflow as tf, tensorflow_text
told = []
for folder in sys.argv[2:]:
    signatures = tf.saved_model.load(folder).signatures
    found = signatures["serving_default"](text=tf.constant(json.loads(sys.argv[1])))
    values = {name: value.numpy().tolist() for name, value in found.items()}
    values["translation"] = [text.decode() for text in values["translation"]]
    told.append(values | {"signatures": sorted(signatures)})
print(json.dumps(told))
"""


GREEDY = {"beam_size": 1, "max_length": 5}


def said_elsewhere(folders: list[Path]) -> list[dict[str, list[Any]]]:
    """What SavedModels say in another process."""
    arguments = [sys.executable, "-c", PROGRAM, json.dumps(TEXTS), *map(str, folders)]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def check_same(found: dict[str, list[Any]], translator: Translator) -> None:
    short = [row for row, text in enumerate(TEXTS) if len(text) < 100]
    expected = translator.translate(" ".join(TEXTS[row].split()) for row in short)
    assert [found["translation"][row] for row in short] == [translation.text for translation in expected]
    scores = [found["score"][row] for row in short]
    assert scores == pytest.approx([translation.score for translation in expected], rel=1e-4)
    complete = [found["is_complete"][row] for row in short]
    assert complete == [translation.is_complete for translation in expected]
    assert not found["is_complete"][4], "it is longer than the model can read"
    assert len(set(found["translation"])) >= 4


def reference(run: Run) -> Translator:
    return Translator.load(run, engine="keras", on_warning=print)


def test_a_process_without_ptenmt_says_the_same(plain_run: Run, exports: dict[Format, Path]):
    (found,) = said_elsewhere([exports["savedmodel"]])
    check_same(found, reference(plain_run))
    assert found["signatures"] == ["attention", "serving_default"]


@pytest.mark.slow
def test_so_it_is_with_every_tokenizer_and_with_other_options(make_run: Callable[..., Run], tmp_path: Path):
    runs = [
        make_run("wordpiece", data=DataConfig(source="tfds", lowercase=True)),
        make_run("words", data=DataConfig(source="demo", normalization="NFC")),
        make_run("sentencepiece", data=DataConfig(source="demo", tokenization="moses")),
    ]
    for run in runs:
        export_model(
            run, format="savedmodel", output=tmp_path / run.path.name, decoding=replace(DECODING, **GREEDY)
        )
    for run, found in zip(runs, said_elsewhere([tmp_path / run.path.name for run in runs]), strict=True):
        check_same(found, reference(run).with_options(**GREEDY))


def test_attention_is_the_keras_models(plain_run: Run, exports: dict[Format, Path]):
    translator = reference(plain_run)
    signature = tf.saved_model.load(str(exports["savedmodel"])).signatures["attention"]
    found = signature(text=tf.constant([TEXTS[1], TEXTS[0]]))
    (best,) = translator.translate(TEXTS[0])
    source, target = translator.tokenizers.source, translator.tokenizers.target
    read = [START, *source.encode([TEXTS[0]])[0], END]
    written = translator.best([read])[0][:-1]
    theirs = translator.engine.model.attention(np.array([read]), np.array([written]))
    pieces = [piece.decode() for piece in found["source_pieces"].numpy()[1]]
    assert pieces[: len(read)] == source.pieces(read)
    pieces = [piece.decode() for piece in found["target_pieces"].numpy()[1]]
    assert pieces[: len(written)] == target.pieces(written)
    assert set(theirs) <= set(found)
    for name, weights in theirs.items():
        inside = found[name].numpy()[1][:, : weights.shape[2], : weights.shape[3]]
        np.testing.assert_allclose(inside, weights[0], atol=1e-5)
    assert found["translation"].numpy()[1].decode() == best.text


def test_no_texts_and_only_blank_ones(exports: dict[Format, Path]):
    signatures = tf.saved_model.load(str(exports["savedmodel"])).signatures
    assert signatures["serving_default"](text=tf.constant([], tf.string))["translation"].shape == (0,)
    for signature in signatures.values():
        found = signature(text=tf.constant([" ", ""]))
        assert found["translation"].numpy().tolist() == [b"", b""]
        assert found["score"].numpy().tolist() == [0, 0]
        assert found["is_complete"].numpy().all()


def test_what_a_savedmodel_has_not(plain_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for option, value in {"repetition_penalty": 1.5, "no_repeat_ngram": 2, "coverage_penalty": 0.5}.items():
        with pytest.raises(ExportError, match=rf"without decoding.{option} \({value}\)") as failure:
            export_model(
                plain_run,
                format="savedmodel",
                output=tmp_path / "new",
                decoding=DecodingConfig(**{option: value}),
            )
        assert f"--set decoding.{option}=" in failure.value.hint
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ExportError, match="TensorFlow Text.* is not installed") as failure:
        export_model(plain_run, format="savedmodel", output=tmp_path / "new")
    assert "pip install" in failure.value.hint
    assert not (tmp_path / "new").exists()


def test_another_savedmodel_is_left_alone(plain_run: Run, tmp_path: Path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "saved_model.pb").write_text("precious")
    with pytest.raises(OutputError, match="is not empty and no export"):
        export_model(plain_run, format="savedmodel", output=tmp_path / "theirs")
    assert (tmp_path / "theirs" / "saved_model.pb").read_text() == "precious"
