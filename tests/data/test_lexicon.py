"""Lexicon augmentation: which words take the place of which, by hand-made texts."""

from pathlib import Path

import pytest

from ptenmt.data.lexicon import (
    Agreement,
    DictionaryEntry,
    Lexicon,
    Similarity,
    read_dictionary,
    replaced,
    words_of,
)
from ptenmt.errors import DataError

PLACES = {"aqui": "here", "ali": "there", "longe": "far", "perto": "close"}
FRAMES = [(f"O carro parou {pt}.", f"The car stopped {en}.") for pt, en in PLACES.items()]
SOURCE_TEXT = [f"O {word} parou." for word in ("comboio", "carro", "barco")] * 20
SOURCE_TEXT += [f"A {word} caiu." for word in ("carroça", "casa", "parede")] * 20
TARGET_TEXT = [f"The {word} stopped {en}." for en in PLACES.values() for word in ("train", "cart", "car")] * 5
TARGET_TEXT += [f"My {word} fell down again." for word in ("house", "wall", "peace")] * 20
# The 150 most frequent words are function words: two, and these.
FILLERS = [f"{first}{second}" for first in "bcdfghjklmnp" for second in "bcdfghjklmnpq"][:148]
FILLER_TEXT = [" ".join(FILLERS)] * 300
SOURCE_TEXT += [*FILLER_TEXT, *["o a"] * 300]
TARGET_TEXT += [*FILLER_TEXT, *["the my"] * 300]
ENTRIES = [
    DictionaryEntry("carro", "car", "n"),
    DictionaryEntry("casa", "house", "n"),
    DictionaryEntry("comboio", "train", "n"),
    DictionaryEntry("carroça", "cart", "n"),
    DictionaryEntry("parar", "train", "v"),
]


def augmented(**options: object) -> list[tuple[str, str, float]]:
    values = {"max_count": 0, "per_word": 10, "min_similarity": 0.3, "seed": 0} | options
    lexicon = Lexicon(FRAMES, ENTRIES, (SOURCE_TEXT, TARGET_TEXT))
    return list(lexicon.pairs(**values))  # type: ignore[arg-type]


def test_a_rare_word_takes_the_place_of_one_that_is_used_alike() -> None:
    pairs = augmented()
    expected = {(pt.replace("carro", "comboio"), en.replace("car ", "train ")) for pt, en in FRAMES}
    assert {(source, target) for source, target, _ in pairs} == expected
    assert all(0.3 <= similarity <= 1 for *_, similarity in pairs)


def test_words_that_do_not_agree_are_left_out() -> None:
    """A cart stops like a train, but "carroça" is feminine: no "O carroça vermelho"."""
    assert not any("carroça" in source for source, *_ in augmented(min_similarity=0))


def test_the_options_limit_what_is_written() -> None:
    assert len(augmented(per_word=3)) == 3
    assert augmented() == augmented()
    assert len({augmented(per_word=1, seed=seed)[0] for seed in range(20)}) == len(FRAMES)
    assert augmented(max_count=-1) == []


def test_agreement_is_of_gender_and_of_sound() -> None:
    common = [words_of(text) for text in FILLER_TEXT]
    nouns = [["o", "gato"], ["o", "rato"], ["o", "pão"], ["a", "gata"], ["a", "rata"], ["a", "mão"]]
    portuguese = Agreement(common + nouns * 100)
    assert portuguese.holds("o", "gato", "rato")
    assert not portuguese.holds("o", "gato", "gata")
    assert not portuguese.holds("o", "gato", "mão")  # by its own articles, not by its ending
    assert portuguese.holds("o", "gato", "pato")  # unseen: by its ending
    assert not portuguese.holds("gato", "rato", "pato")  # no function word
    english = Agreement(common + [["a", "cat"], ["a", "peach"], ["an", "apple"], ["an", "egg"]] * 150)
    assert english.holds("a", "cat", "peach")
    assert not english.holds("a", "cat", "apple")
    assert not english.holds("an", "apple", "pear")


def test_words_in_the_same_places_are_similar() -> None:
    lines = [words_of(text) for text in TARGET_TEXT]
    similarity = Similarity(lines, ["train", "car", "house", "wall", "unknown"])
    ((_, nearest),) = similarity.nearest(["train"], ["car", "house", "train"], 0.0)
    cosines = dict(nearest)
    assert cosines["train"] == pytest.approx(1)
    assert cosines["car"] > 0.9 > 0.5 > cosines["house"]
    assert list(similarity.nearest(["unknown"], ["car"], 0.0)) == []


def test_a_replaced_word_keeps_its_capital() -> None:
    assert replaced("Carro é carro.", "carro", "comboio") == "Comboio é carro."
    assert replaced("Vi o guarda-chuva!", "guarda-chuva", "pão") == "Vi o pão!"
    with pytest.raises(ValueError, match="no word of"):
        replaced("um carrossel", "carro", "pão")


def test_a_dictionary_without_parts_of_speech_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "words.tsv"
    file.write_text("pão\tbread\tn\tpt-PT\npau\tstick\n", encoding="utf-8")
    assert read_dictionary(file) == [DictionaryEntry("pão", "bread", "n")]
    file.write_text("pão\tbread\n", encoding="utf-8")
    with pytest.raises(DataError, match="no entry with a part of speech"):
        read_dictionary(file)
