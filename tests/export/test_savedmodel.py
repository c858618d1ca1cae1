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
from papers_of import check_papers
from untrained_runs import DECODING, MODEL

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
    for name, texts in json.loads(sys.argv[1]):
        found = signatures[name](text=tf.constant(texts, tf.string))
        told.append({name: value.numpy().tolist() for name, value in found.items()})
print(json.dumps(told, default=bytes.decode))
"""
GREEDY = {"beam_size": 1, "max_length": 5}
BLANKS = [" ", ""]
Said = dict[str, list[Any]]
"""By the outputs' names."""


def said_elsewhere(folders: list[Path], *questions: tuple[str, list[str]]) -> list[Said]:
    """What signatures of SavedModels say to texts in another process."""
    arguments = [sys.executable, "-c", PROGRAM, json.dumps(questions), *map(str, folders)]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def said(exported: Callable[[Format], Path]) -> dict[str, Said]:
    """What the SavedModel of the plain run says."""
    questions = {
        "translations": ("serving_default", TEXTS),
        "attention": ("attention", [TEXTS[1], TEXTS[0]]),
        "nothing": ("serving_default", []),
        "blanks": ("serving_default", BLANKS),
        "attention to blanks": ("attention", BLANKS),
    }
    answers = said_elsewhere([exported("savedmodel")], *questions.values())
    return dict(zip(questions, answers, strict=True))


@pytest.fixture(scope="module")
def translator(plain_run: Run) -> Translator:
    """The Keras engine of the plain run."""
    return reference(plain_run)


def check_same(found: Said, translator: Translator) -> None:
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


def test_a_process_without_ptenmt_says_the_same(said: dict[str, Said], translator: Translator):
    check_same(said["translations"], translator)


@pytest.mark.slow
def test_so_it_is_with_every_tokenizer_and_with_other_options(make_run: Callable[..., Run], tmp_path: Path):
    longer = replace(MODEL, max_positions=60)  # ptenmt cuts a text in two that has more pieces
    runs = [
        make_run("wordpiece", data=DataConfig(source="tfds", lowercase=True)),
        make_run("words", data=DataConfig(source="demo", normalization="NFC")),
        make_run("sentencepiece", data=DataConfig(source="demo", tokenization="moses"), model=longer),
    ]
    for run in runs:
        export_model(
            run, format="savedmodel", output=tmp_path / run.path.name, decoding=replace(DECODING, **GREEDY)
        )
    folders = [tmp_path / run.path.name for run in runs]
    questions = [(name, texts) for texts in (TEXTS, [], BLANKS) for name in ("serving_default", "attention")]
    answers = said_elsewhere(folders, *questions)
    for number, run in enumerate(runs):
        said, explained, nothing, nothing_explained, blanks, blanks_explained = answers[6 * number :][:6]
        check_same(said, reference(run).with_options(**GREEDY))
        assert explained["translation"] == said["translation"]
        assert set(map(str, nothing.values())) == {"[]"}
        assert set(map(str, nothing_explained.values())) == {"[]"}
        assert blanks["translation"] == blanks_explained["translation"] == ["", ""]


def test_attention_is_the_keras_models(said: dict[str, Said], translator: Translator):
    found = {name: value[1] for name, value in said["attention"].items()}
    (best,) = translator.translate(TEXTS[0])
    assert found["translation"] == best.text
    tokenizers = translator.tokenizers
    read = [START, *tokenizers.source.encode([TEXTS[0]])[0], END]
    written = translator.best([read])[0][:-1]
    assert found["source_pieces"][: len(read)] == tokenizers.source.pieces(read)
    assert found["target_pieces"][: len(written)] == tokenizers.target.pieces(written)
    theirs = translator.engine.model.attention(np.array([read]), np.array([written]))
    assert set(theirs) <= set(found)
    for name, weights in theirs.items():
        inside = np.array(found[name])[:, : weights.shape[2], : weights.shape[3]]
        np.testing.assert_allclose(inside, weights[0], atol=1e-5)


@pytest.mark.parametrize("asked", ["blanks", "attention to blanks"])
def test_no_texts_and_only_blank_ones(said: dict[str, Said], asked: str):
    assert said["nothing"]["translation"] == []
    assert said[asked]["translation"] == ["", ""]
    assert said[asked]["score"] == [0, 0]
    assert said[asked]["is_complete"] == [True, True]


def test_it_carries_checksums_and_a_card(exported: Callable[[Format], Path]):
    assert "tf.saved_model.load" in check_papers(exported("savedmodel"))


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
