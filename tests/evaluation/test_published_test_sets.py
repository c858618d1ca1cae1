"""Test sets of sacreBLEU's catalogue: its own code, from a loopback server to scores."""

import hashlib
import io
import shutil
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import sacrebleu
from copy_task import TrainedRun
from http_server import Site, closed_port, serve
from sacrebleu.dataset import base
from sacrebleu.dataset.plain_text import PlainTextDataset
from scored_files import sacrebleu_command

from ptenmt.errors import ConfigError, DownloadError, OutputError
from ptenmt.evaluation import EvaluationFiles, evaluate

SOURCES = ["bala dico", "galo hime jaro"]
REFERENCES = ["Bala Dico", "galo hime jaro lume"]
PAIRS = {"pt-en": ["test/set.pt", "test/set.en"], "es-en": ["test/set.es", "test/set.en"]}


@cache
def archive() -> bytes:
    """Made once: gzip writes the time into it."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as packed:
        for name, lines in {"test/set.pt": SOURCES, "test/set.en": REFERENCES}.items():
            body = "".join(f"{line}\n" for line in lines).encode()
            member = tarfile.TarInfo(name)
            member.size = len(body)
            packed.addfile(member, io.BytesIO(body))
    return content.getvalue()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Serves mtedx/test, which sacreBLEU would download to a folder of this test."""
    monkeypatch.setenv("no_proxy", "*")
    for module in (base, sacrebleu):
        monkeypatch.setattr(module, "SACREBLEU_DIR", str(tmp_path / "sacrebleu"))
    with serve(Site(body=archive())) as served:
        register(monkeypatch, served.url("test.tar.gz"))
        yield served


def register(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    checksum = hashlib.md5(archive()).hexdigest()
    dataset = PlainTextDataset("mtedx/test", data=[url], md5=[checksum], langpairs=PAIRS)
    monkeypatch.setitem(sacrebleu.DATASETS, "mtedx/test", dataset)


def score(run: Path | None, **files: object) -> list[tuple[str, float]]:
    evaluation = evaluate(run, files=EvaluationFiles(test_set="mtedx/test", **files))  # type: ignore[arg-type]
    assert evaluation.pairs_name == "pairs of mtedx/test"
    assert [sentence.source for sentence in evaluation.sentences] == SOURCES
    assert [sentence.references for sentence in evaluation.sentences] == [[text] for text in REFERENCES]
    return [(each.text, each.value) for each in evaluation.scores]


def test_a_set_is_downloaded_once_and_scored(copied: TrainedRun, site: Site, tmp_path: Path) -> None:
    first = score(copied.path)
    assert [form for form, _ in first] == ["detokenized"] * 3
    assert score(copied.path) == first
    assert len(site.requests) == 1
    hypotheses = tmp_path / "theirs"
    hypotheses.write_text("".join(f"{line}\n" for line in SOURCES), encoding="utf-8")
    assert score(None, hypotheses=hypotheses) == first, "what a run that copies writes"


@pytest.mark.usefixtures("site")
def test_lower_case_text_is_scored_in_lower_case_too(copied: TrainedRun, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(copied.path, run)
    text = (run / "config.yaml").read_text(encoding="utf-8")
    (run / "config.yaml").write_text(text.replace("lowercase: false", "lowercase: true"), encoding="utf-8")
    scores = score(run)
    assert [form for form, _ in scores] == ["detokenized"] * 3 + ["lowercased"] * 3
    evaluation = evaluate(run, files=EvaluationFiles(test_set="mtedx/test"))
    evaluation.write_texts(tmp_path)
    assert [value for _, value in scores[:3]] == sacrebleu_command(tmp_path, "detokenized")
    assert [value for _, value in scores[3:]] == sacrebleu_command(
        tmp_path, "lowercased", "-lc", "--chrf-lowercase"
    )
    assert scores[4][1] > scores[1][1]


@pytest.mark.usefixtures("site")
def test_sets_that_do_not_exist(copied: TrainedRun) -> None:
    with pytest.raises(ConfigError, match="no test set mtedx/tst — did you mean mtedx/test?") as failure:
        evaluate(copied.path, files=EvaluationFiles(test_set="mtedx/tst"))
    assert "--test-set list" in failure.value.hint
    with pytest.raises(ConfigError, match="test set wmt14 is not in pt-en, only in .*de-en"):
        evaluate(copied.path, files=EvaluationFiles(test_set="wmt14"))


def test_a_broken_download_is_not_kept(copied: TrainedRun, site: Site) -> None:
    whole, site.body = site.body, site.body[:100]
    for _ in range(2):
        with pytest.raises(DownloadError, match="cannot fetch test set mtedx/test .*: wrong checksum"):
            score(copied.path)
    site.body = whole
    assert score(copied.path)


@pytest.mark.usefixtures("site")
def test_a_folder_that_cannot_be_written_is_no_network_error(copied: TrainedRun, tmp_path: Path) -> None:
    (tmp_path / "sacrebleu").touch()
    with pytest.raises(OutputError, match="cannot write .*sacrebleu"):
        score(copied.path)


@pytest.mark.usefixtures("site")
def test_offline_is_one_line(copied: TrainedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, f"http://127.0.0.1:{closed_port()}/test.tar.gz")
    with pytest.raises(DownloadError, match="cannot fetch test set mtedx/test from .*refused") as failure:
        score(copied.path)
    assert "\n" not in failure.value.message
