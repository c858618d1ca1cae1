"""Every filter keeps good pairs, removes bad ones, and reports what it removed."""

import pickle
import random
from dataclasses import asdict
from typing import Any

import pytest

from ptenmt.config import DataConfig, FilterConfig
from ptenmt.data.filters import (
    NUM_EXAMPLES,
    FilterReport,
    duplicate_filters,
    overlap_filter,
    pair_filters,
    unescape,
)
from ptenmt.data.readers import SentencePair
from ptenmt.errors import DataError

ALL = FilterConfig(
    max_words=100,
    max_length_ratio=3,
    max_word_length=40,
    min_letters=0.4,
    different_sides=True,
    right_language=True,
    deduplicate="near",
)
LONG = "a" * 41


def options(**filters: Any) -> DataConfig:
    return DataConfig(source="demo", filters=FilterConfig(**filters))


def stays(data: DataConfig, pair: SentencePair) -> bool:
    return all(keep([pair])[0] for keep in pair_filters(data).values())


@pytest.mark.parametrize(
    ("filters", "good", "bad"),
    [
        ({"max_words": 2}, ("a b", "c"), ("a", "b c d")),
        ({"max_length_ratio": 3}, ("Avisarei!", "I'll let you know!"), ("Sim.", "That is not what I want.")),
        (
            {"max_length_ratio": 3},
            ("今天天气很好。", "The weather is very nice today."),
            ("好", "The weather is very nice today."),
        ),
        ({"max_word_length": 40}, ("今日はとても天気がいいので" * 4, "แมว" * 20), (f"今日{LONG}", "a")),
        ({"max_word_length": 40}, ("a" * 40, f"https://a.b/{'c/' * 30}"), ("a", f"see {LONG}")),
        ({"min_letters": 0.5}, ("São 3", "“É” — é só"), ("12:30 – 14:00 h", "half past twelve")),
        ({"different_sides": True}, ("Tom.", "Tom!"), ("Tom Sawyer", "tom sawyer")),
    ],
)
def test_each_filter_looks_at_both_sides(
    filters: dict[str, Any], good: SentencePair, bad: SentencePair
) -> None:
    data = options(**filters)
    assert stays(data, good)
    assert stays(data, good[::-1])
    assert not stays(data, bad)
    assert not stays(data, bad[::-1])
    assert stays(options(), bad)


def test_html_entities_are_unescaped() -> None:
    assert unescape("male & female; phone & quot ;") == 'male & female; phone "'
    assert unescape("\ufeffco&shy;or\u00addena\u200bção") == "coordenação"
    assert unescape("R&amp;D &amp;quot;x&quot; & lt ;3 &#233; &#x27;") == 'R&D "x" <3 é \''
    assert (
        unescape("AT&T &notanentity; &copyright; a & b ; &;") == "AT&T &notanentity; &copyright; a & b ; &;"
    )


@pytest.mark.parametrize("size", [7, 3_000])
def test_duplicates_are_found_across_chunks(size: int) -> None:
    numbers = random.Random(1)
    words = [f"{case}{letter}" for letter in "bcdefghijklmnopqrstuvwxyz" for case in "aA"]
    pairs = [(numbers.choice(words), numbers.choice(words[:25])) for _ in range(3_000)]
    chunks = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    exact, near = FilterReport("exact"), FilterReport("near")
    for report, kind in ((exact, "exact"), (near, "near")):
        filters = duplicate_filters(options(deduplicate=kind))
        left = [pair for chunk in chunks for pair in report.apply(chunk, filters)]
        lowered = {(source.casefold(), target.casefold()): (source, target) for source, target in pairs[::-1]}
        assert sorted(left) == sorted(set(pairs) if kind == "exact" else lowered.values())
        assert sum(report.num_removed.values()) == len(pairs) - len(left)
    assert duplicate_filters(options()) == {}


def test_near_duplicates_differ_in_case_punctuation_and_spaces() -> None:
    (keep,) = duplicate_filters(options(deduplicate="near")).values()
    same = [("Ela tem 3 gatos.", "She has 3 cats."), ("ELA TEM 3 GATOS...", "“She has 3 cats”")]
    assert keep([*same, ("Ela tem 4 gatos.", "She has 4 cats."), ("?", "!"), ("?", "!")]) == [
        True,
        False,
        True,
        True,
        False,
    ]


def test_overlap_is_found_in_another_tokenization() -> None:
    held_out = [
        ("isto é , de fato , o teste .", "it 's the \" test \" , is n't it ?"),
        ("obrigado .", "thanks !"),
    ]
    keep = overlap_filter(held_out)
    found = [
        ("Isto é, de fato, o teste!", "another"),
        ("outra", "It's the &quot;test&quot;, isn’t it?"),
        ("outra", "IT&apos;S THE “TEST” , ISN &apos;T IT"),
    ]
    others = [("Obrigado.", "Thanks!"), ("isto é o teste", "the test"), ("...", "...")]
    assert keep([*found, *others]) == [False] * 3 + [True] * 3
    chinese = ("那只小猫正在桌子上安静地睡觉。", "那隻小貓正在桌子上安靜地睡覺。")
    assert overlap_filter([chinese])([(chinese[0], "other")]) == [False]
    assert overlap_filter([], held_out)(others) == [False, True, True]


def test_filters_can_be_pickled_and_chunks_counted() -> None:
    words = ["gato", "cão", "casa", "rua", "mar", "céu", "sol", "lua", "dia", "noite"]
    numbers = random.Random(2)
    pairs = [(" ".join(numbers.choices(words, k=3)), str(numbers.choice((7, "sol")))) for _ in range(400)]
    data = options(**{**asdict(ALL), "right_language": False, "deduplicate": "none"})
    filters = pickle.loads(pickle.dumps(pair_filters(data) | {"overlap": overlap_filter(pairs[:9])}))
    whole = FilterReport("a", num_read=len(pairs))
    left = whole.apply(pairs, filters)
    total = FilterReport("a")
    for start in (0, 100, 200, 300):
        part = FilterReport("a", num_read=100)
        assert set(part.apply(pairs[start : start + 100], filters)) <= set(left)
        total.add(part)
    assert total == whole
    assert FilterReport(**asdict(total)) == whole
    assert max(map(len, whole.examples.values())) == NUM_EXAMPLES


def test_sentences_of_another_language_are_removed() -> None:
    (keep,) = pair_filters(options(right_language=True)).values()
    good = [
        ("A reunião começa às nove horas da manhã.", "The meeting starts at nine in the morning."),
        ("Tom", "Tom"),
        ("123", "!"),
        ("Modelo de threading", "Threading model"),
    ]
    bad = [
        ("La reunión empieza a las nueve de la mañana.", "The meeting starts at nine in the morning."),
        ("A reunião começa às nove horas da manhã.", "A reunião começa às nove horas da manhã."),
        ("The meeting starts at nine.", "The meeting starts at nine o'clock."),
    ]
    assert keep([*good, *bad]) == [True] * 4 + [False] * 3


def test_an_unknown_language_is_an_error() -> None:
    data = DataConfig(source="demo", source_language="Klingon", filters=FilterConfig(right_language=True))
    with pytest.raises(DataError, match="does not know Klingon"):
        pair_filters(data)
