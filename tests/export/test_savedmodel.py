"""A SavedModel translates like the Keras engine, in a process that cannot import ptenmt."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from untrained_runs import tokenizers

from ptenmt import Translator, export_model
from ptenmt.config import DataConfig
from ptenmt.export.savedmodel import _graph_tokenizer
from ptenmt.runs import Run
from ptenmt.tokenizers import END, encode_framed
from ptenmt.translation.batching import max_length
from ptenmt.translation.engine import SearchRequest

LONG = "gato " * 60
TEXTS = [
    "O gato não vê o cão da vizinha.",
    "quem és tu?",
    "",
    "E\u0301 manhã, d'água xyzw — 3,50 €; Sr. Gato!",
    LONG,
    "música\tà\u00a0noite",
]
ODD_TEXTS = [
    *TEXTS,
    "   ",
    "  dois  espaços\te\numa linha\x07 ",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u00adhífen mole, \u200bzero, \ufeffmarca",
    "Custa US$ 1,000.50 — «caro» demais; não?! 's 'n'' guarda-chuva disse-me",
    "日本語 e ελληνικά ΣΊΣΥΦΟΣ İstanbul ﬁm",
    "x" * 120,
]
PROGRAM = """
import json, sys
sys.modules["ptenmt"] = None  # importing it fails
import tensorflow as tf, tensorflow_text
translate = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
answers = []
for texts in json.load(sys.stdin):
    given = [text.encode(errors="surrogateescape") for text in texts]
    outputs = translate(text=tf.constant(given, tf.string))
    answers.append({name: value.numpy().tolist() for name, value in outputs.items()})
print(json.dumps(answers, default=bytes.decode))
"""
Outputs = dict[str, list[Any]]
"""The signature's outputs by name."""


def outputs_elsewhere(folder: Path, *calls: Sequence[str]) -> list[Outputs]:
    """Call the signature of a SavedModel with texts, several times, in another process."""
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)],
        input=json.dumps(calls),
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def check_equal_to_keras(outputs: Outputs, run: Run, texts: Sequence[str]) -> None:
    """Compare with greedy search of the Keras engine on the same texts, without any preparation."""
    translator, options = Translator.load(run, engine="keras"), replace(run.config().decoding, beam_size=1)
    model = translator.config.model
    pair, longest = translator.tokenizers, run.config().model.max_positions
    sources, _ = encode_framed(pair.source, texts, longest)
    rows = [row for row, ids in enumerate(sources) if len(ids) > 2]
    assert len(rows) > len(texts) / 2
    for limit in {max_length(options, model, len(sources[row])) for row in rows}:
        together = [row for row in rows if max_length(options, model, len(sources[row])) == limit]
        wait = translator.engine.submit(SearchRequest([sources[row] for row in together], limit, options))
        for row, (expected,) in zip(together, wait(), strict=True):
            assert outputs["translation"][row] == pair.target.decode([expected.ids])[0]
            assert outputs["score"][row] == pytest.approx(expected.score, rel=1e-4)
            is_whole = len(pair.source.encode([texts[row]])[0]) <= longest - 2
            assert outputs["is_complete"][row] == (is_whole and expected.ids[-1] == END)


@pytest.mark.slow  # TensorFlow traces the search for half a minute
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("sentencepiece", {"shared": True}),
        ("sentencepiece", {"shared": False}),
        ("wordpiece", {"data": DataConfig(source="tfds")}),
    ],
)
def test_translations_equal_those_of_the_keras_engine(
    kind: str, options: dict[str, Any], make_run: Callable[..., Run], tmp_path: Path
):
    """TensorFlow shares resources of one name: two SentencePiece models must not mix."""
    run = make_run(kind, **options)
    folder = export_model(run, format="savedmodel", output=tmp_path / "1").path
    invalid = ["ol\udce1 a", "ol\ufffd a"]  # the first as a byte that is not UTF-8
    outputs, nothing, blank, replaced = outputs_elsewhere(folder, TEXTS, [], [" ", ""], invalid)
    check_equal_to_keras(outputs, run, TEXTS)
    assert len(set(outputs["translation"])) >= 3
    assert not outputs["is_complete"][TEXTS.index(LONG)], "the source is truncated"
    assert nothing["translation"] == []
    assert blank == {"translation": ["", ""], "score": [0, 0], "is_complete": [True, True]}
    assert replaced["translation"][0] == replaced["translation"][1]


@pytest.mark.parametrize("kind", ["sentencepiece", "wordpiece"])
def test_tokenizers_of_the_graph_equal_ptenmts(kind: str):
    expected = tokenizers(kind).source
    found = _graph_tokenizer(expected)
    ids = found.encode(tf.constant(ODD_TEXTS))
    assert ids.to_list() == expected.encode(ODD_TEXTS)
    decoded = [text.decode() for text in found.decode(ids).numpy()]
    assert decoded == expected.decode(ids.to_list())
