"""The grammar of quantities: what it writes is complete, agrees in its digits and holds fillers out."""

import re
import sys
from itertools import islice
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"
sys.path.insert(0, str(TOOLS))

import quantities  # noqa: E402

RARE_CHARACTERS = "ªº«»“”‘’–—…€£§°²³½¼¾×÷±≤≥µ©®™•·†‰¿¡ñèìàëïöüßæøåçł`„"
NUM_PAIRS = 50_000
MIN_SHOWN = 20
"""Pairs of NUM_PAIRS with each of them."""


@pytest.fixture(scope="module")
def grammar() -> quantities.Grammar:
    return quantities.Grammar()


@pytest.fixture(scope="module")
def pairs(grammar: quantities.Grammar) -> list[tuple[str, str, str]]:
    return list(islice(quantities.Writer(grammar, seed=5).pairs(), NUM_PAIRS))


def test_same_seed_same_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first.tsv.gz", tmp_path / "second.tsv.gz"
    for path in (first, second):
        quantities.main(["300", str(path), "--seed", "7"])
    assert first.read_bytes() == second.read_bytes()
    quantities.main(["300", str(second), "--seed", "8"])
    assert first.read_bytes() != second.read_bytes()


def test_pairs_are_complete(pairs: list[tuple[str, str, str]]) -> None:
    sources = [portuguese for _, portuguese, _ in pairs]
    assert len(set(sources)) == len(sources)
    for _, *pair in pairs:
        for text in pair:
            assert text
            assert text == text.strip()
            assert not re.search(r"[{}\t\n]|//|  |#\d\}|(?<!\.)\.\.(?!\.)|\ba an?\b", text), text
        assert not re.search(r"\b(?:de|em|por) [oa]s? ", pair[0]), pair[0]


def test_digits_agree(pairs: list[tuple[str, str, str]]) -> None:
    """Digits of the source are in the translation, but for weekdays, round numbers and notation."""
    for _, portuguese, english in pairs:
        source = re.sub(r"\b[2-6]\.?(?:ª|as feiras)s?", " ", portuguese)  # 2.ª feira, Monday
        source = re.sub(r"\b[12]\.?ª Guerra|1\.º-ministro", " ", source)  # World War II, prime minister
        digits = [
            re.sub(r"[., \u00a0]", "", number) for number in re.findall(r"\d+(?:[., \u00a0]\d{3})*", source)
        ]
        rest = re.sub(r"[.,\u00a0 ]", "", english)
        missing = [number for number in digits if number.lstrip("0") not in rest]
        assert not missing, (portuguese, english)


def test_every_kind_is_written_and_rare_characters_are_shown(
    grammar: quantities.Grammar, pairs: list[tuple[str, str, str]]
) -> None:
    assert set(grammar.kinds) == {kind for kind, *_ in pairs}
    for character in RARE_CHARACTERS:
        assert sum(character in portuguese for _, portuguese, _ in pairs) >= MIN_SHOWN
        if character not in "º":  # of ordinals, written otherwise in English
            assert sum(character in english for *_, english in pairs) >= MIN_SHOWN // 2


def test_held_out_fillers_and_numbers_are_disjoint(grammar: quantities.Grammar) -> None:
    kept: dict[bool, set[str]] = {False: set(), True: set()}
    for held_out, names in kept.items():
        writer = quantities.Writer(grammar, seed=6, held_out=held_out)
        for _, _, english in islice(writer.pairs(), 5000):
            assert held_out == bool(writer.num_held_out), english
            names.update(name for name in writer.kept if not re.fullmatch("[IVXLC]+", name))
        numbers = [writer.number(1, 5000) for _ in range(1000)]
        assert {quantities.is_held_out(number) for number in numbers} == {held_out}
    assert len(kept[True]) > 30
    assert kept[True].isdisjoint(kept[False])


@pytest.mark.parametrize(
    ("number", "masculine", "feminine"),
    [
        (1, "um", "uma"),
        (22, "vinte e dois", "vinte e duas"),
        (100, "cem", "cem"),
        (101, "cento e um", "cento e uma"),
        (200, "duzentos", "duzentas"),
        (1100, "mil e cem", "mil e cem"),
        (1240, "mil duzentos e quarenta", "mil duzentas e quarenta"),
        (2005, "dois mil e cinco", "duas mil e cinco"),
    ],
)
def test_numbers_in_words(number: int, masculine: str, feminine: str) -> None:
    assert quantities.in_words(number) == masculine
    assert quantities.in_words(number, is_feminine=True) == feminine
