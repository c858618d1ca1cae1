"""Training pairs as ids in files: made once, as in memory; other pieces each epoch when sampled."""

import subprocess
import sys
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
from ptenmt.tokenizers import END, START, TokenizerPair

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
    mapped, cut = encode_training_pairs(tokenizers, corpus.train, NO_NOISE, LONGEST, 0.0, cache)
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
    first, cut = encode_training_pairs(tokenizers, corpus.train, NO_NOISE, LONGEST, 0.0, cache)

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
    second, second_cut = encode_training_pairs(learnt, again.train, NO_NOISE, LONGEST, 0.0, cache)
    assert second_cut == cut
    np.testing.assert_array_equal(second.longest(), first.longest())
    for changed in (replace(data, limit=5), replace(data, lowercase=True), replace(data, test_pairs=3)):
        with pytest.raises(AssertionError, match="read or tokenized again"):
            load_corpus(changed, 1)
    with pytest.raises(AssertionError, match="read or tokenized again"):
        load_corpus(data, 2)
    with pytest.raises(AssertionError, match="read or tokenized again"):
        encode_training_pairs(learnt, again.train, NO_NOISE, LONGEST + 1, 0.0, cache)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    data = DataConfig(source="files", path=str(file), cache_dir=str(tmp_path / "cache"))
    file.write_text("".join(f"a {number}\tb {number}\n" for number in range(30)))
    before = load_corpus(data, 1)
    file.write_text(file.read_text().replace("a 1", "A 1"))
    after = load_corpus(data, 1)
    assert before.train.fingerprint != after.train.fingerprint
    assert "A 1" in {source for source, _ in [*after.train, *after.validation, *after.test]}


def test_sampled_batches_have_the_same_text_in_other_tokens(
    corpus: Corpus, cache: CorpusCache, tokenizers: TokenizerPair
) -> None:
    drawn, _ = encode_training_pairs(tokenizers, corpus.train, NO_NOISE, 60, 0.2, cache)
    best, _ = encode_training_pairs(tokenizers, corpus.train, NO_NOISE, 60, 0.0, cache)
    rows = np.arange(300)
    epochs = [drawn.batch(rows, None, (1, epoch, 0)) for epoch in (0, 1)]
    for side, tokenizer in enumerate((tokenizers.source, tokenizers.target)):
        texts = [corpus.train[row][side] for row in rows]
        for batch in epochs:
            assert tokenizer.decode(batch[side].tolist()) == texts
            assert (batch[side][:, 0] == START).all()
            assert ((batch[side] == END).sum(axis=1) == 1).all()
        num_best = (best.batch(rows, None, ())[side] > 0).sum()
        assert 1.05 * num_best < (epochs[0][side] > 0).sum() < 2 * num_best
    assert not any(np.array_equal(first, second) for first, second in zip(*epochs, strict=True))
    # Sampling is for training alone.
    assert tokenizers.source.encode(texts) == tokenizers.source.encode(texts)


def test_another_process_draws_the_same() -> None:
    program = """
import hashlib, sys
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer
texts = ["%d times the lazy dog of number %d" % (n, n * n) for n in range(200)]
tokenizer = SentencePieceTokenizer.train(texts, vocabulary_size=80, algorithm="unigram")
for seed in eval(sys.argv[1]):
    drawn = tokenizer.sample(texts, 0.2, (seed,))
print(hashlib.sha256(repr(drawn).encode()).hexdigest())
"""
    answers = [
        subprocess.run([sys.executable, "-c", program, seeds], capture_output=True, text=True, check=True)
        for seeds in ("[5]", "[1, 2**40, 5]")
    ]
    assert answers[0].stdout == answers[1].stdout
    assert len(answers[0].stdout) > 60
