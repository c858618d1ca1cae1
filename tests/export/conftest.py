import shutil
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from untrained_runs import DECODING, MODEL, tokenizers, untrained_run

from ptenmt import export_model
from ptenmt.config import Config, DataConfig, TokenizerConfig
from ptenmt.export.packaging import Format
from ptenmt.runs import Run
from ptenmt.tokenizers import TokenizerPair


@pytest.fixture(scope="session")
def make_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Makes a run of an untrained model: ``make_run("words", data=DataConfig(...))``."""

    def make(
        kind: str, *, shared: bool = False, pair: TokenizerPair | None = None, **sections: object
    ) -> Run:
        usual = {
            "data": DataConfig(source="files", path="/home/jdoe/pairs.tsv"),
            "tokenizer": TokenizerConfig(kind=kind, shared=shared),  # type: ignore[arg-type]
            "model": MODEL,
            "decoding": DECODING,
        }
        config = Config(**usual | sections)  # type: ignore[arg-type]
        pair = pair or tokenizers(kind, shared=shared)
        return untrained_run(tmp_path_factory.mktemp(kind) / kind, config, pair)

    return make


@pytest.fixture(scope="session")
def plain_run(make_run: Callable[..., Run]) -> Run:
    """One SentencePiece for both languages, and plain text; read only."""
    return make_run("sentencepiece", shared=True)


@pytest.fixture
def own_run(plain_run: Run, tmp_path: Path) -> Run:
    """A copy of that run, to be changed."""
    return Run(Path(shutil.copytree(plain_run.path, tmp_path / "own")))


@pytest.fixture(scope="session")
def package(plain_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package for Argos Translate, in float32; read only."""
    file = tmp_path_factory.mktemp("argos") / "new" / "mine.argosmodel"
    return export_model(plain_run, format="argos", quantization="float32", output=file).path


@pytest.fixture(scope="session")
def installed(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package where it is unpacked; read only."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(package).extractall(folder)
    (unpacked,) = folder.iterdir()
    return unpacked


@pytest.fixture(scope="session")
def exported(
    plain_run: Run, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Format], Path]:
    """Gives a folder of each format, that of Argos where it is unpacked; read only."""
    folder = tmp_path_factory.mktemp("exports")

    @cache
    def export(form: Format) -> Path:
        if form == "argos":
            unpacked: Path = request.getfixturevalue("installed")
            return unpacked
        return export_model(plain_run, format=form, output=folder / form).path

    return export
