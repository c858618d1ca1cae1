"""Random Marian models made by ``transformers``, larger ones of other sizes, in both forms."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_marian import Comparison

from ptenmt.importing.run import import_model

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:the .* language is not stated")]


@pytest.fixture(scope="session")
def with_transformers(pytestconfig: pytest.Config) -> str:
    """A Python that has transformers and torch: the one that --transformers-python names, or this one."""
    named: str | None = pytestconfig.getoption("--transformers-python")
    if named is None and (find_spec("transformers") is None or find_spec("torch") is None):
        pytest.skip("no Python with transformers; --transformers-python may name one")
    return named or sys.executable


@pytest.mark.parametrize(
    "options",
    ["--seed 3", "--width 32 --heads 4 --layers 3 --seed 4", "--activation relu --seed 3"],
)
def test_both_forms_give_the_logits_and_translations_of_transformers(
    with_transformers: str, options: str, tmp_path: Path
):
    script = Path(__file__).parent / "make_marian.py"
    subprocess.run([with_transformers, script, tmp_path, *options.split()], check=True, capture_output=True)
    Comparison.of(import_model(tmp_path / "huggingface", tmp_path / "run"), tmp_path).check_everything()
    opus = Comparison.of(import_model(tmp_path / "opus", tmp_path / "opus-run"), tmp_path)
    opus.check_logits(opus.trained.numpy_model.logits(opus.padded, opus.fed), has_padding=False)
    opus.check_searches(opus.numpy_search)
