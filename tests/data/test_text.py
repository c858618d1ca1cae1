"""Text on its way to the tokenizer and back to the reader."""

import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from ptenmt.config import DataConfig
from ptenmt.data.corpus import load_split
from ptenmt.data.languages import seems_foreign
from ptenmt.data.readers import demo_pairs
from ptenmt.data.text import TextPreparation, detokenize_tokens, repair_wordpiece

SHARED_TFDS = Path(__file__).parents[3] / "shared" / "data" / "tfds"

plain = TextPreparation(DataConfig(source="demo"))
given = TextPreparation(DataConfig(source="demo", tokenization="given"))
moses = TextPreparation(DataConfig(tokenization="moses"))


def test_corpus_text_is_left_alone_by_default() -> None:
    text = "Olá, «MUNDO»!  it 's \x80 e\u0301"
    assert plain.prepare(text, "pt") == text.replace("  ", " ")
    assert given.prepare(text, "pt") == text.replace("  ", " ")


def test_white_space_and_control_characters_become_single_blanks() -> None:
    text = " \ta\r\nb\u2028c\x0bd\x85e\x00f\x7fg\u00a0h "
    for preparation in (plain, given, moses):
        assert preparation.prepare(text, "en") == "a b c d e f g h"
        assert preparation.prepare_input(text + "\ufeff\x80i\ud83d\x9f", "en") == "a b c d e f g h i"


@pytest.mark.parametrize(("form", "expected"), [("none", "e\u0301 ﬁ"), ("NFC", "é ﬁ"), ("NFKC", "é fi")])
def test_normalization(form: Literal["none", "NFC", "NFKC"], expected: str) -> None:
    preparation = TextPreparation(DataConfig(source="demo", normalization=form))
    assert preparation.prepare("e\u0301 ﬁ", "pt") == expected
    assert preparation.prepare_input("e\u0301 ﬁ", "pt") == expected


def test_lowercase() -> None:
    preparation = TextPreparation(DataConfig(lowercase=True, tokenization="none"))
    assert preparation.prepare("É BOM", "pt") == preparation.prepare_input("É BOM", "pt") == "é bom"


def test_what_is_typed_is_in_lower_case_like_ted() -> None:
    assert TextPreparation(DataConfig()).prepare_input("Não É?", "pt") == "não é ?"
    assert given.prepare_input("Não É?", "pt") == "Não É ?"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("pt", "O Sr. Silva disse-me: «sim»!", "O Sr. Silva disse-me : « sim » !"),
        ("en", "It's 3.5 & <b>…", "It 's 3.5 & < b > …"),
        ("fr", "l'homme", "l' homme"),
        ("gl", "it's", "it 's"),
    ],
)
def test_moses_splits_by_the_rules_of_the_language(language: str, text: str, expected: str) -> None:
    assert moses.prepare(text, language) == expected
    assert moses.prepare_input(text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("pt", "Este é um problema, não é?", "Este é um problema , não é ?"),
        ("pt", "disse-me ( risos ) : `` sim '' .", "disse-me ( risos ) : `` sim '' ."),
        ("en", "It's fine, isn't it?", "It 's fine , is n't it ?"),
        ("en", "it 's fine , is n't it ?", "it 's fine , is n't it ?"),
        ("en", "I CAN'T. We'll see", "I CA N'T . We 'll see"),
    ],
)
def test_input_for_a_tokenized_corpus_is_split_once(language: str, text: str, expected: str) -> None:
    assert given.prepare_input(text, language) == expected
    assert given.prepare_input(expected, language) == expected


@pytest.mark.skipif(not SHARED_TFDS.is_dir(), reason="the TED corpus is not here")
def test_ted_sentences_come_back_unchanged() -> None:
    pairs = load_split(DataConfig(data_dir=str(SHARED_TFDS)), 1, "validation")
    assert len(pairs) == 1_193
    assert sum(given.prepare_input(source, "pt") == source for source, _ in pairs) >= 1_190
    assert sum(given.prepare_input(target, "en") == target for _, target in pairs) >= 1_187


@pytest.mark.parametrize("unit", ["a", ".", "'", "n ' t ", "👩‍👩‍👧", "\x00", "\ud83d", "u . ", "“ ", "1 , "])
def test_hostile_text_does_no_harm(unit: str) -> None:
    text = (unit * 10_000)[:10_000]
    for preparation in (plain, given, moses):
        prepared = preparation.prepare_input(text, "pt")
        prepared.encode()
        assert not any(unicodedata.category(character) == "Cc" for character in prepared)
        assert "\n" not in preparation.detokenize(prepared, "en")
    assert len(repair_wordpiece(text)) <= len(text)


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("this model seems to work well .", "this model seems to work well."),
        ("did they eat fish and chips ?", "did they eat fish and chips?"),
        ("i 'm fine , it 's ok , is n't it ?", "i'm fine, it's ok, isn't it?"),
        ("You CA N'T , we 'll , they 've , he 'd", "You CAN'T, we'll, they've, he'd"),
        ("isn 't don ’ t", "isn't don’t"),
        ("`` hello ! '' he said .", '"hello!" he said.'),
        ("`` `` '' that 's `` '' word '' '' ? ''", '"that\'s "word"?"'),
        ('he said , " hello , " and left .', 'he said, "hello," and left.'),
        ("“ hello ! ” , “ no ” and « olá . »", "“hello!”, “no” and «olá.»"),
        ("the doctors ' idea : 'how are you ? '", "the doctors' idea: 'how are you?'"),
        ("( laughter ) [ sound ] ok ; yes", "(laughter) [sound] ok; yes"),
        ("it costs $ 5 , 5 € or 10 % .", "it costs $5, 5€ or 10%."),
        ("wait ... what ? !", "wait... what?!"),
        ("twenty-five - no , well - - yes — ok", "twenty-five - no, well -- yes — ok"),
        ("at 10 : 30 and / or 1,000 times 3.5", "at 10:30 and/or 1,000 times 3.5"),
        ("the u.s. and &amp; R & D", "the u.s. and &amp; R & D"),
    ],
)
def test_translations_are_joined(tokens: str, text: str) -> None:
    assert detokenize_tokens(tokens, "en") == text
    assert given.detokenize(tokens, "en") == moses.detokenize(tokens, "en") == text


def test_joining_follows_the_language() -> None:
    assert detokenize_tokens("l' homme", "fr") == "l'homme"
    assert detokenize_tokens("do n't ( sim ) , levi 's .", "pt") == "do n't (sim), levi's."
    assert detokenize_tokens("do n't , it 'll", "xx") == "don't, it'll"


@pytest.mark.parametrize("language", ["en", "pt"])
@pytest.mark.parametrize("text", ['He said: "no, (never)!"', "It costs $5; 10% less...", "um, dois e três."])
def test_joining_undoes_splitting(language: str, text: str) -> None:
    assert detokenize_tokens(given.prepare_input(text, language), language) == text
    assert detokenize_tokens(moses.prepare(text, language), language) == text


@pytest.mark.parametrize(
    ("pieces", "tokens"),
    [
        ("is n ' t it ? it ' s , i ' m , they ' re", "is n't it ? it 's , i 'm , they 're"),
        ("we ' ve , he ' ll , i ' d , mother ' s", "we 've , he 'll , i 'd , mother 's"),
        ("haven ’ t", "haven’t"),
        ("` ` yes ' ' , he said", "`` yes '' , he said"),
        ("` ` ` ` ' ' that ' s ` ` ' ' word ' ' ' ' . ' '", "`` `` '' that 's `` '' word '' '' . ''"),
        ("the doctors ' idea", "the doctors ' idea"),
        ("twenty - five , f - l - o - r , end - of - life", "twenty-five , f-l-o-r , end-of-life"),
        ("well - - yes . . . no", "well -- yes ... no"),
        ("3 . 5 , 1 , 000 and 1 , 000 , 000 at 10 : 30", "3.5 , 1,000 and 1,000,000 at 10:30"),
        ("in 2004 , 300 of 1 , 2 , 3", "in 2004 , 300 of 1 , 2 , 3"),
        ("the u . s . government in the u . s .", "the u.s. government in the u.s ."),
        ("so do i . i think so .", "so do i . i think so ."),
        ("mr . jain and dr . x have a ph . d .", "mr. jain and dr. x have a ph.d ."),
        ("ted . com and / or us", "ted.com and/or us"),
        ("plain words , nothing more .", "plain words , nothing more ."),
    ],
)
def test_wordpiece_splits_are_repaired(pieces: str, tokens: str) -> None:
    assert repair_wordpiece(pieces) == tokens
    assert repair_wordpiece(tokens) == tokens


def test_few_sentences_seem_foreign() -> None:
    for language, side in (("pt", 0), ("en", 1)):
        sentences = [pair[side] for pair in demo_pairs("test")]
        others = [pair[1 - side] for pair in demo_pairs("test")]
        assert sum(seems_foreign(text, language) for text in sentences) <= 0.02 * len(sentences)
        assert sum(seems_foreign(text, language) for text in others) > 150
    assert seems_foreign("Ich habe keine Zeit und keine Lust.", "pt")
    assert not seems_foreign("the cat", "pt")  # too short
    assert not seems_foreign("the cat and the dog", "xx")
