"""The corpus of a run: prepared, filtered, split without leaks, the same every time."""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ptenmt.config import CorpusFile, DataConfig, FilterConfig
from ptenmt.data import tfds as tfds_source
from ptenmt.data.corpus import Corpus, load_corpus, load_split, split_off
from ptenmt.data.readers import SentencePair, demo_pairs
from ptenmt.data.store import TextPairs, in_chunks, write_texts
from ptenmt.errors import DataError

SHARED_TFDS = Path(__file__).parents[3] / "shared" / "data" / "tfds"
HUNDRED = [(f"frase {n}", f"sentence {n}") for n in range(100)]


def saved(path: Path, pairs: Sequence[SentencePair]) -> str:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return str(path)


def one_file(folder: Path, pairs: Sequence[SentencePair], **options: Any) -> DataConfig:
    return DataConfig(source="files", path=saved(folder / "pairs.tsv", pairs), **options)


def three_files(folder: Path, train: Sequence[SentencePair], **options: Any) -> DataConfig:
    """A corpus whose validation and test pairs share no sentence with the training pairs."""
    files = {"train": train, "validation": [("validar", "validate")], "test": [("testar", "test")]}
    given = {name: own_file(folder / f"{name}.tsv", pairs) for name, pairs in files.items()}
    return DataConfig(source="files", **{**given, **options})


def own_file(path: Path, pairs: Sequence[SentencePair], **options: Any) -> tuple[CorpusFile]:
    return (CorpusFile(path=saved(path, pairs), **options),)


def test_demo_corpus_is_taken_whole() -> None:
    corpus = load_corpus(DataConfig(source="demo"), 1)
    assert list(corpus.train) == demo_pairs("train")
    assert corpus.validation == demo_pairs("validation")
    assert corpus.test == load_split(DataConfig(source="demo"), 1, "test")
    assert corpus.removed == {"empty": 0, "held out": 0}


def test_tfds_splits_are_read_from_the_configured_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def read(dataset: str, data_dir: str | None, split: str) -> list[SentencePair]:
        asked.append((dataset, data_dir, split))
        return [(f"{split} um", "one"), (f"{split} dois", "")]

    monkeypatch.setattr(tfds_source, "read_tfds", read)
    monkeypatch.setattr(tfds_source, "tfds_files", lambda _dataset, _folder: [])
    data = DataConfig(dataset="ted/gl_to_en", data_dir="/data", source_language="gl")
    assert load_split(data, 1, "test") == [("test um", "one"), ("test dois", "")]
    assert asked == [("ted/gl_to_en", "/data", "test")]
    corpus = load_corpus(data, 1)
    assert list(corpus.train) == [("train um", "one")]
    assert corpus.validation == [("validation um", "one"), ("validation dois", "")]
    assert corpus.removed == {"empty": 1, "held out": 0}


@pytest.mark.skipif(not SHARED_TFDS.is_dir(), reason="the TED corpus is not here")
def test_ted_stays_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    read_tfds, texts = tfds_source.read_tfds, {}

    def recorded(dataset: str, data_dir: str | None, split: str) -> list[SentencePair]:
        texts[split] = list(read_tfds(dataset, data_dir, split))
        return texts[split]

    monkeypatch.setattr(tfds_source, "read_tfds", recorded)
    corpus = load_corpus(DataConfig(data_dir=str(SHARED_TFDS), tokenization="given"), 1)
    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (51_785, 1_193, 1_803)
    assert corpus.removed == {"empty": 0, "held out": 0}
    for split in ("train", "validation", "test"):
        assert list(getattr(corpus, split)) == texts[split]


def test_text_of_all_splits_is_prepared(tmp_path: Path) -> None:
    data = three_files(
        tmp_path, [("Olá,\u00a0 MUNDO!", "Hello, WORLD!")], lowercase=True, tokenization="moses"
    )
    corpus = load_corpus(data, 1)
    assert list(corpus.train) == [("olá , mundo !", "hello , world !")]
    upper = own_file(tmp_path / "upper.tsv", [("SIM.", "YES.")])
    assert load_split(replace(data, test=upper), 1, "test") == [("sim .", "yes .")]


def test_filters_count_what_they_remove_in_order(tmp_path: Path) -> None:
    pairs = [
        ("um", "one"),
        (" ", "blank"),
        ("a b c d", "a b c"),
        ("a b c", "a"),
        ("a b c", "a"),
        ("um", "one"),
        ("Um", "one"),
        ("um", "One"),
        ("um", "one"),
    ]
    long = own_file(tmp_path / "long.tsv", [("x x x x", "y")] * 2)
    filters = FilterConfig(max_words=3, max_length_ratio=2.5, deduplicate="exact")
    corpus = load_corpus(three_files(tmp_path, pairs, validation=long, test=long, filters=filters), 1)
    assert corpus.validation == corpus.test == [("x x x x", "y")] * 2, "they are not filtered"
    assert list(corpus.train) == [("um", "one"), ("Um", "one"), ("um", "One")]
    assert list(corpus.removed.items()) == [
        ("empty", 1),
        ("held out", 0),
        ("over 3 words", 1),
        ("length ratio over 2.5", 2),
        ("duplicates", 2),
    ]


def test_a_held_out_pair_without_text_on_a_side_is_an_error(tmp_path: Path) -> None:
    held = own_file(tmp_path / "held.tsv", [("um", "one"), ("dois", " ")])
    data = three_files(tmp_path, [("a", "A")], validation=held)
    with pytest.raises(DataError, match="pair 2 of held has an empty side"):
        load_corpus(data, 1)


def test_one_file_is_split_into_three(tmp_path: Path) -> None:
    corpus = load_corpus(one_file(tmp_path, HUNDRED, validation_pairs=7), 1)
    assert (len(corpus.validation), len(corpus.test), len(corpus.train)) == (7, 10, 83)
    assert [(each.num_read, each.num_left) for each in corpus.reports] == [(100, 83)]
    assert sorted([*corpus.train, *corpus.validation, *corpus.test]) == sorted(HUNDRED)
    assert list(corpus.train) == sorted(corpus.train, key=HUNDRED.index)
    assert corpus.removed == {"empty": 0, "held out": 17}


def held_out(corpus: Corpus) -> list[list[SentencePair]]:
    return [corpus.validation, corpus.test]


def test_splits_follow_from_seed_and_pairs_alone(tmp_path: Path) -> None:
    data = one_file(tmp_path, HUNDRED)
    splits = held_out(load_corpus(data, 1))
    assert held_out(load_corpus(data, 2)) != splits
    assert (
        held_out(load_corpus(replace(data, filters=FilterConfig(max_words=2, deduplicate="exact")), 1))
        == splits
    )
    shuffled = [("", "empty"), *reversed(HUNDRED), *HUNDRED[:50]]
    assert held_out(load_corpus(one_file(tmp_path, shuffled), 1)) == splits
    as_train = three_files(tmp_path, HUNDRED, validation=(), test=())
    assert held_out(load_corpus(as_train, 1)) == splits


@pytest.mark.parametrize("own", ["neither", "validation", "test"])
def test_load_split_gives_the_pairs_of_load_corpus(tmp_path: Path, own: str) -> None:
    files = {"validation": (), "test": ()}
    if own != "neither":
        files[own] = own_file(tmp_path / "mine.tsv", [("meu", "mine")])
    data = three_files(tmp_path, HUNDRED, **files)
    corpus = load_corpus(data, 5)
    assert load_split(data, 5, "validation") == corpus.validation
    assert load_split(data, 5, "test") == corpus.test


def test_load_split_leaves_the_training_file_alone_when_it_can(tmp_path: Path) -> None:
    data = three_files(tmp_path, HUNDRED)
    (tmp_path / "train.tsv").unlink()
    assert load_split(data, 1, "validation") == [("validar", "validate")]
    with pytest.raises(DataError, match="cannot read"):
        load_split(replace(data, validation=()), 1, "validation")


def test_what_is_held_out_is_not_trained_on(tmp_path: Path) -> None:
    twins = [(source.upper(), f"other {target}") for source, target in HUNDRED]
    echoes = [(f"outra {source}", target.title()) for source, target in HUNDRED]
    corpus = load_corpus(one_file(tmp_path, HUNDRED + twins + echoes + HUNDRED), 3)
    drawn = corpus.validation + corpus.test
    assert len(corpus.validation) == len(corpus.test) == 30
    for side in (0, 1):
        sentences = [{pair[side].casefold() for pair in pairs} for pairs in (corpus.train, *held_out(corpus))]
        assert not sentences[0] & sentences[1]
        assert not sentences[0] & sentences[2]
        assert not sentences[1] & sentences[2]
    assert len({(source.casefold(), target.casefold()) for source, target in drawn}) == 60
    assert corpus.removed["held out"] == 400 - len(corpus.train) > 60


def test_too_few_pairs_for_three_splits(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no training pair is left"):
        load_corpus(one_file(tmp_path, HUNDRED[:2]), 1)
    for pairs in (HUNDRED[:1], [("", "a"), ("b", "")]):
        with pytest.raises(DataError, match="no training pair is left"):
            load_split(one_file(tmp_path, pairs), 1, "test")


def test_nothing_held_out_means_that_everything_is_trained_validated_and_tested_on(tmp_path: Path) -> None:
    data = one_file(tmp_path, [*HUNDRED[:6], ("vazia", "")], hold_out=False)
    corpus = load_corpus(data, 1)
    assert list(corpus.train) == corpus.validation == corpus.test == HUNDRED[:6]
    assert corpus.removed == {"empty": 1}
    assert load_split(data, 1, "validation") == HUNDRED[:6]
    given = replace(
        data, path=None, train=(CorpusFile(path=data.path),), test=own_file(tmp_path / "t.tsv", PAIR)
    )
    assert (load_corpus(given, 1).test, load_corpus(given, 1).validation) == (PAIR, HUNDRED[:6])


PAIR = [("testar", "test")]
LEAK = ("Isto é o teste, de fato.", "This isn't the test.")


def test_a_test_file_removes_its_sentences_from_the_training_files(tmp_path: Path) -> None:
    pairs = [LEAK, ("outra", "this is n't the test !"), ("isto é", "this is"), ("Testar", "test")]
    test = own_file(tmp_path / "leaks.tsv", [LEAK, ("testar", "test")])
    data = replace(three_files(tmp_path, pairs), test=test)
    corpus = load_corpus(data, 1)
    assert list(corpus.train) == [("isto é", "this is"), ("Testar", "test")]
    assert corpus.removed == {"empty": 0, "held out": 2}
    own_file(tmp_path / "leaks.tsv", [("testar", "test")])
    assert list(load_corpus(data, 1).train) == pairs
    with pytest.raises(DataError, match=r"no training pair is left .left out: 1 held out") as raised:
        load_corpus(replace(three_files(tmp_path, [LEAK]), test=own_file(tmp_path / "t.tsv", [LEAK])), 1)
    assert "set data.hold_out to false" in raised.value.hint


def test_each_file_has_a_report_that_the_cache_keeps(tmp_path: Path) -> None:
    first = own_file(tmp_path / "first.tsv.x.tsv", [("a b", "A &amp; B"), ("c", "C"), (" ", "D")])
    second = own_file(tmp_path / "second.tsv", [("c", "C"), ("e e e", "E"), ("f", "F")])
    filters = FilterConfig(max_words=2, deduplicate="exact", unescape_html=True)
    data = replace(three_files(tmp_path, []), train=first + second, filters=filters)
    for _ in range(2):
        corpus = load_corpus(data, 1)
        one, two = corpus.reports
        assert [(each.name, each.num_read, each.num_left) for each in (one, two)] == [
            ("first.tsv.x", 3, 1),
            ("second", 3, 1),
        ]
        assert {name: pairs for name, pairs in two.examples.items() if pairs} == {
            "over 2 words": [("e e e", "E")],
            "duplicates": [("c", "C")],
        }
        assert one.examples["over 2 words"] == [("a b", "A & B")]
        assert (corpus.removed["over 2 words"], corpus.removed["empty"]) == (2, 1)


def test_reverse_swaps_sides_after_everything_else(tmp_path: Path) -> None:
    """The same held-out pairs are drawn in both directions."""
    data = one_file(tmp_path, HUNDRED)
    backward = replace(data, reverse=True)
    found, reversed_ = load_corpus(data, 1), load_corpus(backward, 1)
    assert (backward.languages, data.languages) == (("en", "pt"), ("pt", "en"))
    for split in ("train", "validation", "test"):
        swapped = [(target, source) for source, target in getattr(found, split)]
        assert list(getattr(reversed_, split)) == swapped
    assert load_split(backward, 1, "test") == reversed_.test
    assert load_split(replace(backward, cache_dir=str(tmp_path / "empty")), 1, "test") == reversed_.test


def test_reverse_prepares_each_side_by_the_rules_of_its_language(tmp_path: Path) -> None:
    data = three_files(tmp_path, [("it's", "it's")], tokenization="moses")
    ((source, target),) = load_corpus(data, 1).train
    assert list(load_corpus(replace(data, reverse=True), 1).train) == [(target, source)]
    assert (source, target) == ("it ' s", "it 's")


def test_a_tag_stands_before_the_sources_of_its_file(tmp_path: Path) -> None:
    plain = own_file(tmp_path / "plain.tsv", [("um", "one"), ("dois", "two")])
    back = own_file(tmp_path / "back.tsv", [("três", "three"), ("um", "one")], tag="<bt>")
    data = replace(three_files(tmp_path, []), train=plain + back, filters=FilterConfig(deduplicate="exact"))
    assert list(load_corpus(data, 1).train) == [("um", "one"), ("dois", "two"), ("<bt> três", "three")]
    backward = load_corpus(replace(data, reverse=True), 1)
    assert list(backward.train) == [("one", "um"), ("two", "dois"), ("<bt> three", "três")]


# Splitting off of a stream gives what it gives of a list


def few_sentences(count: int, different: int, seed: int) -> list[SentencePair]:
    """Pairs of which many share a side, or both, in other capitals too."""
    numbers = random.Random(seed)
    words = [f"{case}{number}" for number in range(different) for case in "aA"]
    return [(numbers.choice(words), numbers.choice(words[: different // 2])) for _ in range(count)]


def split_off_in_memory(pairs: list[SentencePair], sizes: dict[str, int], seed: int) -> dict[str, object]:
    """As the documentation of ``split_off`` has it, with all pairs in a dictionary."""

    def rank(key: SentencePair) -> bytes:
        return hashlib.blake2b(f"{seed}\t{key[0]}\t{key[1]}".encode(), digest_size=8).digest()

    unique = {(source.casefold(), target.casefold()): (source, target) for source, target in pairs}
    ranked = [unique[key] for key in sorted(unique, key=rank)]
    tenth = len(ranked) // 10
    drawn: dict[str, object] = {}
    for split, size in sizes.items():
        chosen = drawn[split] = ranked[: max(1, min(size, tenth))]
        sides = [{pair[side].casefold() for pair in chosen} for side in (0, 1)]
        ranked = [
            pair
            for pair in ranked
            if pair[0].casefold() not in sides[0] and pair[1].casefold() not in sides[1]
        ]
    return drawn


def stored(pairs: list[SentencePair], folder: Path) -> TextPairs:
    folder.mkdir()
    return write_texts(folder, ((0, chunk) for chunk in in_chunks(pairs)), 1)


@pytest.mark.parametrize("seed", range(2))
def test_pairs_are_split_off_as_from_a_list(seed: int, tmp_path: Path) -> None:
    for count, different in ((3, 2), (200, 6), (2_000, 60), (3_000, 1_000)):
        pairs = few_sentences(count, different, seed)
        texts = stored(pairs, tmp_path / str(count))
        for sizes in ({"validation": 5, "test": 40}, {"test": 12}, {"validation": 3_000, "test": 1}, {}):
            assert split_off(texts, sizes, seed) == split_off_in_memory(pairs, sizes, seed)


def test_splits_share_no_sentence_in_another_punctuation(tmp_path: Path) -> None:
    pairs = [(f"Frase {number}{sign}", f"{number}{sign}") for number in range(30) for sign in ("", ".", " !")]
    drawn = split_off(stored(pairs, tmp_path / "texts"), {"validation": 9, "test": 9}, seed=1)
    numbers = [{target.rstrip(".! ") for _, target in drawn[split]} for split in ("validation", "test")]
    assert numbers[0].isdisjoint(numbers[1])
