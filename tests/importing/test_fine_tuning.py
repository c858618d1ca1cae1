"""A training that starts from an imported model: it runs, and resumes with the same steps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ptenmt import export_model
from ptenmt.config import BatchConfig, CheckpointConfig, Config, DataConfig, TrainingConfig
from ptenmt.errors import RunError, TokenizerError
from ptenmt.importing.run import import_model
from ptenmt.runs import History, Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.training.session import train

MODEL = Path(__file__).parent / "marian" / "huggingface"


def fine_tuning(imported: Run, folder: Path, max_steps: int) -> Config:
    pairs = folder / "pairs.tsv"
    if not pairs.exists():
        words = ["Ba", "di", "fu", "ga", "hi", "jo"]
        lines = [f"{one} {two}.\t{two} {one}." for one in words for two in words]
        pairs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return replace(
        imported.config(),
        data=DataConfig(path=str(pairs), validation_pairs=4, test_pairs=4),
        batch=BatchConfig(sentences=4),
        training=TrainingConfig(
            max_steps=max_steps, schedule="constant", learning_rate=1e-3, label_smoothing=0.1, warmup_steps=0
        ),
        checkpoint=CheckpointConfig(every_steps=1),
    )


@pytest.mark.usefixtures("_uncompiled")
def test_it_learns_and_resumes_with_the_same_steps(tmp_path: Path):
    imported = import_model(MODEL, tmp_path / "imported")
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    train(fine_tuning(imported, tmp_path, 2), whole, init_from=imported.path)
    train(fine_tuning(imported, tmp_path, 1), halves, init_from=imported.path)
    train(fine_tuning(imported, tmp_path, 2), halves)
    before = TrainedModel.load(imported).weights
    expected, found = (TrainedModel.load(run, checkpoint="latest").weights for run in (whole, halves))
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
        assert np.isfinite(array).all()
    assert any((array != before[name]).any() for name, array in expected.items())
    facts = Run(halves).facts()
    assert facts["imported_from"] == imported.facts()["imported_from"]
    assert facts["initialized_from"]


@pytest.mark.usefixtures("_uncompiled")
def test_unknown_characters_are_labels_that_can_be_learnt(tmp_path: Path):
    """Hugging Face's form forbids [UNK] by its bias."""
    imported = import_model(MODEL, tmp_path / "imported")
    again = import_model(
        export_model(imported, format="huggingface", output=tmp_path / "export").path, tmp_path / "again"
    )
    config = fine_tuning(again, tmp_path, 1)
    text = Path(config.data.path).read_text(encoding="utf-8")
    Path(config.data.path).write_text(text.replace(".\n", " ✓.\n"), encoding="utf-8")
    tuned = train(config, tmp_path / "tuned", init_from=again.path)
    assert History(tmp_path / "tuned").validations()[0]["validation"]["loss"] < 50, tuned


def test_its_tokenizer_is_not_learnt_from_pairs(tmp_path: Path):
    imported = import_model(MODEL, tmp_path / "imported")
    config = fine_tuning(imported, tmp_path, 1)
    with pytest.raises(TokenizerError, match="which cannot be trained"):
        train(config, tmp_path / "new")
    data = replace(config.data, source_language="en", target_language="pt")
    with pytest.raises(RunError, match="translates pt→en, not en→pt"):
        train(replace(config, data=data), tmp_path / "new", init_from=imported.path)
