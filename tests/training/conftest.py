from collections.abc import Callable
from pathlib import Path

import pytest
import trainer_setup
from copy_task import copy_config, write_pairs
from trainer_setup import TrainerSetup

from ptenmt.config import Config


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Three epochs of six steps (47 pairs or so by 8) with dropout, saved after each."""
    return copy_config(write_pairs(tmp_path_factory.mktemp("quick") / "pairs.tsv", 58))


@pytest.fixture(scope="session")
def build_trainer() -> Callable[[Config, Path], TrainerSetup]:
    """Builds what ``train`` builds, with a validator that costs nothing."""
    return trainer_setup.build_trainer


@pytest.fixture
def _every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the trainer report each step, not a few a second."""
    monkeypatch.setattr("ptenmt.training.trainer.SECONDS_BETWEEN_REPORTS", 0)
