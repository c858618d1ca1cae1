"""Quantities of both sides are drawn again alike, in the notation of each language."""

import re
from pathlib import Path
from random import Random

import pytest

from ptenmt.config import AugmentConfig, CorpusFile, DataConfig
from ptenmt.data.augmentation import noisy_pair
from ptenmt.data.quantities import name_groups, notation, redraw_quantities
from ptenmt.errors import DataError

# ruff: noqa: E501
Pair = tuple[str, str]


def drawn(pair: Pair, languages: Pair = ("pt", "en"), count: int = 40) -> list[Pair]:
    """The distinct other forms of a pair."""
    files = (CorpusFile(path="pairs.tsv"),)
    data = DataConfig(train=files, source_language=languages[0], target_language=languages[1])
    forms = (redraw_quantities(*pair, Random(seed), data) for seed in range(count))
    return [form for form in dict.fromkeys(forms) if form != pair]


@pytest.mark.parametrize(
    ("pair", "languages", "patterns"),
    [
        (("Há 1.234 casas.", "There are 1,234 houses."), ("pt", "en"), (r"Há \d\.\d{3} casas\.", r"There are \d,\d{3} houses\.")),
        (("Custa 12,50 €.", "It costs €12.50."), ("pt", "en"), (r"Custa \d\d,\d\d €\.", r"It costs €\d\d\.\d\d\.")),
        (("Subiu 7 %.", "It rose 7%."), ("pt", "en"), (r"Subiu \d %\.", r"It rose \d%\.")),
        (("Foi em 1998.", "It was in 1998."), ("pt", "en"), (r"Foi em \d{4}\.", r"It was in \d{4}\.")),
        (("Às 18h30.", "At 18:30."), ("pt", "en"), (r"Às \d\dh\d\d\.", r"At \d\d:\d\d\.")),
        (("Às 18h30.", "At 6:30 p.m."), ("pt", "en"), (r"Às \d\dh\d\d\.", r"At \d\d?:\d\d p\.m\.")),
        (("O 7.º andar.", "The 7th floor."), ("pt", "en"), (r"O \d+\.º andar\.", r"The \d+th floor\.")),
        (("Na quarta-feira.", "On Wednesday."), ("pt", "en"), (r"Na [a-zçáé-]+\.", r"On [A-Z]\w+day\.")),
        (("Em 3 de maio.", "On May 3."), ("pt", "en"), (r"Em \d de [a-zç]+\.", r"On [A-Z]\w+ \d\.")),
        (("El 5 de junio.", "June 5."), ("es", "en"), (r"El \d de [a-z]+\.", r"[A-Z]\w+ \d\.")),
        (("Am 3. Mai um 14:30.", "On May 3 at 14:30."), ("de", "en"), (r"Am \d\. \w+ um \d\d:\d\d\.", r"On \w+ \d at \d\d:\d\d\.")),
    ],
)  # fmt: skip
def test_both_sides_get_the_same_other_quantities(pair: Pair, languages: Pair, patterns: Pair) -> None:
    forms = drawn(pair, languages)
    assert len(forms) > 4
    for form in forms:
        found = []
        for text, pattern, language in zip(form, patterns, languages, strict=True):
            assert re.fullmatch(pattern, text)
            found.append(sorted((one.kind, one.value) for one in notation(language).find(text)))
        assert found[0] == found[1]


@pytest.mark.parametrize(
    "pair",
    [
        ("Há 3 casas.", "There are 4 houses."),
        ("Há 3 casas e 5 carros.", "There are 3 houses."),
        ("Às 18h30.", "At 6:30."),
        ("Versão 1.2.3 do H2O", "Version 1.2.3 of H2O"),
        ("Vem na segunda.", "Come on Monday."),
        ("Nenhum número.", "No number."),
    ],
)
def test_a_pair_that_disagrees_or_has_none_stays(pair: Pair) -> None:
    assert drawn(pair) == []


def test_one_stays_one_and_others_stay_others() -> None:
    assert drawn(("Tenho 1 gato.", "I have 1 cat.")) == []
    assert all(
        "1 " not in form[1].split("have")[1][:3] for form in drawn(("Tenho 2 gatos.", "I have 2 cats."))
    )
    assert {form[1][-2:] for form in drawn(("O 42.º dia", "Day 42nd"), count=200)} == {"nd"}


def test_names_of_one_group_replace_each_other(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Ana\nRita\n\nBraga\nFaro\n", encoding="utf-8")
    data = DataConfig(augment=AugmentConfig(names=0.5, name_list=str(tmp_path / "names.txt")))
    pair = ("A Ana vive em Braga.", "Ana lives in Braga.")
    forms = {noisy_pair(["names"], pair, Random(seed), data) for seed in range(60)}
    assert forms == {
        pair,
        ("A Rita vive em Braga.", "Rita lives in Braga."),
        ("A Ana vive em Faro.", "Ana lives in Faro."),
    }


def test_a_missing_list_of_names_is_known_before_the_training(tmp_path: Path):
    with pytest.raises(DataError, match=r"cannot read .*names\.txt: No such file"):
        name_groups(tmp_path / "names.txt")
