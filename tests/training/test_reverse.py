"""``data.reverse``: one pair of languages, trained and used in the other direction."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from copy_task import copy_config, write_pairs

from ptenmt import Translator, evaluate, export_model, train
from ptenmt.config import BatchConfig, TokenizerConfig, TrainingConfig


@pytest.mark.usefixtures("_uncompiled")
def test_a_reversed_run_is_reversed_everywhere(tmp_path: Path) -> None:
    """The sources are in capitals only in the file's target column."""
    lines = write_pairs(tmp_path / "same.tsv", 200).read_text().splitlines()
    file = tmp_path / "pairs.tsv"
    pairs = (line.split("\t") for line in lines)
    file.write_text("".join(f"{source}\t{target.upper()}\n" for source, target in pairs))
    config = copy_config(
        file,
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=60, shared=True),
        batch=BatchConfig(sentences=64),
        training=TrainingConfig(epochs=1, warmup_steps=3),
    )
    config = replace(config, data=replace(config.data, reverse=True, validation_pairs=20, test_pairs=20))
    run = train(config, tmp_path / "run").run
    evaluation = evaluate(run, "test")
    assert all(sentence.source.isupper() for sentence in evaluation.sentences)
    assert all(reference.islower() for sentence in evaluation.sentences for reference in sentence.references)
    assert Translator.load(run).config.data.languages == ("en", "pt")

    exported = export_model(run, format="argos", output=tmp_path / "reversed.argosmodel")
    (package,) = zipfile.Path(exported.path).iterdir()
    metadata = json.loads((package / "metadata.json").read_text())
    assert (metadata["from_code"], metadata["to_code"]) == ("en", "pt")
    assert "English to Portuguese" in (package / "README.md").read_text()
