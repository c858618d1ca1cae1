"""Terms are found as words and stand in the translation as written."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from scripted import TextEngine

from ptenmt.config import Config, DataConfig, DecodingConfig, TokenizerConfig
from ptenmt.data.readers import demo_pairs
from ptenmt.errors import DataError
from ptenmt.tokenizers import TokenizerPair, build_tokenizers
from ptenmt.translation import Translator
from ptenmt.translation.glossary import Glossary

Script = Callable[[str], list[str]]
SENTENCES = [source for source, _ in demo_pairs("validation") if source[-1] in ".?!" and "? " not in source]


def found(terms: dict[str, str], sentence: str) -> list[tuple[str, str]]:
    return [(sentence[slice(*span)], translation) for span, translation in Glossary(terms).find(sentence)]


@pytest.mark.parametrize(
    ("term", "sentence", "expected"),
    [
        ("casa", "Uma casa, a Casa, a CASA.", ["casa", "Casa", "CASA"]),
        ("casa", "O casaco casará; casa-mãe, descasa, duas casas.", []),
        ("chuva", "Um guarda-chuva e a chuva.", ["chuva"]),
        ("gato preto", "O gato preto e os gatos pretos, gato. Preto", ["gato preto"]),
        ("42", "42, 42,5 e 1.42 (42) às 10:42.", ["42", "42"]),
        ("C++", "Em C++ e C.", ["C++"]),
        ("cão", "Um ca\u0303o.", ["ca\u0303o"]),
        ("ca\u0303o", "Um cão.", ["cão"]),
    ],
)
def test_a_term_is_found_in_any_case(term: str, sentence: str, expected: list[str]) -> None:
    assert found({term: "x"}, sentence) == [(text, "x") for text in expected]


def test_the_longest_term_is_found() -> None:
    terms = {"gato": "cat", "gato preto": "black cat", "preto e branco": "b/w"}
    assert found(terms, "o gato preto e branco, um gato") == [("gato preto", "black cat"), ("gato", "cat")]
    assert found({"us": "us", "US": "EUA"}, "US") == [("US", "us")]


def test_a_file_has_two_columns(tmp_path: Path) -> None:
    file = tmp_path / "terms.tsv"
    file.write_text("casa\thouse\n\nPorto \t Porto\r\n", encoding="utf-8")
    glossary = Glossary.read(file)
    assert dict(glossary.find("Casa")) == {(0, 4): "house"}
    assert dict(glossary.find("o porto")) == {(2, 7): "Porto"}
    assert glossary.checksum == Glossary({"Porto": "Porto", "casa": "house"}).checksum
    assert glossary.checksum != Glossary({"casa": "home"}).checksum
    file.write_text('"Silva, Lda."\t"Silva ""and"" Co"\n5" tubo\t5" pipe\n', encoding="utf-8")
    assert Glossary.read(file).terms == {"Silva, Lda.": 'Silva "and" Co', '5" tubo': '5" pipe'}
    table = tmp_path / "terms.csv"
    table.write_text('gato,cat\n"preto, branco",piebald\n', encoding="utf-8")
    assert Glossary.read(table).terms == {"gato": "cat", "preto, branco": "piebald"}
    for content, message in [
        ('"a\tb\nc\td\n', "line 1: unexpected end of data"),
        ("a\tb\na\n", "line 2: not a term and its translation"),
        ("a\t\n", "line 1: not a term"),
        ("a\0b\tc\n", r"line 1: a control character in 'a\\x00b'"),
        ("a\tb\nc\td\x1b\n", "line 2: a control character in 'c'"),
        ("\n", "has no terms"),
        ("a\tb\tc\n", "line 1: not a term"),
        ("a\tb\na\tc\n", "line 2: 'a' has another translation before"),
        ("(\tparen\n", r"line 1: the term \( is a mark, not a word"),
    ]:
        file.write_text(content)
        with pytest.raises(DataError, match=message):
            Glossary.read(file)


def translator(script: Script, **decoding: bool) -> Translator:
    tokenizers = letters()
    config = Config(
        data=DataConfig(source="demo"),
        tokenizer=TokenizerConfig(kind="sentencepiece"),
        decoding=DecodingConfig(**decoding),
    )
    return Translator(TextEngine(tokenizers, script), tokenizers, config)


@cache
def letters() -> TokenizerPair:
    """Of few pieces, so that the model is able to copy any text."""
    pairs = [(text, text) for text in (*SENTENCES, " ".join("0123456789G{}x/ÃNOC"))]
    return build_tokenizers(TokenizerConfig(kind="sentencepiece", vocabulary_size=120), pairs, ("pt", "en"))


def translations(
    terms: dict[str, str], texts: str | list[str], script: Script = lambda text: [text], **decoding: bool
) -> list[str]:
    """What a scripted model makes of texts with a glossary."""
    results = translator(script, **decoding).translate(texts, glossary=Glossary(terms))
    return [result.text for result in results]


def test_the_translation_of_a_term_stands_where_the_alignment_says() -> None:
    """The model copies; a term of each sentence gets a translation, and the other words stay."""
    numbers = random.Random(4)
    words = sorted({word for text in SENTENCES for word in text.rstrip(".?!").split() if len(word) > 4})
    for _ in range(4):
        terms = {word: f"{word[:3]}x y" for word in numbers.sample(words, 10) if word.isalpha()}
        for source, result in zip(SENTENCES, translations(terms, SENTENCES), strict=True):
            expected = source
            for (begin, end), term in reversed(list(Glossary(terms).find(source))):
                term = term if begin or source[0].islower() else term.capitalize()
                expected = expected[:begin] + term + expected[end:]
            assert result == expected


def test_a_term_that_is_there_is_only_written_as_it_should_be() -> None:
    texts = ["O gato vê o cão.", "O gato vê o gato."]
    one, two = translations({"gato": "Cat"}, texts, lambda _: ["The cat sees the dog."])
    assert one == "The Cat sees the dog."
    assert two.count("Cat") == 2


def test_a_term_stays_untranslated_and_nothing_is_applied_inside_words() -> None:
    terms = {"gato": "gato", "vê": "sees", "cão": "dog"}
    found = translations(terms, "O gato vê o gatinho.", lambda text: [text.replace("g", "G")])
    assert found == ["O gato sees o Gatinho."]


@pytest.mark.parametrize(
    ("terms", "text", "expected"),
    [
        ({"cão": "dog"}, "O CÃO VIU {x} 25.", "O DOG VIU {x} 25."),
        ({"cão": "dog"}, "O cão 😀 NÃO vê o cão.", "O dog 😀 NÃO vê o dog."),
        ({"cão": "dog"}, "Cão!", "Dog!"),
        ({"cão": "dog"}, "O Cão Não Vê o Cão", "O Dog Não Vê O Dog"),
        ({"cão": "iDog"}, "O CÃO NÃO VÊ", "O iDog NÃO VÊ"),
        ({"cão": "dog"}, "O <b>cão</b> vê.", "O <b>dog</b> vê."),
        ({"42": "forty-two"}, "Tem 42 e 42,5.", "Tem forty-two e 42,5."),
        ({"42": "forty-two"}, "42", "forty-two"),
        ({"5": "five"}, "O CÃO VÊ 5 GATOS.", "O CÃO VÊ FIVE GATOS."),
        ({"cão": "<b>dog</b> {n}"}, "O CÃO NÃO VÊ.", "O <b>DOG</b> {n} NÃO VÊ."),
        ({"cão 25": "Dog 25", "NÃO-19": "NO-19"}, "O cão 25 NÃO-19 vê 25.", "O Dog 25 NO-19 vê 25."),
    ],
)
def test_terms_go_with_kept_parts_numbers_and_capitals(
    terms: dict[str, str], text: str, expected: str
) -> None:
    assert translations(terms, text) == [expected]


def test_alternatives_that_terms_make_equal_are_one() -> None:
    model = translator(lambda _: ["The cat.", "The kitty.", "The dog there."], num_hypotheses=3)
    (translation,) = model.translate("O gato.", glossary=Glossary({"gato": "pet"}))
    texts = [translation.text, *(each.text for each in translation.alternatives)]
    assert len(texts) == len(set(texts)) < 3


def test_without_safeguards_there_are_terms_alone() -> None:
    assert translations({"cão": "dog"}, "O cão NÃO vê {x}.", safeguards=False) == ["O dog NÃO vê {x}."]
    assert translator(lambda text: [text]).translate("O cão.")[0].text == "O cão."


def test_parts_of_a_long_sentence_have_their_own_terms() -> None:
    long = "Ele vê " + "o livro e a casa, " * 30 + "e o gato."
    model = translator(lambda text: [text], safeguards=False)
    config = replace(model.config, model=replace(model.config.model, max_positions=40))
    short = Translator(model.engine, model.tokenizers, config)
    (translation,) = short.translate(long, glossary=Glossary({"gato": "CAT"}))
    assert translation.is_split
    assert translation.text.count("CAT") == 1
