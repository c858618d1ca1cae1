import gc
import importlib.util
import logging
import os
import pickle
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import clean_environment  # noqa: F401 -- first, for it clears the environment
import pytest
from copy_task import TrainedRun, copy_config, uncompiled, write_pairs
from filelock import FileLock

from ptenmt.config import BatchConfig, CheckpointConfig, DataConfig, ModelConfig, TrainingConfig

if TYPE_CHECKING:
    from ptenmt.inspection.inspector import Inspector
    from ptenmt.runs import Run
    from ptenmt.training.events import Event
    from ptenmt.translation import Translator


# Background jobs of a shell ignore SIGINT, and nohup SIGHUP: processes that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cluster-python", help="a Python with ray, pyspark and what ptenmt needs to translate")
    parser.addoption(
        "--transformers-python",
        help="a Python with transformers and torch: what it computes is compared",
    )


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Prepared corpora go where the tests do, not into the user's cache; in subprocesses too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _own_log() -> Iterator[None]:
    """What a command in this process makes of the log, ``--verbose`` for one, ends with the test.

    A command that a fixture of the module ran may have left a handler of a stream that is closed now.
    """
    log = logging.getLogger("ptenmt")
    for logger in (log, logging.getLogger()):
        for handler in list(logger.handlers):
            if type(handler) is logging.StreamHandler and handler.stream.closed:
                logger.removeHandler(handler)
    level, handlers = log.level, list(log.handlers)
    yield
    log.setLevel(level)
    log.handlers[:] = handlers


# A process of the tests makes many models, of which TensorFlow warns, maybe on a closed stderr of a test.
logging.getLogger("tensorflow").setLevel(logging.ERROR)


LONG = {"training", "test_engines_agree"}
"""A folder and a file."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first, so that no process is left with one at the end."""
    items.sort(key=lambda item: LONG.isdisjoint((item.path.parent.name, item.path.stem)))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: TensorFlow's objects need not be looked through again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def _uncompiled() -> Iterator[None]:
    """Steps run op by op during the test."""
    with uncompiled():
        yield


@pytest.fixture
def _without_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow seems not to be installed."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "tensorflow" else find_spec(name, *rest),
    )


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Fills a folder in one of the processes that run tests, and gives each of them a copy of its own."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def copy(name: str, fill: Callable[[Path], None]) -> Path:
        original, complete = shared / f"{name}-original", shared / f"{name}-complete"
        with FileLock(shared / f"{name}.lock"):
            if not complete.exists():
                original.mkdir(exist_ok=True)
                fill(original)
                complete.touch()
        return Path(shutil.copytree(original, tmp_path_factory.mktemp(name) / name))

    return copy


@pytest.fixture(scope="session")
def copied(made_once: Callable[..., Path]) -> TrainedRun:
    """A run that learnt to copy: 14 epochs, saved after 6, 12 and 14 of them, two checkpoints kept."""
    from ptenmt.training.session import train

    def train_it(folder: Path) -> None:
        config = copy_config(
            write_pairs(folder / "pairs.tsv", 500),
            data=DataConfig(
                source="files", path=str(folder / "pairs.tsv"), validation_pairs=20, test_pairs=30
            ),
            model=ModelConfig(num_layers=1, d_model=32, num_heads=4, d_ff=64, dropout=0.1, max_positions=32),
            batch=BatchConfig(sentences=16),
            training=TrainingConfig(epochs=14, warmup_steps=150),
            checkpoint=CheckpointConfig(every_epochs=6, keep=2),
        )
        events: list[Event] = []
        result = train(config, folder / "run", on_event=events.append)
        trained = TrainedRun(result.run, config, events, result.history)
        (folder / "trained.pickle").write_bytes(pickle.dumps(trained))

    folder = made_once("copied", train_it)
    trained: TrainedRun = pickle.loads((folder / "trained.pickle").read_bytes())
    return replace(trained, path=folder / "run")


@pytest.fixture
def run(copied: TrainedRun, tmp_path: Path) -> "Run":
    """A copy of the trained run, to be changed."""
    from ptenmt.runs import Run

    return Run(Path(shutil.copytree(copied.path, tmp_path / "copy")))


@pytest.fixture(scope="session")
def inspector(copied: TrainedRun) -> "Inspector":
    from ptenmt.inspection.inspector import Inspector

    return Inspector(copied.path, on_warning=pytest.fail)


@pytest.fixture(scope="session")
def translator(copied: TrainedRun) -> "Translator":
    from ptenmt.translation import Translator

    return Translator.load(copied.path, engine="keras")
