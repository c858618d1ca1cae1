"""Training pairs as ids in files: made once, as in memory."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ptenmt.config import CorpusFile, DataConfig, TokenizerConfig
from ptenmt.data import batches as batches_module, corpus as pairs
from ptenmt.data.batches import (
    encode_pairs,
    encode_training_pairs,
    learn_tokenizers,
)
from ptenmt.data.corpus import Corpus, load_corpus, load_split
from ptenmt.data.readers import demo_pairs
from ptenmt.data.store import CorpusCache, fingerprint
from ptenmt.tokenizers import TokenizerPair

SUBWORDS = TokenizerConfig(kind="sentencepiece", vocabulary_size=600, shared=True)
NO_NOISE = DataConfig()
LONGEST = 24


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataConfig:
    """Two files, the second of which is read twice in each epoch."""
    folder = tmp_path_factory.mktemp("data")
    everything = demo_pairs("train")[:700]
    files = []
    for name, some, weight in (("a", everything[:400], 1), ("b", everything[400:], 2)):
        text = "".join(f"{source}\t{target}\n" for source, target in some)
        (folder / f"{name}.tsv").write_text(text, encoding="utf-8")
        files.append(CorpusFile(path=str(folder / f"{name}.tsv"), weight=weight))
    return DataConfig(source="files", train=tuple(files), cache_dir=str(folder / "cache"))


@pytest.fixture(scope="module")
def corpus(data: DataConfig) -> Corpus:
    return load_corpus(data, 1)


@pytest.fixture(scope="module")
def cache(data: DataConfig) -> CorpusCache:
    return CorpusCache(Path(str(data.cache_dir)))


@pytest.fixture(scope="module")
def tokenizers(corpus: Corpus, cache: CorpusCache) -> TokenizerPair:
    return learn_tokenizers(SUBWORDS, corpus.train, NO_NOISE, cache)


def test_the_ids_are_those_of_the_pairs_in_memory(
    corpus: Corpus, tokenizers: TokenizerPair, cache: CorpusCache
) -> None:
    mapped, cut = encode_training_pairs(tokenizers, corpus.train, NO_NOISE, LONGEST, cache)
    expected, expected_cut = encode_pairs(tokenizers, list(corpus.train), LONGEST)
    assert cut == expected_cut > 0
    assert len(mapped) == len(expected) == len(corpus.train)
    np.testing.assert_array_equal(mapped.longest(), expected.longest())
    every = np.arange(len(expected))
    for side, expected_side in zip(
        mapped.batch(every, None, ()), expected.batch(every, None, ()), strict=True
    ):
        np.testing.assert_array_equal(side, expected_side)


def test_a_second_training_reads_and_tokenizes_nothing(
    data: DataConfig,
    corpus: Corpus,
    tokenizers: TokenizerPair,
    cache: CorpusCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, cut = encode_training_pairs(tokenizers, corpus.train, NO_NOISE, LONGEST, cache)

    def forbidden(*_args: object) -> None:
        raise AssertionError("the text is read or tokenized again")

    for module, name in (
        (pairs, "read_pairs"),
        (batches_module, "build_tokenizers"),
        (batches_module, "encode_framed"),
    ):
        monkeypatch.setattr(module, name, forbidden)
    again = load_corpus(data, 1)
    assert (again.validation, again.test, again.removed) == (corpus.validation, corpus.test, corpus.removed)
    assert again.train.fingerprint == corpus.train.fingerprint == fingerprint(corpus.train)
    assert load_split(data, 1, "test") == corpus.test
    learnt = learn_tokenizers(SUBWORDS, again.train, NO_NOISE, cache)
    second, second_cut = encode_training_pairs(learnt, again.train, NO_NOISE, LONGEST, cache)
    assert second_cut == cut
    np.testing.assert_array_equal(second.longest(), first.longest())
    for changed in (replace(data, lowercase=True), replace(data, test_pairs=3)):
        with pytest.raises(AssertionError, match="read or tokenized again"):
            load_corpus(changed, 1)
    with pytest.raises(AssertionError, match="read or tokenized again"):
        load_corpus(data, 2)
    with pytest.raises(AssertionError, match="read or tokenized again"):
        encode_training_pairs(learnt, again.train, NO_NOISE, LONGEST + 1, cache)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    data = DataConfig(source="files", path=str(file), cache_dir=str(tmp_path / "cache"))
    file.write_text("".join(f"a {number}\tb {number}\n" for number in range(30)))
    before = load_corpus(data, 1)
    file.write_text(file.read_text().replace("a 1", "A 1"))
    after = load_corpus(data, 1)
    assert before.train.fingerprint != after.train.fingerprint
    assert "A 1" in {source for source, _ in [*after.train, *after.validation, *after.test]}
