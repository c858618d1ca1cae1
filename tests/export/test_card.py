"""What every export carries, a model card and checksums; and the weights for other frameworks."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import keras
import numpy as np
import pytest
from random_models import random_sources

from ptenmt.config import CorpusFile, DataConfig, TokenizerConfig
from ptenmt.config.loading import load_config
from ptenmt.export.card import model_card
from ptenmt.export.packaging import Format
from ptenmt.model.transformer import Transformer
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.runs.weights import read_weights
from ptenmt.tokenizers import load_tokenizers

Exported = Callable[[Format], Path]


@pytest.fixture(scope="module")
def weights_folder(exported: Exported) -> Path:
    """The weights for any framework."""
    return exported("weights")


@pytest.mark.parametrize("form", ["ctranslate2", "weights", "argos"])
def test_every_export_has_checksums_and_a_card(exported: Exported, form: Format):
    folder = exported(form)
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert {line.removesuffix(": OK") for line in checked.stdout.splitlines()} == names - {"SHA256SUMS"}
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# sentencepiece: Portuguese to English\n\nA Transformer that translates")
    assert "weights best (step 7), checksum `" in card
    assert "| train | 5 | `0123456789abcdef` |" in card
    assert "Sentence pairs from `pairs.tsv`. ptenmt does not know the licence" in card
    assert "jdoe" not in card
    assert "| BLEU | 12.3 | sacreBLEU, `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in card
    assert "The longest sentence has 40 tokens" in card
    assert "max_positions: 40" in card
    assert re.search(r"^\| tensorflow \| (\d+\.\d+\.\d+) \| \1 \|$", card, re.MULTILINE)
    assert ("## Names" in card) == (form == "weights")


def test_a_card_has_the_other_sections(own_run: Run):
    run = own_run
    config = replace(
        run.config(), data=DataConfig(source="tfds"), tokenizer=TokenizerConfig(kind="wordpiece")
    )
    facts = run.facts() | {
        "initialized_from": "/home/jdoe/other/weights/best.safetensors",
        "averaged_from": {"run": "x", "checkpoints": ["a", "b"]},
        "distilled_from": {"teachers": ["/home/jdoe/one", "/home/jdoe/two"]},
    }
    run.write(config, facts)
    (run.path / "history.jsonl").unlink()
    card = model_card(TrainedModel.load(run), "use it")
    assert "started from the weights of the run `other`" in card
    assert "the mean of 2 checkpoints" in card
    assert "It learned from translations by `one`, `two`: the licences of their data" in card
    assert "transcripts of TED talks. Licence: CC BY-NC-ND 4.0." in card
    assert "This model has not been scored." in card
    assert "lower-case and without accents" in card


def test_a_card_has_licences_and_citations_of_public_corpora(own_run: Run):
    data = DataConfig(train=(CorpusFile(corpus="OPUS-a-v1-eng-por"), CorpusFile(path="/home/jdoe/mine.tsv")))
    corpus = {"name": "OPUS-a-v1-eng-por", "pairs": 1234, "licence": "CC0", "urls": ["https://example.org/a"]}
    facts = own_run.facts() | {"corpora": [corpus | {"bibtex": ["@article{a,\n}\n"]}] * 2}
    own_run.write(replace(own_run.config(), data=data), facts)
    card = model_card(TrainedModel.load(own_run), "use it")
    assert "Sentence pairs from `mine.tsv`. ptenmt does not know the licence" in card
    assert "| `OPUS-a-v1-eng-por` | 1,234 | CC0 | https://example.org/a |" in card
    assert card.count("@article{a,") == 1
    own_run.write(replace(own_run.config(), data=DataConfig(train=data.train[:1])), facts)
    assert "Sentence pairs from" not in model_card(TrainedModel.load(own_run), "use it")


def test_weights_are_read_back_by_every_framework(plain_run: Run, weights_folder: Path):
    from safetensors.numpy import load_file

    weights = TrainedModel.load(plain_run).weights
    found = load_file(weights_folder / "model.safetensors")
    assert found.keys() == weights.keys()
    assert all((found[name] == array).all() for name, array in weights.items())
    info, arrays = read_weights(weights_folder / "model.safetensors")
    assert (info.step, arrays.keys()) == (7, weights.keys())
    card = (weights_folder / "README.md").read_text(encoding="utf-8")
    names = {name.replace("block1", "block{i}").replace("block2", "block{i}") for name in weights}
    assert {*re.findall(r"^\| `(.*?)` \|", card.partition("## Names")[2], re.MULTILINE)} == names


def test_keras_reads_its_files(plain_run: Run, weights_folder: Path):
    trained = TrainedModel.load(plain_run)
    config, pair = trained.config, trained.tokenizers
    inputs = np.array(random_sources(1, 60, longest=5)), np.array([[2, 9, 8, 7]])
    expected = np.array(trained.keras_model(inputs))
    saved = keras.saving.load_model(weights_folder / "model.keras")
    np.testing.assert_array_equal(np.array(saved(inputs)), expected)
    fresh = Transformer(config.model, pair.source.vocabulary_size, pair.target.vocabulary_size)
    fresh.load_weights(weights_folder / "model.weights.h5")
    np.testing.assert_array_equal(np.array(fresh(inputs)), expected)


def test_tokenizers_and_options_come_with_the_weights_and_nothing_of_the_machine(
    plain_run: Run, weights_folder: Path
):
    pair = load_tokenizers(weights_folder / "tokenizer")
    assert pair.checksums == load_tokenizers(plain_run.tokenizer_folder).checksums
    file = weights_folder / "config.yaml"
    config = plain_run.config()
    assert load_config(file, ["data.path=/home/jdoe/pairs.tsv"]) == config
    assert load_config(file).data.path == str(Path("pairs.tsv").absolute())
    assert "jdoe" not in file.read_text(encoding="utf-8")
