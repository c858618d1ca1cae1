"""Batches with noise: a function of seed, epoch, batch and place; no larger than planned; sides aligned."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from ptenmt.config import AugmentConfig, BatchConfig, CorpusFile, DataConfig, TokenizerConfig
from ptenmt.data.augmentation import tokenizer_symbols
from ptenmt.data.batches import AugmentedPairs, Batch, BatchPlan, encode_training_pairs, learn_tokenizers
from ptenmt.data.corpus import load_corpus
from ptenmt.data.readers import demo_pairs
from ptenmt.data.store import CorpusCache, TextPairs
from ptenmt.errors import TokenizerError
from ptenmt.tokenizers import END, START, TokenizerPair, build_tokenizers, require_symbols

SUBWORDS = TokenizerConfig(kind="sentencepiece", vocabulary_size=700, shared=True)
NOISE = AugmentConfig(
    upper_case=0.1,
    title_case=0.1,
    lower_case=0.1,
    typos=0.2,
    drop_end_punctuation=0.2,
    symbols=0.2,
    placeholders=0.5,
)
LONGEST = 120
BY_TOKENS = BatchConfig(tokens=400)


class Prepared:
    """A corpus of two files, the second of which has a tag, and its tokenizers."""

    def __init__(self, folder: Path) -> None:
        files = []
        for name, first, tag in (("a", 0, None), ("b", 400, "<bt>")):
            chosen = demo_pairs("train")[first : first + 400]
            chosen[::4] = [("Sim,", "Yes,")] * 100  # real text has short sentences, too
            lines = [
                f"{source.capitalize()} {number}\t{target.capitalize()} {number}\n"
                for number, (source, target) in enumerate(chosen, first)
            ]
            (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
            files.append(CorpusFile(path=str(folder / f"{name}.tsv"), tag=tag))
        self.files = tuple(files)
        self.folder = folder
        self.cache = CorpusCache(folder / "cache")
        self.train: TextPairs = load_corpus(self.data(NOISE), 1).train
        self.tokenizers = learn_tokenizers(SUBWORDS, self.train, self.data(NOISE), self.cache)

    def data(self, augment: AugmentConfig) -> DataConfig:
        return DataConfig(train=self.files, cache_dir=str(self.folder / "cache"), augment=augment)

    def pairs(self, augment: AugmentConfig) -> AugmentedPairs:
        pairs, _ = encode_training_pairs(self.tokenizers, self.train, self.data(augment), LONGEST, self.cache)
        assert isinstance(pairs, AugmentedPairs)
        return pairs

    def texts(self, batch: Batch) -> list[tuple[str, str]]:
        decode = self.tokenizers.source.decode
        return list(zip(decode(batch[0].tolist()), decode(batch[1].tolist()), strict=True))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return Prepared(tmp_path_factory.mktemp("augmented"))


def digest(batches: Iterator[Batch]) -> list[bytes]:
    return [source.tobytes() + target.tobytes() for source, target in batches]


def test_batches_follow_from_seed_epoch_batch_and_place(prepared: Prepared) -> None:
    def plan(seed: int = 7) -> BatchPlan:
        return BatchPlan(prepared.pairs(NOISE), BY_TOKENS, seed)

    straight = digest(plan().batches(1))
    assert digest(plan().batches(1)) == straight
    assert digest(plan().batches(1, 20)) == straight[20:]  # as a resumed training reads them
    assert digest(islice(plan().batches(2), 5)) != straight[:5]
    assert digest(islice(plan(8).batches(1), 5)) != straight[:5]


@pytest.mark.parametrize("batch", [BY_TOKENS, BatchConfig(sentences=32)])
def test_no_batch_is_larger_than_planned(prepared: Prepared, batch: BatchConfig) -> None:
    pairs = prepared.pairs(NOISE)
    plan = BatchPlan(pairs, batch, 7)
    longest = int(pairs.longest().max())
    shapes = []
    for source, target in plan.batches(0):
        for side in (source, target):
            assert ((side == END).sum(axis=1) == 1).all()
            assert (side[:, 0] == START).all()
            assert side.shape[1] <= longest <= LONGEST
        shapes.append(source.shape)
    assert sum(count for count, _ in shapes) == len(prepared.train)
    if batch.tokens:
        assert all(count * width <= batch.tokens for count, width in shapes)


def every_text(prepared: Prepared, augment: AugmentConfig, epoch: int = 0) -> list[tuple[str, str]]:
    plan = BatchPlan(prepared.pairs(augment), BY_TOKENS, 7)
    return [pair for batch in plan.batches(epoch) for pair in prepared.texts(batch)]


@pytest.mark.parametrize(
    ("name", "share", "is_noisy"),
    [
        ("upper_case", 0.3, lambda text: text.removeprefix("<bt> ").isupper()),
        ("placeholders", 0.06, lambda text: any(sign in text for sign in "❶❷❸❹❺❻❼❽❾❿")),
        ("symbols", 0.3, lambda text: not text.removeprefix("<bt> ")[0].isalpha() or not text[-1].isdigit()),
    ],
)
def test_the_share_of_the_pairs_gets_a_noise_on_both_sides(
    prepared: Prepared, name: str, share: float, is_noisy: Callable[[str], bool]
) -> None:
    """Capitals double a sentence; pairs that outgrow their batch must not go without them.

    Without kept parts a fifth gets placeholders.
    """
    texts = every_text(prepared, AugmentConfig(**{name: 0.3}))
    noisy = [is_noisy(source) for source, _ in texts]
    assert np.mean(noisy) == pytest.approx(share, abs=0.05)
    assert sum(is_noisy(target) != found for (_, target), found in zip(texts, noisy, strict=True)) < 3


def test_sides_stay_aligned_and_within_their_file(prepared: Prepared) -> None:
    """Each sentence ends in its own number, which stands on both sides and says from which file it is."""
    augment = AugmentConfig(upper_case=0.2, typos=0.2, symbols=0.2)
    for source, target in every_text(prepared, augment):
        numbers = re.findall(r"\d+", source)  # in quotation marks, too
        assert numbers == re.findall(r"\d+", target)
        is_tagged = source.startswith("<bt> ")
        assert "<bt>" not in source[4:].lower()
        assert all((int(number) >= 400) == is_tagged for number in numbers)
        assert len(numbers) == 1


def test_tokenizers_without_the_symbols_are_an_error(prepared: Prepared) -> None:
    tokenizers: TokenizerPair = build_tokenizers(SUBWORDS, list(prepared.train), ("pt", "en"))
    with pytest.raises(TokenizerError, match="has no token .*❶.*which the section data needs"):
        require_symbols(tokenizers, tokenizer_symbols(prepared.data(NOISE)), Path("run/tokenizer"))
    require_symbols(prepared.tokenizers, tokenizer_symbols(prepared.data(NOISE)), Path("run/tokenizer"))
