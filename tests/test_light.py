"""Translating with an export, serving one, and looking into a model load nothing that training needs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptenmt.config import Config, DataConfig, ModelConfig, TokenizerConfig
from ptenmt.tokenizers import SPECIAL_PIECES, TokenizerPair, build_tokenizers
from ptenmt.tokenizers.wordpiece import WordPieceTokenizer

HEAVY = [
    "keras",
    "numpy",
    "platformdirs",
    "requests",
    "sacrebleu",
    "sacremoses",
    "tensorflow",
    "tensorflow_text",
    "torch",
]
PAIRS = [("o gato vê o cão .", "the cat sees the dog ."), ("o cão vê a casa .", "the dog sees the house .")]
PROGRAM = f"""
import json, sys
import ptenmt.cli.serve, ptenmt.server.application, ptenmt.server.process
from ptenmt.cli.app import app
for run in sys.argv[1:]:
    app(["translate", "--run", run, "o gato vê a casa ."], standalone_mode=False)
    print(json.dumps(sorted(set({HEAVY}) & sys.modules.keys())))
for view in ("alignment", "attention"):
    app(["inspect", view, "--run", run, "o gato vê a casa ."], standalone_mode=False)
app(["inspect", "attention", "--run", run, "o gato vê a casa .", "-o", run + "/a.svg"], standalone_mode=False)
print(json.dumps(sorted(set({HEAVY}) & sys.modules.keys())))
"""


def tokenizers(kind: str, *, shared: bool) -> TokenizerPair:
    if kind != "wordpiece":
        config = TokenizerConfig(kind=kind, vocabulary_size=40, shared=shared)
        return build_tokenizers(config, PAIRS, ("pt", "en"))
    words = sorted({word for pair in PAIRS for text in pair for word in text.split()})
    vocabulary = "".join(f"{piece}\n" for piece in (*SPECIAL_PIECES, *words)).encode()
    return TokenizerPair(WordPieceTokenizer("pt", vocabulary), WordPieceTokenizer("en", vocabulary))


def saved_run(folder: Path, kind: str, *, shared: bool = False) -> Path:
    """A run of a random model, and no training state."""
    from random_models import write_run

    from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model

    config = Config(
        data=DataConfig(source="demo" if kind == "sentencepiece" else "tfds"),
        tokenizer=TokenizerConfig(kind=kind, shared=shared),
        model=ModelConfig(num_layers=1, d_model=8, num_heads=2, d_ff=8, max_positions=16),
    )
    run = write_run(folder, config, tokenizers(kind, shared=shared))
    ctranslate2_model(TrainedModel.load(run, on_warning=pytest.fail))  # fills the cache
    return folder


def test_neither_serving_nor_translating_nor_looking_inside_loads_training(tmp_path: Path) -> None:
    kinds = ("sentencepiece", "wordpiece", "words")
    runs = [str(saved_run(tmp_path / kind, kind)) for kind in kinds]
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, *runs], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    loaded = [json.loads(line) for line in lines[1 : 2 * len(kinds) : 2]]
    assert json.loads(lines[-1]) == ["numpy", "sacremoses"], "whatever is looked into"
    assert dict(zip(kinds, loaded, strict=True)) == {
        "sentencepiece": [],
        "wordpiece": ["numpy", "sacremoses"],  # for the spacing of TED, which sacremoses restores
        "words": ["numpy", "sacremoses"],
    }


BLOCKED = """
import sys

sys.modules |= dict.fromkeys(["tensorflow", "tensorflow_text", "tensorflow_datasets", "keras"])
from ptenmt.cli.app import app
for words in WORDS:
    app(words, standalone_mode=False)
import ptenmt.cli.serve, ptenmt.server.application, ptenmt.server.process
"""


def pair_files(folder: Path) -> list[str]:
    """A source and a reference file."""
    for name, lines in zip(("o.pt", "o.en"), zip(*PAIRS, strict=True), strict=True):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [str(folder / "o.pt"), str(folder / "o.en")]


def test_a_run_that_was_only_trained_is_used_without_tensorflow(tmp_path: Path) -> None:
    """The commands see weights, and neither an export nor a training state."""
    run = saved_run(tmp_path / "run", "sentencepiece", shared=True)
    shutil.rmtree(run / "ctranslate2")
    at, text = ["--run", str(run)], "o gato vê a casa ."
    source, reference = pair_files(tmp_path)
    commands = [
        ["translate", *at, text],
        ["inspect", "alignment", *at, text],
        ["info", *at],
        ["evaluate", *at, "--source", source, "--reference", reference],
        *(["export", *at, "--format", form] for form in ("ctranslate2", "argos", "weights")),
    ]
    program = f"WORDS = {commands!r}\n{BLOCKED}"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert "chrF2++" in answer.stdout
    assert "loss" in answer.stdout
    assert "TensorFlow is not installed: exporting without model.keras" in answer.stderr
    exported = {file.name for file in (run / "export" / "weights").iterdir()}
    card = {"README.md", "SHA256SUMS", "export.json"}
    assert exported == card | {"model.safetensors", "config.yaml", "tokenizer"}
