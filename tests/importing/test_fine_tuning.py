"""A training that starts from an imported model: it runs, and is resumed."""

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
from ptenmt.training.events import Event, TrainingStarted
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
def test_it_learns_and_is_resumed(tmp_path: Path):
    imported = import_model(MODEL, tmp_path / "imported")
    tuned, weights = tmp_path / "tuned", [TrainedModel.load(imported).weights]
    for num_steps, initial in ((1, imported.path), (2, None)):
        events: list[Event] = []
        config = fine_tuning(imported, tmp_path, num_steps)
        train(config, tuned, init_from=initial, on_event=events.append)
        weights.append(TrainedModel.load(tuned, checkpoint="latest").weights)
        assert all(np.isfinite(array).all() for array in weights[-1].values())
        assert any((array != weights[-2][name]).any() for name, array in weights[-1].items())
    (started,) = (event for event in events if isinstance(event, TrainingStarted))
    assert started.resumed_from is not None
    facts = Run(tuned).facts()
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
