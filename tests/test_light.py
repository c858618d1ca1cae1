"""Translating with an export, serving one, and looking into a model load nothing that training needs."""

import json
import subprocess
import sys
from pathlib import Path

from ptenmt.config import Config, DataConfig, ModelConfig, TokenizerConfig
from ptenmt.runs import Run
from ptenmt.tokenizers import SPECIAL_PIECES, UNK, TokenizerPair, build_tokenizers
from ptenmt.tokenizers.wordpiece import WordPieceTokenizer

HEAVY = [
    "keras",
    "numpy",
    "platformdirs",
    "prompt_toolkit",
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
from ptenmt.cli.app import app
for run in sys.argv[1:]:
    app(["translate", "--run", run, "O gato vê a casa."], standalone_mode=False)
    print(json.dumps(sorted(set({HEAVY}) & sys.modules.keys())))
for view in ("alignment", "probabilities"):
    app(["inspect", view, "--run", run, "O gato vê a casa."], standalone_mode=False)
app(["inspect", "attention", "--run", run, "O gato vê a casa.", "-o", run + "/a.svg"], standalone_mode=False)
print(json.dumps(sorted(set({HEAVY}) & sys.modules.keys())))
"""


def tokenizers(kind: str) -> TokenizerPair:
    if kind != "wordpiece":
        return build_tokenizers(TokenizerConfig(kind=kind, vocabulary_size=40), PAIRS, ("pt", "en"))
    words = sorted({word for pair in PAIRS for text in pair for word in text.split()})
    vocabulary = "".join(f"{piece}\n" for piece in (*SPECIAL_PIECES, *words)).encode()
    return TokenizerPair(WordPieceTokenizer("pt", vocabulary), WordPieceTokenizer("en", vocabulary))


def exported_run(folder: Path, kind: str) -> Path:
    """A run with an export of a model that has learnt nothing but [UNK], and no checkpoint."""
    from ptenmt.export.ctranslate2 import CTRANSLATE2, make_export
    from ptenmt.export.weights import WEIGHTS, make_weights
    from ptenmt.model import Transformer

    config = Config(
        data=DataConfig(source="demo" if kind == "sentencepiece" else "tfds"),
        tokenizer=TokenizerConfig(kind=kind),
        model=ModelConfig(num_layers=1, d_model=8, num_heads=2, d_ff=8, max_positions=16),
    )
    run, pair = Run(folder), tokenizers(kind)
    run.write(config, {})
    pair.save(run.tokenizer_folder)
    model = Transformer(config.model, pair.source.vocabulary_size, pair.target.vocabulary_size)
    model.final.bias.assign([9.0 * (token == UNK) for token in range(pair.target.vocabulary_size)])
    weights = {weight.path: weight.numpy() for weight in model.weights}
    CTRANSLATE2.write(run.export_folder(), make_export(config.model, weights, pair, "untrained"))
    WEIGHTS.write(run.export_folder("best", WEIGHTS.name), make_weights(config.model, weights, "untrained"))
    return folder


def test_neither_translating_nor_looking_inside_loads_training(tmp_path: Path) -> None:
    kinds = ("sentencepiece", "wordpiece", "words")
    runs = [str(exported_run(tmp_path / kind, kind)) for kind in kinds]
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


def test_a_server_starts_without_training() -> None:
    program = (
        "import sys, ptenmt.cli.serve, ptenmt.server.app, ptenmt.server.process\n"
        f"print(sorted(set({HEAVY}) & sys.modules.keys()))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"
