"""Noise: golden examples, shares, and what it leaves alone."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from ptenmt.config import AugmentConfig, Config, CorpusFile, DataConfig, TokenizerConfig
from ptenmt.data.augmentation import (
    CASES,
    NOISES,
    SYMBOLS,
    NoisyTexts,
    add_typos,
    draw_noises,
    noisy_pair,
    tokenizer_symbols,
)
from ptenmt.data.kept_parts import PLACEHOLDERS
from ptenmt.errors import ConfigError

# ruff: noqa: E501
PAIR = ("Olá, vê disse-me: https://a.pt/B às 10:30!", "Hello, see it's told: https://a.pt/B at 10:30!")
EVERY = AugmentConfig(**dict.fromkeys(set(NOISES) - set(CASES), 0.5), upper_case=0.3, lower_case=0.2)


def add_noises(names: list[str], pair: tuple[str, str], random: Random) -> tuple[str, str]:
    return noisy_pair(names, pair, random, DataConfig())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("upper_case", ("OLÁ, VÊ DISSE-ME: https://a.pt/B ÀS 10:30!", "HELLO, SEE IT'S TOLD: https://a.pt/B AT 10:30!")),
        ("title_case", ("Olá, Vê Disse-me: https://a.pt/B Às 10:30!", "Hello, See It's Told: https://a.pt/B At 10:30!")),
        ("lower_case", ("olá, vê disse-me: https://a.pt/B às 10:30!", "hello, see it's told: https://a.pt/B at 10:30!")),
        ("drop_end_punctuation", (PAIR[0][:-1], PAIR[1][:-1])),
        ("placeholders", ("Olá, vê disse-me: ❸ às 10:30!", "Hello, see it's told: ❸ at 10:30!")),
        ("symbols", ("“Olá”, vê disse-me: https://a.pt/B às 10:30!", "“Hello”, see it's told: https://a.pt/B at 10:30!")),
    ],
)  # fmt: skip
def test_each_noise_reads_like_this(name: str, expected: tuple[str, str]) -> None:
    assert add_noises([name], PAIR, Random(1)) == expected


def test_placeholders_are_put_into_some_pairs_without_kept_parts() -> None:
    pair = "A Ana chama por Lisboa, sempre.", "Ana calls for Lisboa, always."
    noisy = [add_noises(["placeholders"], pair, Random(seed)) for seed in range(2_000)]
    changed = [each for each in noisy if each != pair]
    assert len(changed) / len(noisy) == pytest.approx(0.2, abs=0.03)
    for sides in changed:
        signs = [[char for char in side if char in PLACEHOLDERS] for side in sides]
        assert 1 <= len(signs[0]) == len(set(signs[0])) <= 3
        assert signs[0] == signs[1]
        steps = {PLACEHOLDERS.index(after) - PLACEHOLDERS.index(sign) for sign, after in pairwise(signs[0])}
        assert steps <= {1, 1 - len(PLACEHOLDERS)}  # numbered from left to right, as those of entities
        for side, before in zip(sides, pair, strict=True):
            without = re.sub(f" ?[{''.join(PLACEHOLDERS)}] ?", " ", side)
            assert re.findall(r"\w+|\S", without) == re.findall(r"\w+|\S", before)
    assert len(set(changed)) > 100
    assert ("A Ana chama por ❶Lisboa❷, sempre.", "Ana calls for ❶Lisboa❷, always.") in changed
    for same in (("um ❶ dois três quatro", "one two three four"), ("我喜欢下雨天", "I like rainy days")):
        assert all(add_noises(["placeholders"], same, Random(seed)) == same for seed in range(100))


@pytest.mark.parametrize(
    ("source", "target"), [("Sim.", "Yes"), ("...", "..."), ("Sim", "Yes"), ("Bom!", "!"), ("", "")]
)
def test_end_punctuation_of_one_side_or_alone_stays(source: str, target: str) -> None:
    assert add_noises(["drop_end_punctuation"], (source, target), Random(1)) == (source, target)
    assert add_noises(["drop_end_punctuation"], ("bem .", "well .."), Random(1)) == ("bem", "well")
    inside = (f"bem{'.' * 500_000}a", "well.")  # a quadratic pattern takes an hour
    assert add_noises(["drop_end_punctuation"], inside, Random(1)) == inside


def test_typos_change_words_of_the_source_alone() -> None:
    source = "A coração da Conceição não é de João: https://exemplo.pt/coração?q=não 1234"
    seen = set()
    for seed in range(300):
        noisy, target = add_typos(source, "target", Random(seed))
        assert target == "target"
        assert noisy != source
        assert noisy.endswith(": https://exemplo.pt/coração?q=não 1234")
        seen.add(noisy)
    assert "A coracao da Conceicao nao e de Joao: https://exemplo.pt/coração?q=não 1234" in seen
    assert len(seen) > 100
    assert add_typos("de 12!", "target", Random(1)) == ("de 12!", "target")


def test_one_typo_is_one_edit() -> None:
    typos = {add_typos("gato", "", Random(seed))[0] for seed in range(400)}
    drops = {"ato", "gto", "gao", "gat"}
    doubled = {"ggato", "gaato", "gatto", "gatoo"}
    swapped = {"agto", "gtao", "gaot"}
    assert typos >= drops | doubled | swapped
    near = typos - drops - doubled - swapped
    assert near <= {f"{key}ato" for key in "ftyhbv"} | {f"g{key}to" for key in "qwszx"} | {
        f"ga{key}o" for key in "ryfgh"
    } | {f"gat{key}" for key in "ipklj"}
    assert len(near) > 8


def test_noises_are_drawn_with_their_shares() -> None:
    drawn = [draw_noises(EVERY, Random(row)) for row in range(4_000)]
    counts = Counter(name for names in drawn for name in names)
    for name in NOISES:
        assert counts[name] / len(drawn) == pytest.approx(getattr(EVERY, name), abs=0.03)
    assert all(len(set(names) & set(CASES)) <= 1 for names in drawn)
    assert draw_noises(AugmentConfig(), Random(1)) == []


def test_an_older_run_goes_on_with_the_noises_that_it_drew() -> None:
    shares = dict.fromkeys(CASES, 0.2)
    shares |= dict.fromkeys(("typos", "drop_end_punctuation", "symbols", "placeholders", "quantities"), 0.3)
    drawn = [draw_noises(AugmentConfig(**shares), Random(seed)) for seed in range(50)]
    assert drawn[:4] == [
        ["lower_case", "placeholders"],
        ["typos", "lower_case", "placeholders"],
        ["symbols", "placeholders"],
        ["quantities", "typos"],
    ]
    fewer = AugmentConfig(**shares | {"quantities": 0.0})  # what is not used leaves the draws of others
    for seed, names in enumerate(drawn):
        assert draw_noises(fewer, Random(seed)) == [name for name in names if name != "quantities"]


def test_tokenizers_are_trained_on_noisy_texts_that_keep_their_tags() -> None:
    file = CorpusFile(path="a.tsv", tag="<bt>")
    data = DataConfig(train=(file,), augment=replace(AugmentConfig(), upper_case=0.9))
    pairs = [(f"<bt> frase número {number}", f"sentence {number}") for number in range(50)]
    noisy = list(NoisyTexts(pairs, data))
    assert noisy == [NoisyTexts(pairs, data)[row] for row in range(50)]
    assert 35 < sum(source.startswith("<bt> FRASE NÚMERO") for source, _ in noisy) < 50
    assert all(source.startswith("<bt> ") for source, _ in noisy)


def test_tokens_of_their_own_are_those_that_the_options_need() -> None:
    assert tokenizer_symbols(DataConfig()) == []
    assert tokenizer_symbols(DataConfig(augment=AugmentConfig(symbols=0.1))) == list(SYMBOLS)
    masked = tokenizer_symbols(DataConfig(augment=AugmentConfig(placeholders=0.1)))
    assert masked[:4] == ["▁❶", "❶", "▁❷", "❷"]
    assert len(set(SYMBOLS)) == len(SYMBOLS)


@pytest.mark.parametrize(
    ("tokenizer", "data", "expected"),
    [
        (
            "wordpiece",
            {"placeholders": 0.5},
            "data.augment.symbols and placeholders need tokens of their own",
        ),
        ("words", {"symbols": 0.5}, "and tokenizer.kind=words cannot have any; use sentencepiece"),
        ("sentencepiece", {"typos": 1.0}, "data.augment.typos=1.0 must be at least 0 and below 1"),
    ],
)
def test_noise_that_cannot_work_is_an_error(tokenizer: str, data: dict[str, float], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        Config(
            tokenizer=TokenizerConfig(kind=tokenizer),
            data=DataConfig(source="demo", augment=AugmentConfig(**data)),
        )
