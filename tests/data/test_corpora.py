"""Public corpora: mtdata's own code, from a loopback server to pairs in the config's direction."""

import gzip
import hashlib
import io
import logging
import lzma
import os
import pickle
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from http_server import Site, closed_port, serve

from ptenmt.config import (
    Config,
    CorpusFile,
    DataConfig,
    ModelConfig,
    TokenizerConfig,
    TrainingConfig,
)
from ptenmt.data import corpora
from ptenmt.data.corpora import fetch_corpora, list_corpora, read_corpus
from ptenmt.data.corpus import fetch_sources, load_corpus
from ptenmt.errors import ConfigError, DataError, DownloadError, DownloadProgress
from ptenmt.runs import Run

pytestmark = pytest.mark.usefixtures("hasty")

PAIRS = [(f"a casa {number}", f"the house {number}") for number in range(40)]
LINES_PT, LINES_EN = ("".join(f"{pair[side]}\n" for pair in PAIRS).encode() for side in (0, 1))
TSV = "".join(f"{english}\t{portuguese}\n" for portuguese, english in PAIRS).encode()
Register = Callable[..., str]


class EmptyIndex:
    """Pickles as an index of mtdata without entries; making the real one takes half a minute."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (_new_index, ())


def _new_index() -> Any:
    index = sys.modules["mtdata.index"]
    return object.__new__(index.Index)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def index() -> Iterator[Any]:
    """The index that mtdata has in this process, without its entries."""
    with pytest.MonkeyPatch.context() as patch, corpora._mtdata():
        import mtdata

        file = mtdata.cached_index_file
        if not file.exists():
            file.parent.mkdir(parents=True)
            file.write_bytes(pickle.dumps(EmptyIndex()))
        index = corpora._index().INDEX
        from mtdata.index import ReferenceDb

        patch.setattr(index, "entries", {}, raising=False)
        patch.setattr(index, "ref_db", ReferenceDb(), raising=False)
        yield index


@pytest.fixture
def register(index: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """Serves a file as a corpus; returns the corpus' name. Nothing is stored yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    index.entries.clear()
    sites = []

    def register(name: str, body: bytes, url: str = "", **layout: Any) -> str:
        from mtdata.entry import Entry

        site = Site(body=body)
        serving = serve(site)
        sites.append(serving)
        served = serving.__enter__()
        file = layout.pop("file", "file.zip")
        index.add_entry(Entry(name, url or served.url(file), cite=("tiedemann2012parallel",), **layout))
        return name

    yield register
    for serving in sites:
        serving.__exit__(None, None, None)


def zipped(**files: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name.replace("__", "."), body)
    return content.getvalue()


def moses(portuguese: bytes = LINES_PT, english: bytes = LINES_EN) -> bytes:
    return zipped(TED__en=english, TED__pt=portuguese, LICENSE=b"?")


MOSES = {"in_paths": ["*.en", "*.pt"], "in_ext": "txt"}


def tmx() -> bytes:
    side = '<tuv xml:lang="{}"><seg>{}</seg></tuv>'
    units = "".join(
        f"<tu>{side.format('en', english)}{side.format('pt', portuguese)}</tu>"
        for portuguese, english in PAIRS
    )
    return f'<?xml version="1.0"?><tmx version="1.4"><header/><body>{units}</body></tmx>'.encode()


def tarred() -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, body in {"set/dev.eng": LINES_EN, "set/dev.por": LINES_PT}.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return content.getvalue()


def config(*files: str | CorpusFile, **options: Any) -> DataConfig:
    train = tuple(CorpusFile(corpus=file) if isinstance(file, str) else file for file in files)
    return DataConfig(train=train, **options)


FORMATS = {
    "zip of Moses files": (moses(), "file.zip", MOSES),
    "zip of TMX": (zipped(a__tmx=tmx()), "file.zip", {"in_paths": ["*.tmx"], "in_ext": "tmx"}),
    "tsv.gz": (gzip.compress(TSV), "file.tsv.gz", {}),
    "tsv.xz": (lzma.compress(TSV), "file.tsv.xz", {}),
    "other columns": (
        gzip.compress(b"".join(b"1.1\t" + line + b"\n" for line in TSV.splitlines())),
        "file.tsv.gz",
        {"cols": (1, 2)},
    ),
    "one column of each of two files": (
        zipped(
            a__tsv=b"".join(b"1\t" + line.split(b"\t")[0] + b"\n" for line in TSV.splitlines()),
            b__tsv=b"".join(b"1\t" + line.split(b"\t")[1] + b"\n" for line in TSV.splitlines()),
        ),
        "file.zip",
        {"in_paths": ["a.tsv", "b.tsv"], "in_ext": "tsv", "cols": (1,)},
    ),
    "tar": (
        tarred(),
        "file.tar.gz",
        {"in_paths": ["*/dev.eng", "*/dev.por"], "in_ext": "txt"},
    ),
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_corpus_is_read_in_the_direction_of_the_config(register: Register, form: str) -> None:
    body, file, layout = FORMATS[form]
    name = register("OPUS-ted-v1-eng-por", body, file=file, **layout)
    for given in (name, "OPUS-ted-v1-por-eng", "OPUS-ted-v1-pt-en"):
        data = config(given)
        (facts,) = fetch_corpora(data)
        assert (facts["name"], facts["pairs"], facts["skipped"]) == (name, len(PAIRS), 0)
        assert list(read_corpus(given, data)) == PAIRS
    data = config(name, source_language="en", target_language="pt")
    assert list(read_corpus(name, data)) == [pair[::-1] for pair in PAIRS]
    assert sorted(path.name for path in corpora._folder().iterdir()) == [name]


def test_facts_have_licence_citation_and_checksum(register: Register) -> None:
    body = moses()
    (facts,) = fetch_corpora(config(register("OPUS-tatoeba-v2-eng-por", body, **MOSES)))
    assert facts["licence"] == "CC BY 2.0 FR"
    assert facts["citations"] == ["tiedemann2012parallel"]
    assert "Parallel Data, Tools and Interfaces in" in facts["bibtex"][0]
    assert facts["version"] == "v2"
    assert facts["sha256"] == [hashlib.sha256(body).hexdigest()]
    for another in ("OPUS-elsewhere-v1-eng-por", "ELRC-tatoeba_covid-1-eng-por"):
        (other,) = fetch_corpora(config(register(another, body, **MOSES)))
        assert other["licence"] == "unknown"


def test_the_second_time_needs_neither_network_nor_index(
    register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = config(register("OPUS-ted-v1-eng-por", moses(), **MOSES))
    (facts,) = fetch_corpora(data)
    monkeypatch.setattr(corpora, "_index", lambda: pytest.fail("the index was loaded"))
    monkeypatch.setattr(corpora, "fetch", lambda *_, **__: pytest.fail("something was fetched"))
    assert fetch_corpora(data) == [facts]


def test_progress_is_reported_for_both_steps(register: Register) -> None:
    events: list[DownloadProgress] = []
    fetch_corpora(config(register("OPUS-ted-v1-eng-por", moses(), **MOSES)), events.append)
    assert list(dict.fromkeys((each.is_unpacking, each.name) for each in events)) == [
        (False, "ted.zip"),
        (True, "OPUS-ted-v1-eng-por"),
    ]
    assert events[-1].total == events[-1].done


def test_odd_text_becomes_one_line_a_pair(register: Register) -> None:
    english, portuguese = b"a\tb\n\nc\rd\n  \ne\n", "à\nsem par\nc\nd\n\n".encode()
    data = config(register("OPUS-ted-v1-eng-por", moses(portuguese, english), **MOSES))
    (facts,) = fetch_corpora(data)
    assert list(read_corpus(data.train[0].corpus or "", data)) == [("à", "a b"), ("c", "c d")]
    assert (facts["pairs"], facts["skipped"]) == (2, 3)


def test_a_table_may_have_returns_and_short_rows(register: Register) -> None:
    body = gzip.compress("a\rb\tà\n\nno pair\nc\tç\n".encode() + b"caf\xe9\td\n")
    data = config(register("OPUS-ted-v1-eng-por", body, file="file.tsv.gz"))
    (facts,) = fetch_corpora(data)
    assert list(read_corpus(data.train[0].corpus or "", data)) == [("à", "a b"), ("ç", "c")]
    assert (facts["pairs"], facts["skipped"]) == (2, 3)


def test_training_pairs_validation_and_limit(register: Register) -> None:
    train = register("OPUS-ted-v1-eng-por", moses(), **MOSES)
    held_out = register("OPUS-dev-v1-eng-por", moses("olá\n".encode(), b"hello\n"), **MOSES)
    dev = (CorpusFile(corpus=held_out),)
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
    assert (
        len(load_corpus(config(CorpusFile(corpus=train, limit=99), validation=dev, test=dev), 1).train) == 40
    )


@pytest.mark.usefixtures("_uncompiled")
def test_a_run_remembers_licence_and_citation(register: Register, tmp_path: Path) -> None:
    from ptenmt.training.session import train

    data = config(register("OPUS-tatoeba-v2-por-eng", moses(), **MOSES), validation_pairs=4, test_pairs=4)
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


def test_what_is_no_corpus_of_this_pair(register: Register) -> None:
    register("OPUS-ted2020-v1-eng-por", moses(), **MOSES)
    register("OPUS-ted2020-v1-deu-eng", moses(), **MOSES)
    register("Google-wmt-1-eng-por", b"", ext="hfds", in_paths=["x"], in_ext="hfds", url="https://hub/x")

    def refused(
        name: str, message: str, hint: str, error: type[Exception] = DataError, **options: str
    ) -> None:
        with pytest.raises(error, match=message) as failure:
            fetch_corpora(config(name, **options))
        assert hint in failure.value.hint

    languages = "ptenmt corpora --languages pt-en"
    refused(
        "OPUS-ted2021-v1-eng-por", "no corpus OPUS-ted2021.* did you mean OPUS-ted2020-v1-eng-por?", languages
    )
    refused("ted", "there is no corpus ted$", languages)
    refused("OPUS-ted2020-v1-deu-eng", "is of deu-eng, not of the config's pt-en", languages)
    refused("Google-wmt-1-eng-por", "on the Hugging Face hub", "as a .tsv file")
    refused(
        "OPUS-ted2020-v1-eng-por",
        "ISO 639 codes .* Klingonish",
        "",
        ConfigError,
        source_language="Klingonish",
    )
    with pytest.raises(DataError, match="is not on this machine") as failure:
        list(read_corpus("OPUS-ted2020-v1-eng-por", config("OPUS-ted2020-v1-eng-por")))
    assert "ptenmt download" in failure.value.hint


BROKEN = {
    "half a zip": (moses()[:-200], "file.zip", MOSES, DownloadError, "is damaged: it is neither a zip nor"),
    "a page instead of a file": (
        b"<html>",
        "file.tsv.gz",
        {},
        DownloadError,
        "the answer is a web page",
    ),
    "half a gz": (
        gzip.compress(TSV)[:-20],
        "file.tsv.gz",
        {},
        DownloadError,
        "is damaged: Compressed file ended",
    ),
    "half an xz": (
        lzma.compress(TSV)[:-20],
        "file.tsv.xz",
        {},
        DownloadError,
        "is damaged: Compressed file ended",
    ),
    "half a tar": (
        tarred()[:-30],
        "file.tar.gz",
        {"in_paths": ["*/dev.eng", "*/dev.por"], "in_ext": "txt"},
        DownloadError,
        "is damaged: ",
    ),
    "a damaged zip": (
        moses().replace(moses()[60:70], bytes(10)),
        "file.zip",
        MOSES,
        DownloadError,
        "is damaged: ",
    ),
    "an empty corpus": (moses(b"", b""), "file.zip", MOSES, DataError, "corpus OPUS-ted-v1-eng-por is empty"),
    "unequal sides": (
        moses(LINES_PT, b"one\n"),
        "file.zip",
        MOSES,
        DataError,
        "sides have different numbers of lines",
    ),
    "another layout": (
        zipped(a__en=b"x"),
        "file.zip",
        MOSES,
        DataError,
        "cannot be read: .*expected one file",
    ),
    "too few columns": (
        gzip.compress(b"one\n"),
        "file.tsv.gz",
        {},
        DataError,
        "corpus OPUS-ted-v1-eng-por is empty",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_errors_and_not_kept(register: Register, case: str) -> None:
    body, file, layout, error, message = BROKEN[case]
    name = register("OPUS-ted-v1-eng-por", body, file=file, **layout)
    for _ in range(2):
        with pytest.raises(error, match=message):
            fetch_corpora(config(name))
    assert list(corpora._folder().rglob("ted.*")) == []
    assert not (corpora._folder() / name).exists()


def test_offline_is_one_line(register: Register) -> None:
    name = register("OPUS-ted-v1-eng-por", b"", url=f"http://127.0.0.1:{closed_port()}/file.zip", **MOSES)
    with pytest.raises(DownloadError, match=r"cannot download ted\.zip from .*: .*refused"):
        fetch_corpora(config(name))


def test_the_list_needs_no_network(register: Register) -> None:
    register("OPUS-ted2020-v1-eng-por", b"", url="https://example.org/a.zip", **MOSES)
    register("OPUS-qed-v2-eng-por_BR", b"", url="https://example.org/a.zip", **MOSES)
    register("OPUS-ted2020-v1-deu-eng", b"", url="https://example.org/a.zip", **MOSES)
    assert [each["name"] for each in list_corpora("pt", "en")] == [
        "OPUS-ted2020-v1-eng-por",
        "OPUS-qed-v2-eng-por_BR",
    ]
    (found,) = list_corpora("eng", "por", "TED")
    assert (found["urls"], found["licence"]) == (
        ["https://example.org/a.zip"],
        "CC BY-NC-ND 4.0 (TED Talks Usage Policy)",
    )
    assert list_corpora("pt", "de") == []
    with pytest.raises(ConfigError, match="Klingonish"):
        list_corpora("pt", "Klingonish")


def test_mtdata_leaves_the_root_logger_alone(index: Any) -> None:  # noqa: ARG001 — it imports mtdata
    assert not [each for each in logging.getLogger().handlers if type(each).__module__.startswith("mtdata")]


def python(program: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "XDG_CACHE_HOME": str(folder)},
    ).stdout


def test_mtdata_is_imported_only_when_a_corpus_is_asked_for(tmp_path: Path) -> None:
    modules = "sys, ptenmt.data.corpus, ptenmt.translation, ptenmt.cli.data"
    program = f"import {modules}; print('mtdata' in sys.modules)"
    assert python(program, tmp_path) == "False\n"


@pytest.mark.slow
def test_the_real_index_has_the_preset_s_corpora(tmp_path: Path) -> None:
    """Half an index, as of a killed process, is rebuilt, without mtdata*.py of the working folder."""
    (tmp_path / "mtdata_notes.py").write_text("raise SystemExit('imported')")
    program = (
        "from ptenmt.config.loading import load_config\n"
        "from ptenmt.data import corpora\n"
        "with corpora._mtdata():\n"
        "    import mtdata\n"
        "mtdata.cached_index_file.parent.mkdir(parents=True)\n"
        "mtdata.cached_index_file.write_bytes(b'\\x80\\x04\\x95')\n"
        "data = load_config('opus').data\n"
        "for file in (*data.train, *data.validation, *data.test):\n"
        "    with corpora._mtdata():\n"
        "        assert str(corpora._entry(file.corpus, data).did) == file.corpus\n"
        "print(len(corpora.list_corpora('pt', 'en')), len(corpora.list_corpora('en', 'pt')))\n"
    )
    counts = list(map(int, python(program, tmp_path).split()))
    assert counts[0] == counts[1] > 200
