"""Our Moses gives what sacremoses gives."""

import random
import warnings

import pytest

from ptenmt.data.moses import moses

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # whatever sacremoses' own imports say
    from sacremoses import MosesDetokenizer, MosesTokenizer
    from sacremoses.corpus import NonbreakingPrefixes

PARTS = (
    "a o Este é não disse-me well I'm isn't l'homme n't 's 't 'll rock'n'roll doctors' x S "
    "Sr. Sra. Dr. No. nº art. e.g. U.S. a.m. z.B. p. Св. 10. 3.5 1,000 ,5 5, ,a 1.º 2ª m² ½ ٣,٤ ³ "
    ". , ; : ! ? … .. ... .... ,, ,,, ' '' ''' ` `` \" “ ” „ « » ( ) [ ] { } - -- – — / | & < > # % @-@ "
    "$ € £ ¥ ¿ ¡ * _ ~ ´ ’ ‘ ° © ™ é̃ Ωμέγα слово, кот' שלום עולם. नमस्ते कि़ 漢字 かな 한글 ー 😀 👩‍👩‍👧 "
    "\u2003 \u00a0 ١٢"
)
SPLIT = ["pt", "en", "fr", "it", "ru"]


def texts(seed: int, count: int) -> list[str]:
    """Words, numbers and marks, with blanks between some of them, as ``TextPreparation`` normalises text."""
    numbers, parts = random.Random(seed), PARTS.split(" ")
    made = [
        "".join(numbers.choice(parts) + " " * numbers.randrange(2) for _ in range(numbers.randrange(1, 12)))
        for _ in range(count)
    ]
    return [" ".join(text.split()) for text in made]


@pytest.mark.parametrize("language", [*SPLIT, pytest.param("zh", marks=pytest.mark.slow)])
def test_text_is_split_as_sacremoses_splits_it(language: str) -> None:
    ours, theirs = moses(language), MosesTokenizer(language)
    for text in texts(1, 300):
        assert ours.split(text) == theirs.tokenize(text, escape=False, return_str=True), text


@pytest.mark.parametrize("language", ["pt", "en", "zh", "fr", "ga"])
def test_text_is_joined_as_sacremoses_joins_it(language: str) -> None:
    ours, theirs = moses(language), MosesDetokenizer(language)
    for text in texts(2, 2000):
        assert ours.join(text.split()) == theirs.detokenize(text.split(), unescape=False), text


def test_the_languages_are_those_of_sacremoses() -> None:
    known = set(NonbreakingPrefixes().available_langs.values())
    assert [code for code in known if moses(code).language != code] == []
    assert moses("gl").language == moses("README").language == "en"
    for code in known - {"zh"}:  # the words that keep their full stop are each language's own
        assert moses(code).split("Sr. Nr. Mr. г. X") == MosesTokenizer(code).tokenize(
            "Sr. Nr. Mr. г. X", escape=False, return_str=True
        )
