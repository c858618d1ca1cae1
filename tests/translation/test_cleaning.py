"""Cleaning: two runs with random weights score pairs, and a share of them is kept."""

import gzip
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_models import write_random_run

from ptenmt.config import Config, CorpusFile, DataConfig, FilterConfig, StageConfig, TokenizerConfig
from ptenmt.config.loading import load_config
from ptenmt.data.corpus import load_corpus, original_pairs
from ptenmt.errors import ConfigError, DataError, OutputError, PtenmtError, RunError
from ptenmt.model.ctranslate2_model import CTranslate2Model, convert
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, START
from ptenmt.translation import resumable_output, translator
from ptenmt.translation.cleaning import Cleaning, dual_scores
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

PAIRS = [
    (f"{who} {what} {when}", f"{whom} {does} {then}")
    for who, whom in {
        "O gato": "The cat",
        "O cão": "The dog",
        "A ave": "The bird",
        "O rei": "The king",
    }.items()
    for what, does in {"come": "eats", "não dorme": "doesn't sleep", "canta": "sings"}.items()
    for when, then in {"hoje": "today", "agora,  já!": "now!", "aqui": "here"}.items()
]


def random_runs(folder: Path, **options: Any) -> dict[str, Run]:
    """A run in each direction."""
    forward = DataConfig(source="files", path="-", **options)
    swapped = [(target, source) for source, target in PAIRS]
    return {
        "forward": write_random_run(folder / "pt-en", forward, PAIRS),
        "backward": write_random_run(folder / "en-pt", replace(forward, reverse=True), swapped),
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Of plain text."""
    return random_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are not rounded to int8."""

    def model(trained: TrainedModel) -> CTranslate2Model:
        checksum = trained.info.checksum
        return convert(trained.config.model, trained.weights, trained.tokenizers, checksum, "float32")

    monkeypatch.setattr(translator, "ctranslate2_model", model)


def written(folder: Path, **options: Any) -> DataConfig:
    """Two files, one of them compressed, with their own validation pair."""
    (folder / "held.tsv").write_text("Isto é o teste.\tThis is the test.\n", encoding="utf-8")
    (folder / "first.tsv").write_text("".join(f"{pt}\t{en}\n" for pt, en in PAIRS[:20]), encoding="utf-8")
    (folder / "second.tsv.gz").write_bytes(
        gzip.compress("".join(f"{pt}\t{en}\n" for pt, en in PAIRS[20:]).encode())
    )
    held = (CorpusFile(path=str(folder / "held.tsv")),)
    train = tuple(CorpusFile(path=str(folder / name)) for name in ("first.tsv", "second.tsv.gz"))
    given = {"train": train, "validation": held, "test": held, "cache_dir": str(folder / "cache")}
    return DataConfig(source="files", **given | options)


def cleaned(data: DataConfig, runs: dict[str, Run], output: Path, keep: float = 1.0) -> list[list[str]]:
    """The rows of the output."""
    Cleaning(config=Config(data=data), **runs, keep=keep, output=output).run()
    content = output.read_bytes()
    text = gzip.decompress(content) if output.suffix == ".gz" else content
    return [line.split("\t") for line in text.decode().splitlines()]


def test_the_score_by_hand() -> None:
    scores = dual_scores(np.array([1.0, 1.0, 3.0, 0.0]), np.array([1.0, 3.0, 1.0, 0.0]))
    assert scores.tolist() == pytest.approx([math.exp(-1), math.exp(-4), math.exp(-4), 1.0])


@pytest.mark.usefixtures("in_float32")
def test_scores_are_those_of_the_numpy_models(tmp_path: Path, runs: dict[str, Run]) -> None:
    def cross_entropy(trained: TrainedModel, source: str, target: str) -> float:
        (sources,) = trained.tokenizers.source.encode([" ".join(source.split())])
        (targets,) = trained.tokenizers.target.encode([" ".join(target.split())])
        model: Any = trained.numpy_model
        found = model.log_probabilities(np.array([[START, *sources, END]]), np.array([[START, *targets]]))[0]
        return -float(found[np.arange(len(found)), [*targets, END]].mean())

    rows = cleaned(written(tmp_path), runs, tmp_path / "clean.tsv.gz")
    forward, backward = (TrainedModel.load(run) for run in runs.values())
    for pt, en, score in rows:
        entropies = cross_entropy(forward, pt, en), cross_entropy(backward, en, pt)
        expected = math.exp(-(abs(entropies[0] - entropies[1]) + sum(entropies) / 2))
        assert float(score) == pytest.approx(expected, rel=1e-3)


def test_everything_is_kept_in_order_or_the_best_half(
    tmp_path: Path, runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written(tmp_path)
    rows = cleaned(data, runs, tmp_path / "all.tsv.gz")
    assert [tuple(row[:2]) for row in rows] == PAIRS, "as in the files: with double spaces, too"
    assert len({row[2] for row in rows}) > 30
    monkeypatch.delattr(CTranslate2Engine, "score")
    half = cleaned(data, runs, tmp_path / "half.tsv", keep=0.5)
    worst_kept = sorted(float(row[2]) for row in rows)[len(rows) // 2]
    assert half == [row for row in rows if float(row[2]) >= worst_kept]
    assert len(half) == len(rows) // 2
    with pytest.raises(AttributeError, match="score"):
        cleaned(replace(data, limit=9), runs, tmp_path / "other.tsv")


def test_reports_count_each_file(tmp_path: Path, runs: dict[str, Run]) -> None:
    output = tmp_path / "clean.tsv"
    reports = Cleaning(config=Config(data=written(tmp_path)), **runs, keep=0.25, output=output).run()
    assert [(each.name, each.num_read) for each in reports] == [("first", 20), ("second", 16)]
    assert sum(each.num_left for each in reports) == 9 == len(output.read_text(encoding="utf-8").splitlines())
    for report in reports:
        ((name, removed),) = report.removed.items()
        assert name.startswith("score under ")
        assert removed.count == report.num_read - report.num_left


def test_the_two_roles_are_symmetrical(tmp_path: Path, runs: dict[str, Run]) -> None:
    """In the other direction the runs change places; the file has the same sides."""
    data = written(tmp_path)
    rows = cleaned(data, runs, tmp_path / "forward.tsv", keep=0.6)
    exchanged = {"forward": runs["backward"], "backward": runs["forward"]}
    assert cleaned(replace(data, reverse=True), exchanged, tmp_path / "backward.tsv", keep=0.6) == rows


@pytest.mark.parametrize("reverse", [False, True])
def test_the_output_takes_the_place_of_the_files(tmp_path: Path, reverse: bool) -> None:
    """It leads to the same splits, and Moses does not see its own tokens again."""
    form = {"normalization": "NFKC", "tokenization": "moses"}
    runs = random_runs(tmp_path, **form)
    if reverse:
        runs = {"forward": runs["backward"], "backward": runs["forward"]}
    lines = ["O rei ri.\tIt doesn't.", "x &amp; y\tx &amp; y\t0.5", "\tempty", *["um\tone"] * 2]
    (tmp_path / "more.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    data = written(tmp_path, validation=(), test=(), reverse=reverse, **form)
    filters = FilterConfig(deduplicate="exact", max_words=8, unescape_html=True)
    more = CorpusFile(path=str(tmp_path / "more.tsv"))
    data = replace(data, train=(*data.train, more), filters=filters)
    rows = cleaned(data, runs, tmp_path / "clean.tsv.gz")
    before = load_corpus(data, 1234)
    after = load_corpus(replace(data, train=(CorpusFile(path=str(tmp_path / "clean.tsv.gz")),)), 1234)
    assert (after.validation, after.test) == (before.validation, before.test)
    assert list(after.train) == list(before.train)
    assert sum(len(row) == 2 for row in rows) == len(before.validation) + len(before.test) > 1
    assert {("um", "one"), ("O rei ri.", "It doesn't.")} < {tuple(row[:2]) for row in rows}


def test_an_interrupted_run_continues(
    tmp_path: Path, runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resumable_output, "BUFFER_SIZE", 8)
    data = written(tmp_path)
    job = Cleaning(config=Config(data=data), **runs, keep=0.5, output=tmp_path / "clean.tsv")
    scored: list[tuple[str, int]] = []

    def interrupt(activity: str, done: int, _total: int) -> None:
        scored.append((activity, done))
        if scored[-2:] == [("scoring en→pt", 8), ("scoring en→pt", 16)]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job.run(interrupt)
    assert not job.output.exists()
    scored.clear()
    job.run(interrupt)
    assert scored == [("reading the pairs", 0)] + [("scoring en→pt", done) for done in (16, 24, 32, 36)]
    straight = cleaned(
        replace(data, cache_dir=str(tmp_path / "new")), runs, tmp_path / "straight.tsv", keep=0.5
    )
    assert job.output.read_bytes() == (tmp_path / "straight.tsv").read_bytes()
    assert len(straight) == 18


def test_files_that_change_meanwhile_are_an_error(tmp_path: Path) -> None:
    data = written(tmp_path)
    corpus = load_corpus(data, 1)
    rows = [row for _, chunk in original_pairs(data, corpus) for _, row in chunk]
    assert rows == list(range(len(PAIRS)))
    (tmp_path / "first.tsv").write_text("um\tone\n", encoding="utf-8")
    with pytest.raises(DataError, match="the training files have changed"):
        list(original_pairs(data, corpus))


def test_refusals(tmp_path: Path, runs: dict[str, Run]) -> None:
    data = written(tmp_path)
    good = {"config": Config(data=data), **runs, "keep": 0.8, "output": tmp_path / "clean.tsv"}

    def refused(error: type[PtenmtError], message: str, **changes: Any) -> str:
        with pytest.raises(error, match=message) as raised:
            Cleaning(**good | changes).run()
        assert not (tmp_path / "clean.tsv").exists()
        return raised.value.hint

    for keep in (0.0, -0.1, 1.01, math.nan):
        refused(ConfigError, f"--keep {keep:g} must be above 0 and at most 1", keep=keep)
    refused(OutputError, "--output .*clean.csv must end in .tsv or .tsv.gz", output=tmp_path / "clean.csv")
    for name in ("first.tsv", "second.tsv.gz", "held.tsv"):
        refused(OutputError, f"{name} is a file of the config", output=tmp_path / name)
    refused(OutputError, "cannot write .*: No such file or directory", output=tmp_path / "no" / "clean.tsv")
    swapped = {"forward": runs["backward"], "backward": runs["forward"]}
    message = (
        "^--forward en-pt has direction en→pt, not pt→en; --backward pt-en has direction pt→en, not en→pt$"
    )
    assert "--backward in the other direction" in refused(RunError, message, **swapped)
    refused(RunError, "^--backward pt-en has direction pt→en, not en→pt$", backward=runs["forward"])
    spanish = Config(data=replace(data, source_language="es"))
    refused(RunError, "--forward pt-en has direction pt→en, not es→en; ", config=spanish)
    for option, value in {"lowercase": True, "normalization": "NFC", "tokenization": "moses"}.items():
        other = Config(data=replace(data, **{option: value}))
        refused(RunError, f"--forward pt-en has {option} .*, not {value}; --backward", config=other)
    message = "cannot have the weights, tags or stages"
    (first, second) = data.train
    for train in ((replace(first, weight=2.0), second), (replace(first, tag="<bt>"), second)):
        mixed = Config(data=replace(data, train=train), tokenizer=TokenizerConfig(kind="sentencepiece"))
        refused(ConfigError, message, config=mixed)
    stages = (StageConfig(mix={"first": 1}),)
    refused(ConfigError, message, config=Config(data=replace(data, stages=stages)))
    refused(ConfigError, "task=next-word has no sentence pairs", config=load_config("next-word.yaml"))
    (tmp_path / "first.tsv").write_text("", encoding="utf-8")
    refused(DataError, "first.tsv is empty", config=Config(data=replace(data, train=(first,))))
