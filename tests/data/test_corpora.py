"""Public corpora: from archives of a loopback server to pairs in the config's direction."""

import contextlib
import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from http_server import Site, serve

from ptenmt.config import Config, CorpusFile, DataConfig, ModelConfig, TokenizerConfig, TrainingConfig
from ptenmt.config.loading import load_config
from ptenmt.data import corpora
from ptenmt.data.corpora import PublicCorpus, fetch_corpora
from ptenmt.data.corpus import fetch_sources, load_corpus
from ptenmt.data.readers import SentencePair
from ptenmt.errors import ConfigError, DataError, DownloadError
from ptenmt.runs import Run

pytestmark = pytest.mark.usefixtures("hasty")

PAIRS = [(f"a casa {number}", f"the house {number}") for number in range(40)]
LINES_PT, LINES_EN = ("".join(f"{pair[side]}\n" for pair in PAIRS).encode() for side in (0, 1))
Publish = Callable[..., str]


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publish]:
    """Serves an archive as that of a corpus, whose name it returns. Nothing is stored yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    with contextlib.ExitStack() as sites:

        def publish(body: bytes, name: str = "TED2020/v1") -> str:
            site = sites.enter_context(serve(Site(body=body)))
            monkeypatch.setattr(corpora, "_URL", site.url("{corpus}-{version}-{pair}.zip"))
            return name

        yield publish


def archive(portuguese: bytes = LINES_PT, english: bytes = LINES_EN, code: str = "pt") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr(f"TED.en-{code}.en", english)
        files.writestr(f"TED.en-{code}.{code}", portuguese)
        files.writestr("LICENSE", b"?")
    return content.getvalue()


def read_corpus(name: str, data: DataConfig) -> list[SentencePair]:
    return list(PublicCorpus.find(name, data).read())


def config(*files: str | CorpusFile, **options: Any) -> DataConfig:
    train = tuple(CorpusFile(corpus=file) if isinstance(file, str) else file for file in files)
    return DataConfig(train=train, **options)


def test_a_corpus_is_read_in_the_direction_of_the_config(publish: Publish) -> None:
    name = publish(archive(), "Tatoeba/v2")
    data = config(name)
    (facts,) = fetch_corpora(data)
    assert (facts["name"], facts["version"], facts["licence"]) == (name, "v2", "CC BY 2.0 FR")
    assert "Parallel Data, Tools and Interfaces in" in facts["bibtex"][0]
    assert read_corpus(name, data) == PAIRS
    backwards = replace(data, source_language="en", target_language="pt")
    assert read_corpus(name, backwards) == [pair[::-1] for pair in PAIRS]


def test_a_name_may_have_languages_of_its_own(publish: Publish) -> None:
    name = publish(archive(code="pt_br"), "Elsewhere/v1/en-pt_br")
    (facts,) = fetch_corpora(config(name))
    assert (facts["languages"], facts["licence"]) == (["en", "pt_br"], "unknown")
    assert read_corpus(name, config(name)) == PAIRS


def test_pairs_without_two_sentences_or_not_in_utf8_are_left_out(publish: Publish) -> None:
    english, portuguese = b"a\tb\n\nc\rd\n  \ne\nf\xe9\n", "à\nsem par\nc\nd\n\ng\n".encode()
    data = config(publish(archive(portuguese, english)))
    fetch_corpora(data)
    assert read_corpus("TED2020/v1", data) == [("à", "a\tb"), ("c", "c\rd")]


def test_training_pairs_validation_and_limit(publish: Publish) -> None:
    held_out = publish(archive("olá\n".encode(), b"hello\n"), "Dev/v1")
    dev = (CorpusFile(corpus=held_out),)
    fetch_corpora(config(held_out))
    train = publish(archive())
    data = config(CorpusFile(corpus=train, limit=8), validation=dev, test=dev)
    fetch_sources(Config(data=data, tokenizer=TokenizerConfig(kind="words")))
    loaded = load_corpus(data, seed=1)
    assert [loaded.train[row] for row in range(len(loaded.train))] == PAIRS[4::5]
    assert loaded.validation == [("olá", "hello")]
    reverse = load_corpus(replace(data, reverse=True), seed=1)
    assert reverse.validation == [("hello", "olá")]
    assert reverse.train[0] == PAIRS[4][::-1]
    assert data.train[0].label == train
    assert len(load_corpus(config(train, validation=dev, test=dev), seed=1).train) == len(PAIRS)


@pytest.mark.usefixtures("_uncompiled")
def test_a_run_remembers_licence_and_citation(publish: Publish, tmp_path: Path) -> None:
    from ptenmt.training.session import train

    data = config(publish(archive(), "Tatoeba/v2"), validation_pairs=4, test_pairs=4)
    model = ModelConfig(num_layers=1, d_model=8, num_heads=1, d_ff=8, max_positions=16)
    length = TrainingConfig(max_steps=1, warmup_steps=1)
    options = Config(data=data, tokenizer=TokenizerConfig(kind="words"), model=model, training=length)
    run = Run(train(options, tmp_path / "run").run)
    assert run.facts()["corpora"] == fetch_corpora(data)
    assert run.facts()["corpora"][0]["licence"] == "CC BY 2.0 FR"
    assert run.config().data == data


def test_a_limit_of_a_file_is_spread_over_it(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    data = config(CorpusFile(path=str(file), limit=3), hold_out=False)
    loaded = load_corpus(data, seed=1)
    assert [loaded.train[row] for row in range(3)] == [PAIRS[13], PAIRS[26], PAIRS[39]]
    with pytest.raises(ConfigError, match="limit=0 must be 1 or more"):
        CorpusFile(path="x.tsv", limit=0)
    with pytest.raises(ConfigError, match="or {corpus: NAME}; it has path and corpus"):
        CorpusFile(path="x.tsv", corpus="y")


@pytest.mark.parametrize("name", ["OPUS-ted2020-v1-eng-por", "ted", "../x/v1", "TED2020/v1/en"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="is not the name of a public corpus") as failure:
        fetch_corpora(config(name))
    assert "such as TED2020/v1" in failure.value.hint


def test_other_languages_and_what_is_not_here_are_refused(publish: Publish) -> None:
    publish(archive())
    with pytest.raises(DataError, match="is not of the config's languages, pt-en"):
        fetch_corpora(config("TED2020/v1/de-en"))
    with pytest.raises(DataError, match="is not on this machine") as failure:
        read_corpus("TED2020/v1", config("TED2020/v1"))
    assert "ptenmt download" in failure.value.hint


BROKEN = {
    "half a zip": (archive()[:-200], DownloadError, "is damaged: "),
    "another layout": (archive(code="es"), DownloadError, "has no file that ends in en-pt.en"),
    "unequal sides": (archive(LINES_PT, b"one\n"), DataError, "sides have different numbers of lines"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_archive_is_an_error_and_a_damaged_one_is_not_kept(publish: Publish, case: str) -> None:
    body, error, message = BROKEN[case]
    data = config(publish(body))
    for _ in range(2):
        fetch_corpora(data)
        with pytest.raises(error, match=message):
            read_corpus("TED2020/v1", data)
    assert PublicCorpus.find("TED2020/v1", data).archive.exists() == (error is DataError)


def test_the_preset_names_corpora_of_opus() -> None:
    data = load_config("opus").data
    urls = [PublicCorpus.find(str(file.corpus), data).url for file in data.train]
    assert urls[0] == "https://object.pouta.csc.fi/OPUS-TED2020/v1/moses/en-pt.txt.zip"
    assert len(urls) == 8
