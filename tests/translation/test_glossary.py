"""Terms are found as words and stand in the translation as written."""

import random
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
from ptenmt.translation.safeguards.glossary import Glossary
from ptenmt.translation.spans import Span, placed

SENTENCES = [source for source, _ in demo_pairs("validation") if source[-1] in ".?!" and "? " not in source]


def found(terms: dict[str, str], sentence: str) -> list[tuple[str, str]]:
    return [(sentence[slice(*span)], translation) for span, translation in Glossary(terms).find(sentence)]


@pytest.mark.parametrize(
    ("term", "sentence", "expected"),
    [
        ("casa", "Uma casa, duas Casas, a CASA.", ["casa", "Casas", "CASA"]),
        ("casa", "O casaco casará; casa-mãe, descasa, casas-de-banho.", []),
        ("chuva", "Um guarda-chuva e a chuva.", ["chuva"]),
        ("gato preto", "O gato preto e os gatos pretos, gato. Preto", ["gato preto", "gatos pretos"]),
        ("avião", "Aviões e avião", ["Aviões", "avião"]),
        ("homem", "homens", ["homens"]),
        ("animal", "animais", ["animais"]),
        ("hotel", "hotéis e hotel", ["hotéis", "hotel"]),
        ("fácil", "fáceis", ["fáceis"]),
        ("barril", "barris", ["barris"]),
        ("inglês", "ingleses", ["ingleses"]),
        ("flor", "flores", ["flores"]),
        ("C++", "Em C++ e C.", ["C++"]),
        ("city", "cities", ["cities"]),
        ("cão", "Ca\u0303es e um ca\u0303o.", ["Ca\u0303es", "ca\u0303o"]),
        ("ca\u0303o", "Um cão.", ["cão"]),
        (
            " ".join(["animal"] * 30),
            "animais " * 29 + "animal",
            ["animais " * 29 + "animal"],
        ),  # not exponential
    ],
)
def test_a_term_is_found_in_any_case_and_in_the_plural(term: str, sentence: str, expected: list[str]) -> None:
    assert found({term: "x"}, sentence) == [(text, "x") for text in expected]


def test_the_longest_term_is_found() -> None:
    terms = {"gato": "cat", "gato preto": "black cat", "preto e branco": "b/w"}
    assert found(terms, "o gato preto e branco, um gato") == [("gato preto", "black cat"), ("gato", "cat")]
    assert found({"us": "us", "US": "EUA"}, "US") == [("US", "us")]


def test_a_file_has_two_columns(tmp_path: Path) -> None:
    file = tmp_path / "terms.tsv"
    file.write_text("casa\thouse\n\nPorto \t Porto\r\n", encoding="utf-8")
    glossary = Glossary.read(file)
    assert dict(glossary.find("Casas")) == {(0, 5): "house"}
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
    ]:
        file.write_text(content)
        with pytest.raises(DataError, match=message):
            Glossary.read(file)


def translator(terms: dict[str, str], script=lambda text: [text], **decoding: bool) -> Translator:
    tokenizers = letters()
    config = Config(
        data=DataConfig(source="demo"),
        tokenizer=TokenizerConfig(kind="sentencepiece"),
        decoding=DecodingConfig(**decoding),
    )
    return Translator(TextEngine(tokenizers, script), tokenizers, config).with_glossary(Glossary(terms))


@cache
def letters() -> TokenizerPair:
    """Of few pieces, so that the model is able to copy any text."""
    pairs = [(text, text) for text in (*SENTENCES, " ".join("0123456789G{}x/ÃNOC"))]
    return build_tokenizers(TokenizerConfig(kind="sentencepiece", vocabulary_size=120), pairs, ("pt", "en"))


def test_the_translation_of_a_term_stands_where_the_alignment_says() -> None:
    """The model copies; a term of each sentence gets a translation, and the other words stay."""
    numbers = random.Random(4)
    words = sorted({word for text in SENTENCES for word in text.rstrip(".?!").split() if len(word) > 4})
    for _ in range(10):
        terms = {word: f"{word[:3]}x y" for word in numbers.sample(words, 10) if word.isalpha()}
        model = translator(terms)
        for source, result in zip(SENTENCES, model.translate(SENTENCES), strict=True):
            expected = source
            for (begin, end), term in reversed(list(Glossary(terms).find(source))):
                term = term if begin or source[0].islower() else term.capitalize()
                expected = expected[:begin] + term + expected[end:]
            assert result.text == expected


@pytest.mark.parametrize(
    ("source", "term", "target", "expected"),
    [
        ("O gato", "gato", "feline", "The feline"),
        ("Do gato", "gato", "feline", "The feline"),
        ("Há gato", "gato", "feline", "Feline"),
        ("O gato", "gato", "the feline", "The feline"),
        ("O gato", "O gato", "feline", "Feline"),
    ],
)
def test_the_article_before_a_term_stays(source: str, term: str, target: str, expected: str) -> None:
    """The words of the translation, article and noun, are aligned to the noun."""
    first, second = source.split()
    begin = source.index(term)
    span = Span(begin, begin + len(term), "term", term, target, is_term=True, is_placed=True)
    weights = [[0.1, 0.9, 0.0], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]]
    written = placed(["The", " cat", "."], [first, f" {second}", "."], weights, [span])
    assert written == f"{expected}."


def test_a_term_that_is_there_is_only_written_as_it_should_be() -> None:
    model = translator({"gato": "Cat"}, lambda _: ["The cat sees the dog."])
    assert model.translate("O gato vê o cão.")[0].text == "The Cat sees the dog."
    assert model.translate("O gato vê os gatos.")[0].text.count("Cat") == 2


def test_a_term_stays_untranslated_and_nothing_is_applied_inside_words() -> None:
    model = translator({"gato": "gato", "vê": "sees", "cão": "dog"}, lambda text: [text.replace("g", "G")])
    assert model.translate("O gato vê o gatinho.")[0].text == "O gato sees o Gatinho."


def test_terms_go_with_entities_and_capitals() -> None:
    model = translator({"cão": "dog", "{x}": "y"})
    texts = ["O CÃO VIU {x} 25.", "O cão 😀 NÃO vê o cão.", "Cães!"]
    assert [each.text for each in model.translate(texts)] == [
        "O DOG VIU {x} 25.",
        "O dog 😀 NÃO vê o dog.",
        "Dog!",
    ]
    numbers = translator({"42": "forty-two", "5": "five"}, lambda text: [text.replace("42 ", "3 ")])
    assert numbers.translate("Tem 42 e 42,5 e 5%.")[0].text == "Tem forty-two e 42.5 e 5%."
    assert numbers.translate("O CÃO VÊ 5 GATOS.")[0].text == "O CÃO VÊ FIVE GATOS."
    elements = translator({"cão": "<b>dog</b> {n}"})
    assert elements.translate("O CÃO NÃO VÊ.")[0].text == "O <b>dog</b> {n} NÃO VÊ."
    product = translator({"cão 25": "Dog 25", "NÃO-19": "NO-19"})
    assert product.translate("O cão 25 NÃO-19 vê 25.")[0].text == "O Dog 25 NO-19 vê 25."


def test_alternatives_that_terms_make_equal_are_one() -> None:
    model = translator(
        {"gato": "pet"}, lambda _: ["The cat.", "The kitty.", "The dog there."], num_hypotheses=3
    )
    (translation,) = model.translate("O gato.")
    texts = [translation.text, *(each.text for each in translation.alternatives)]
    assert len(texts) == len(set(texts)) < 3


def test_without_safeguards_there_are_terms_alone() -> None:
    model = translator({"cão": "dog"}, safeguards=False)
    assert model.translate("O cão NÃO vê {x}.")[0].text == "O dog NÃO vê {x}."
    assert model.with_glossary(None).translate("O cão.")[0].text == "O cão."
    assert model.with_options(beam_size=1).translate("O cão.")[0].text == "O dog."


def test_parts_of_a_long_sentence_have_their_own_terms() -> None:
    long = "Ele vê " + "o livro e a casa, " * 30 + "e o gato."
    short = translator({"gato": "CAT"}).with_options(safeguards=False)
    short = Translator(
        short.engine,
        short.tokenizers,
        replace(short.config, model=replace(short.config.model, max_positions=40)),
        short.glossary,
    )
    (translation,) = short.translate(long)
    assert translation.is_split
    assert translation.text.count("CAT") == 1
