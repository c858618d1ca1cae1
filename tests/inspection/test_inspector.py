"""What is looked into: which weights, and sentences as the model reads them."""

import pytest
from copy_task import TrainedRun

from ptenmt.errors import DataError
from ptenmt.inspection.inspector import Inspector
from ptenmt.tokenizers import END, START


def test_a_sentence_is_read_as_the_model_reads_it(inspector: Inspector):
    reading = inspector.read("bala xyz hime")
    assert reading.source_pieces == ["[START]", "bala", "[UNK]", "hime", "[END]"]
    assert (reading.source[0], reading.source[-1]) == (START, END)
    own = inspector.read("bala hime")
    assert (own.target_pieces, own.target_text) == (["[START]", "bala", "hime", "[END]"], "bala hime")
    given = inspector.read("bala hime", "dico")
    assert given.target_pieces == ["[START]", "dico", "[END]"]


@pytest.mark.parametrize("texts", [("", None), ("  ", "bala"), ("bala", " "), ("\u200b", None)])
def test_nothing_to_read_is_an_error(inspector: Inspector, texts: tuple[str, str | None]):
    with pytest.raises(DataError, match="nothing is left of"):
        inspector.read(*texts)


def test_truncation_is_a_warning(copied: TrainedRun):
    warnings: list[str] = []
    inspector = Inspector(copied.path, on_warning=warnings.append)
    reading = inspector.read("bala " * 40, "bala")
    assert len(reading.source) == copied.config.model.max_positions == 32
    assert warnings == ["truncated to the model's 32 positions"]
    warnings.clear()
    exact = inspector.read("bala " * 30, "hime " * 30)
    assert len(exact.source) == len(exact.target) == 32
    assert warnings == []
    inspector.read("bala", "hime " * 31)
    assert warnings == ["truncated to the model's 32 positions"]
