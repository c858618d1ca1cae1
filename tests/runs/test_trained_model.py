"""Loading a run: which weights it takes, and that all parts are of the same."""

import shutil

import numpy as np
import pytest
from copy_task import TrainedRun, change_latest_weights

from ptenmt.errors import CheckpointError, TokenizerError
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.tokenizers import TokenizerPair, load_tokenizers
from ptenmt.tokenizers.words import WordTokenizer


@pytest.fixture
def run(run: Run) -> Run:
    """The latest weights are not the best ones."""
    change_latest_weights(run)
    return run


def test_the_best_or_the_latest(run: Run, copied: TrainedRun) -> None:
    best, latest = (TrainedModel.load(run, checkpoint=choice) for choice in ("best", "latest"))  # type: ignore[arg-type]
    assert (best.info.file.stem, latest.info.file.stem, latest.info.step) == ("best", "latest", 14 * 29)
    assert best.config == copied.config
    assert best.weights.keys() == latest.weights.keys()


def test_all_models_are_of_these_weights(run: Run) -> None:
    trained = TrainedModel.load(run, on_warning=pytest.fail)
    source, target = np.array([[2, 7, 9, 3]]), np.array([[2, 7, 9]])
    expected = trained.numpy_model.logits(source, target)  # type: ignore[call-arg]
    np.testing.assert_allclose(trained.keras_model((source, target)), expected, atol=1e-4)
    assert trained.keras_model is trained.keras_model


def test_a_file_without_metadata_gives_way_to_the_latest(run: Run) -> None:
    file = run.weights_folder / "best.safetensors"
    file.write_bytes(b"")
    warnings: list[str] = []
    assert TrainedModel.load(run, on_warning=warnings.append).info.file.stem == "latest"
    (warning,) = warnings
    assert f"{file} are damaged: " in warning
    assert warning.endswith("; using latest.safetensors instead")
    (run.weights_folder / "latest.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match="no weights in .* can be read: .* are damaged"):
        TrainedModel.load(run)


def test_nothing_of_other_weights_is_loaded_later(run: Run) -> None:
    trained = TrainedModel.load(run, on_warning=pytest.fail)
    loaded = TrainedModel.load(run, on_warning=pytest.fail)
    arrays = loaded.weights
    ctranslate2_model(trained)
    shutil.copy(run.weights_folder / "latest.safetensors", run.weights_folder / "best.safetensors")
    with pytest.raises(CheckpointError, match="was replaced by a running training"):
        _ = trained.weights
    assert loaded.weights is arrays
    assert ctranslate2_model(loaded).weights == loaded.info.checksum


def test_tokenizers_of_another_run_are_refused(run: Run) -> None:
    """Of as many words."""
    size = load_tokenizers(run.tokenizer_folder).source.vocabulary_size
    texts = [" ".join(f"word{number}" for number in range(size - 4))]
    tokenizer = WordTokenizer.train(texts, size, "keep", "frequency")
    TokenizerPair(tokenizer, tokenizer).save(run.tokenizer_folder)
    with pytest.raises(TokenizerError, match="is the tokenizer of another model"):
        TrainedModel.load(run)
