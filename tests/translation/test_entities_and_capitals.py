"""Entities and capitals survive any model."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scripted import TextEngine

from ptenmt.config import AugmentConfig, Config, DataConfig, DecodingConfig, TokenizerConfig
from ptenmt.data.augmentation import tokenizer_symbols
from ptenmt.data.placeholders import PLACEHOLDERS
from ptenmt.data.readers import demo_pairs
from ptenmt.errors import ConfigError
from ptenmt.tokenizers import TokenizerPair, build_tokenizers
from ptenmt.translation import Translation, Translator
from ptenmt.translation.engine import Hypothesis, PendingHypotheses, SearchRequest
from ptenmt.translation.single_sentence import align

SENTENCES = [source for source, _ in demo_pairs("validation") if source[-1] in ".?!" and "? " not in source]
ENTITIES = ["https://example.org/a?b=c", "foo@example.org", "25", "12/03/2024", "10:30", "{name}", "%1$s"]
ENTITIES += ["#TAG#", "#agora", "@ana", "😀", "👍🏽", "www.a.pt/x", "${valor}", "🇵🇹"]
WITH, WITHOUT = 0.5, 0.0
_SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZÃÉÊÁÍÓÚÇÕÀÂ.,:/-«»“”{}()!?"


@pytest.fixture(scope="module")
def runs() -> dict[float, tuple[TokenizerPair, Config]]:
    """Runs with and without placeholders in training."""
    found = {}
    for share in (WITH, WITHOUT):
        data = DataConfig(source="demo", augment=AugmentConfig(placeholders=share))
        config = Config(data=data, tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=200))
        texts = [*SENTENCES, _SIGNS, " ".join(_SIGNS)]
        pairs = [(text, text) for text in texts]
        symbols = tokenizer_symbols(data)
        found[share] = (build_tokenizers(config.tokenizer, pairs, ("pt", "en"), symbols), config)
    return found


@pytest.fixture
def make(runs) -> Callable[..., Translator]:
    """A translator with a script: ``make(share, script, best_score, **decoding)``."""

    def translator(
        share: float,
        script: Callable[[str], Sequence[str]],
        best_score: Callable[[str], float] = lambda _source: 0.0,
        **decoding: object,
    ) -> Translator:
        tokenizers, config = runs[share]
        config = replace(config, decoding=DecodingConfig(**decoding))
        return Translator(TextEngine(tokenizers, script, best_score), tokenizers, config)

    return translator


def translate(translator: Translator, text: str) -> Translation:
    (translation,) = translator.translate(text)
    return translation


def with_entities(numbers: random.Random) -> tuple[str, list[str]]:
    """A sentence with one to three different entities between its words, and those."""
    words = numbers.choice(SENTENCES).split()
    entities = numbers.sample(ENTITIES, numbers.randint(1, 3))
    for entity in entities:
        words.insert(numbers.randint(0, len(words) - 1), entity)
    return " ".join(words), entities


@pytest.mark.parametrize("share", [WITH, WITHOUT])
def test_of_a_model_that_copies_the_translation_is_the_sentence(make, share: float) -> None:
    numbers = random.Random(1)
    translator = make(share, lambda text: [text])
    sentences = [with_entities(numbers)[0] for _ in range(100)]
    sentences += [sentence.upper() for sentence in SENTENCES[:50]]
    sentences += [" ".join(word[:1].upper() + word[1:] for word in text.split()) for text in SENTENCES[:50]]
    sentences += ["Olá (😀), vê {a}, {b} e “@ana”!", "😀 Ela tem 3 gatos 😀", "{x}: ela NÃO tem tempo?"]
    assert [each.text for each in translator.translate(sentences)] == sentences


@pytest.mark.parametrize("share", [WITH, WITHOUT])
@pytest.mark.parametrize(
    "script",
    [
        lambda text: [" ".join(reversed(text.split()))],
        lambda text: ["".join(char for char in text if char not in PLACEHOLDERS and not char.isdigit())],
        lambda text: [f"{text} {text}"],
        lambda text: ["nada", "".join(char for char in text if char != PLACEHOLDERS[0])],
    ],
    ids=["reversed", "lost", "double", "lost by all"],
)
def test_every_entity_is_there_exactly_once(make, share: float, script: Callable) -> None:
    numbers = random.Random(2)
    translator = make(share, script)
    for _ in range(60):
        sentence, entities = with_entities(numbers)
        text = translate(translator, sentence).text
        assert [text.count(entity) for entity in entities] == [1] * len(entities), (sentence, text)


def test_an_entity_between_two_words_separates_them_and_one_at_the_end_does_not(make) -> None:
    for typed, seen in [
        ("Ela vê o gato😀", "Ela vê o gato"),
        ("Ela vê o gato😀e vê o rei", "Ela vê o gato e vê o rei"),
        ("😀ela vê o gato", "ela vê o gato"),
    ]:
        translator = make(WITHOUT, lambda text: [text])
        assert translate(translator, typed).text == typed
        assert translator.engine.seen == [seen]
    translator = make(WITH, lambda text: [text.replace("gato", "cat")])
    assert translate(translator, "Ela vê o gato😀").text == "Ela vê o cat😀"
    assert translator.engine.seen[0] == "Ela vê o gato❶"


def test_a_model_that_knows_the_ampersand_reads_it() -> None:
    for signs, seen in (("&", "o gato & o rei"), ("", "o gato o rei")):
        config = Config(
            data=DataConfig(source="demo"),
            tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=200),
        )
        pairs = [(text, text) for text in [*SENTENCES, _SIGNS + signs, " ".join(_SIGNS + signs)]]
        engine = TextEngine(build_tokenizers(config.tokenizer, pairs, ("pt", "en")), lambda text: [text])
        translator = Translator(engine, engine.tokenizers, config)
        assert translate(translator, "o gato & o rei").text == "o gato & o rei"
        assert engine.seen[0] == seen


def test_the_best_hypothesis_with_all_entities_is_taken(make) -> None:
    def script(text: str) -> list[str]:
        return ["Não.", "A ❶ ❶.", "A ❶ e.", "Ela ❶."] if "❶" in text else ["sem"]

    def score(text: str) -> float:
        return 2 if "❶" in text else 0

    translation = translate(make(WITH, script, score), "Ela tem {x} gatos.")
    assert (translation.text, translation.is_retried) == ("A {x} e.", False)
    both = translate(make(WITH, script, score, num_hypotheses=2), "Ela tem {x} gatos.")
    assert [both.text, *(other.text for other in both.alternatives)] == ["A {x} e.", "Ela {x}."]


def test_a_sentence_whose_entities_are_numbers_and_codes_is_searched_once(make) -> None:
    translator = make(WITH, lambda text: [text])
    for text in ("Ela tem 25 gatos.", "A COVID-19 chegou em 2019.", "São R$ 5.000 às 18h30."):
        translate(translator, text)
    # Short numbers are read as they are typed.
    assert translator.engine.seen == ["Ela tem 25 gatos.", "A ❶ chegou em 2019.", "São ❶ às ❷."]


def test_a_score_between_teams_is_read_as_it_is_typed(make) -> None:
    translator = make(WITH, lambda text: [text])
    for text in ("Vê Porto 2-1 Milan.", "Ela tem 10-12 gatos.", "Uma mesa de 3 x 4 metros."):
        assert translate(translator, text).text == text
    assert translator.engine.seen == ["Vê Porto 2-1 Milan.", "Ela tem ❶ gatos.", "Uma mesa de ❶ metros."]


def test_lost_placeholders_are_translated_around(make) -> None:
    translator = make(WITH, lambda text: [text.replace("❶", "")])
    translation = translate(translator, "Ela tem {x} gatos.")
    assert (translation.text, translation.is_retried) == ("Ela tem {x} gatos.", True)
    assert translator.engine.seen == ["Ela tem ❶ gatos.", "Ela tem gatos."]


@pytest.mark.parametrize(
    ("source", "wrong", "right"),
    [
        ("Tem 1.000,50 €.", "Tem 1,000 1, 50 €.", "Tem 1,000.50 €."),
        ("Tem 1.000,50 €.", "Tem 1,000.50.", "Tem 1,000.50 €."),
        ("São R$ 5.000.", "São R$ 5,000 5.", "São R$ 5,000."),
        ("São 12.500 e 3,75.", "São 12.500 e 3,75.", "São 12,500 e 3.75."),
        ("Foi às 18h30.", "Foi às 1830.", "Foi às 18:30."),
        ("Só um é 35.", "Only one is it.", "Só um é 35."),
        ("Subiu 10% em 2019.", "Subiu 10 em 2019.", "Subiu 10% em 2019."),
        ("A COVID-19 não é.", "Not the one.", "A COVID-19 não é."),
        ("A H2O e a COVID-19 e B12.", "A H2 e a CVID 19 e B.", "A H2O e a COVID-19 e B12."),
    ],
)
def test_numbers_are_whole_and_in_the_notation_of_the_translation(make, source, wrong, right) -> None:
    for share in (WITH, WITHOUT):
        assert translate(make(share, lambda text: [wrong if text == source else text]), source).text == right


@pytest.mark.parametrize(
    ("source", "right"),
    [
        ("Ele tem 7 anos e 3 gatos.", "He is seven and has 3 cats."),
        ("Tem 25 ou 300 ou 2 000 anos.", "It has twenty-five, three hundred, two thousand years."),
        ("A 18 de maio e a 3.", "On May 18th and the 3rd."),
        ("São 2 500 ou 12.345,6.", "They are 2,500 or 12,345.6."),
        ("Nos anos 70 na rua 19.", "In the 1970s in 19th street."),
        ("Em 2019 500 pessoas, às 10:30.", "In 2019, 500 people at 10.30."),
        ("O mp3 e os 3 e 5.", "The mp3 and the 3 and 5."),
        ("Às 15:30, 120 de 12 e 0,5.", "At 3:30 pm, one hundred and twenty of a dozen and .5."),
    ],
)
def test_a_number_may_be_written_otherwise(make, source: str, right: str) -> None:
    assert translate(make(WITHOUT, lambda _: [right]), source).text == right
    for wrong in ("", "He is four.", re.sub(r"\d|seven|three hundred|dozen", "", right)):
        translator = make(WITHOUT, lambda text, wrong=wrong: [wrong if text == source else text])
        assert translate(translator, source).is_retried


def test_capitals_are_translated_in_their_usual_case_and_given_back(make) -> None:
    translator = make(WITHOUT, lambda text: [text.replace("gato", "cat").replace("tempo", "time")])
    for typed, expected, seen in [
        ("O GATO NÃO TEM TEMPO!", "O CAT NÃO TEM TIME!", "O gato não tem tempo!"),
        ("O Gato Não Tem Tempo", "O Cat Não Tem Time", "O gato não tem tempo"),
        ("Eu Vi O Gato", "Eu Vi O Cat", "Eu vi o gato"),
        ("O gato NÃO tem tempo.", "O cat NÃO tem time.", "O gato NÃO tem tempo."),
        ("O GATO NÃO VIU HTTPS://A.PT/X {Nome}.", "O CAT NÃO VIU HTTPS://A.PT/X {Nome}.", None),
        ("O GATO TP123 NÃO TEM TEMPO", "O CAT TP123 NÃO TEM TIME", "O gato TP123 não tem tempo"),
        ("O gato tem tempo.", "O cat tem time.", "O gato tem tempo."),
    ]:
        assert translate(translator, typed).text == expected
        assert seen is None or seen in translator.engine.seen


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "A ONU e a UE.",
            "O PIB e o IVA.",
            "A NASA e a ESA.",
            "O IVA é a 6.",
            "A ONU",
            "O PIB da UE",
        ),
        *(
            "A NATO e a UE reuniram-se.",
            "A TAP voa.",
            "O voo TP123 da TAP.",
            "O VOO TP123",
            "Ela tem a SIDA.",
        ),
        *(
            "João Coelho Leite",
            "Maria Pereira Carvalho",
            "Banco Espírito Santo",
            "Ministério da Economia e Mar",
            "Moro em São Paulo.",
            "Ela tem o Programa Mais Gatos.",
        ),
    ],
)
def test_acronyms_and_names_keep_their_capitals(make, typed: str) -> None:
    translator = make(WITHOUT, lambda text: [text])
    assert translate(translator, typed).text == typed
    read = [{*re.findall(r"\w+", sentence)} for sentence in translator.engine.seen]
    assert any(words <= {*re.findall(r"\w+", typed)} for words in read)


def test_an_entity_that_stood_before_a_full_stop_has_a_space_before_a_word(make) -> None:
    translator = make(WITH, lambda text: [f"{text[-2]} {text[:-2]}."])
    assert translate(translator, "Ela vê São Bento.").text == "São Bento Ela vê ."


def test_the_model_reads_emphasized_words_without_the_emphasis(make) -> None:
    translator = make(WITH, lambda text: [text])
    assert translate(translator, "Ela vê *o gato* (**ali**).").text == "Ela vê *o gato* (**ali**)."
    assert translator.engine.seen == ["Ela vê o gato (ali)."]
    assert translate(translator, "Ela vê *3 mil gatos* e *2,50*.").text == "Ela vê *3,000 gatos* e *2.50*."
    assert re.sub("[❶-❿]", "❶", translator.engine.seen[-1]) == "Ela vê ❶ gatos e ❶."


@pytest.mark.parametrize("read", ["Viu 7 hours.", "Viu seven hours.", "Viu 7 o'clock."])
def test_hours_are_no_time_of_day(make, read: str) -> None:
    translator = make(WITH, lambda text: [read if "horas" in text else text])
    assert translate(translator, "Viu 7 horas.").text == read.replace("o'clock", "hours")


@pytest.mark.parametrize(
    ("typed", "read", "written"),
    [("MENINO B", "Menino ❶", "MENINO B"), ("O MENINO VIU A OMS", "O menino viu a ❶", "O MENINO VIU A WHO")],
)
def test_letters_and_known_acronyms_stay_in_a_sentence_in_capitals(
    make, typed: str, read: str, written: str
) -> None:
    translator = make(WITH, lambda text: [text])
    assert translate(translator, typed).text == written
    assert read in [re.sub("[❶-❿]", "❶", text) for text in translator.engine.seen]


@pytest.mark.parametrize(
    ("typed", "read", "written"),
    [
        ("A ONU viu a OMS.", "A ❶ viu a ❷.", "A UN viu a WHO."),
        ("Ela é do FBI (AAPL).", "Ela é do ❶ (❷).", "Ela é do FBI (AAPL)."),
        ("O PIB, a TAP-UE e a R&D são", "O ❶, a TAP-UE e a ❷ são", "O GDP, a TAP-UE e a R&D são"),
        ("Ela viu XKY ZQV ali.", "Ela viu XKY ZQV ali.", "Ela viu XKY ZQV ali."),
    ],
)
def test_acronyms_of_several_tokens_have_placeholders(make, typed: str, read: str, written: str) -> None:
    translator = make(WITH, lambda text: [text])
    assert translate(translator, typed).text == written
    signs = dict(zip(PLACEHOLDERS, "❶❷", strict=False))
    assert read in ["".join(signs.get(sign, sign) for sign in text) for text in translator.engine.seen]


@pytest.mark.parametrize("share", [WITH, WITHOUT])
def test_words_with_letters_that_the_model_does_not_spell_stay(make, share) -> None:
    translator = make(share, lambda text: [re.sub("[^❶-❿A-Za-zãé .]", "", text)])
    for typed, unknown in [
        ("a casa de Abramović.", ["Abramović"]),
        ("a casa ≤ Löw-Beer e 5½ gatos.", ["≤", "Löw-Beer", "5½"]),
        ("a casa de x^2.", ["x^2"]),
        ("a casa é pão.", []),
    ]:
        translation = translate(translator, typed)
        assert translation.unknown == unknown
        assert all(translation.text.count(word) == 1 for word in unknown)


def test_an_expression_is_there_with_its_operators(make) -> None:
    for share in (WITH, WITHOUT):
        translator = make(share, lambda text: [text.replace(" * ", " ").replace("+", "")])
        assert translate(translator, "Ela tem 5 * 3 * 2 gatos.").text == "Ela tem 5 * 3 * 2 gatos."
        assert translate(translator, "O rei tem 2,5 + 2 = 4,5.").text == "O rei tem 2.5 + 2 = 4.5."


def test_a_text_without_words_has_its_numbers_in_the_notation_of_the_translation(make) -> None:
    text = "1.234,56\n12,5 %\n31/12/2024 18h30\n– 1.º: https://a.pt/1.000\n2,5 + 1\n日本語 !!"
    for share in (WITH, WITHOUT):
        translator = make(share, lambda text: [text])
        expected = "1,234.56\n12.5 %\n31/12/2024 18:30\n– 1st: https://a.pt/1.000\n2.5 + 1\n日本語 !!"
        assert translate(translator, text).text == expected
        assert translator.engine.seen == []
        assert translate(make(share, lambda text: [text], safeguards=False), text).text == text


def test_a_century_alone_is_translated(make) -> None:
    for share in (WITH, WITHOUT):
        assert translate(make(share, lambda text: [text]), "Século XXI").text == "21st century"


def test_quantities_keep_their_size_in_capitals_and_in_titles(make) -> None:
    for text, written in [
        ("ELA TEM 3 BILIÕES DE EUROS.", "ELA TEM 3 TRILLION EUROS."),
        ("ELA VÊ O GATO ÀS 20H45.", "ELA VÊ O GATO ÀS 20:45."),
        ("Ela Tem 3 Mil Milhões De Euros", "Ela Tem 3 Billion Euros"),
        ("N.º 00045 e o gato", "No. 00045 e o gato"),
        ("N.º 00045", "No. 00045"),
        ("Ela tem 1200 euros em 3 de junho.", "Ela tem 1200 euros on 3 June."),
    ]:
        assert translate(make(WITH, lambda text: [text]), text).text == written
    assert translate(make(WITHOUT, lambda text: [text]), "Ela tem 5 euros.").text == "Ela tem 5 euros."


def test_a_number_that_is_lost_as_typed_is_masked(make) -> None:
    for typed, wrong, right in [
        ("Ninguém tem os 35 € e 12.345.", "No one has the 35  ON and ❶.", "Ninguém tem os 35 € e 12,345."),
        ("O dólar vale R$ 5,46.", "The dollar is RDVD 5.46.", "O dólar vale R$ 5.46."),
    ]:
        translator = make(WITH, lambda text, wrong=wrong: [wrong if "5" in text else text])
        translation = translate(translator, typed)
        assert (translation.text, translation.is_retried) == (right, True)
        assert len(translator.engine.seen) == 2
    written = "It costs 5 reais and rises three percent."
    assert translate(make(WITH, lambda _: [written]), "Custa R$ 5 e sobe 3%.").text == written


def test_one_frequent_word_shows_that_short_sentences_are_no_acronyms(make) -> None:
    translator = make(WITHOUT, lambda text: [text])
    assert translate(translator, "TENHO UM CARRO.").text == "TENHO UM CARRO."
    assert translator.engine.seen == ["Tenho um carro."]  # of these, "um" alone is one token


def test_without_safeguards_the_model_reads_what_was_typed(make) -> None:
    translator = make(WITHOUT, lambda text: [text.lower()], safeguards=False)
    assert translate(translator, "ELA TEM 25.").text == "ela tem 25."
    assert translator.engine.seen == ["ELA TEM 25."]


def test_only_constrained_sentences_need_more_of_the_engine(make) -> None:
    translator = make(WITHOUT, lambda text: [text])
    translator.translate(["Ela tem tempo.", "Ela tem {x} tempo.", "Ela tem 25 gatos."])
    needs = {
        (request.options.num_hypotheses, request.with_attention) for request in translator.engine.requests
    }
    assert needs == {(1, False), (1, True), (4, False)}
    assert sorted(translator.engine.seen) == ["Ela tem 25 gatos.", "Ela tem tempo.", "Ela tem tempo."]


def test_an_entity_that_stands_in_the_target_prefix_is_there_once(make) -> None:
    for share in (WITH, WITHOUT):
        translator = make(share, lambda _text: ["See {name} now."])
        (translation,) = translator.translate("Veja {name} agora.", prefix="See {name}")
        assert translation.text == "See {name} now."


def test_a_text_in_the_target_language_is_translated_after_a_prefix(make) -> None:
    translator = make(WITHOUT, lambda _text: ["See the cat."])
    text = "The cat has no time for this."
    for typed in (text, "The cat has no time for 1.234 of this."):
        assert [each.text for each in translator.translate(typed)] == [typed]
    (translation,) = translator.translate(text, prefix="See")
    assert (translation.text, translation.detected) == ("See the cat.", "en")


@pytest.mark.parametrize("rest", ["tempo", "25/7", ""])
def test_attention_of_any_kind_loses_nothing(runs, rest: str) -> None:
    numbers = np.random.default_rng(3)

    class Attending(TextEngine):
        def submit(self, request: SearchRequest) -> PendingHypotheses:
            wait = super().submit(request)
            return lambda: [[attending(hypothesis) for hypothesis in hypotheses] for hypotheses in wait()]

    def attending(hypothesis: Hypothesis) -> Hypothesis:
        num_target, num_source = hypothesis.attention.shape
        return replace(hypothesis, attention=numbers.dirichlet(np.ones(num_source), size=num_target))

    tokenizers, config = runs[WITHOUT]
    translator = Translator(Attending(tokenizers, lambda text: [text]), tokenizers, config)
    for _ in range(100):
        text = translate(translator, f"{{a}} Ela @b TEM {{c}} muito MAU {rest} {{d}}").text
        assert sorted(re.findall(r"@b|\{.\}", text)) == ["@b", "{a}", "{c}", "{d}"]
        assert "  " not in text


def test_alignments_are_of_translations_with_entities_that_the_vocabulary_lacks(make) -> None:
    translator = make(WITHOUT, lambda text: [text])
    for prefix in ("Ela 🎉 tem", "Ela 🎉 tem tempo."):
        aligned = align(translator, "Ela 🎉 tem tempo.", prefix).of_words()
        assert aligned.translation.startswith(prefix)
        assert "".join(aligned.target_words) == aligned.translation
    with pytest.raises(ConfigError, match="outside the model's vocabulary"):
        align(translator, "Ela tem tempo.", "Ela 日本 tem")


def test_an_acronym_within_another_keeps_the_space_around_it() -> None:
    translator = Translator.load("starter")
    assert "EU and the US" in translator.translate(["A UE e os EUA não chegaram a acordo."])[0].text


def test_the_article_of_a_number_is_that_of_the_spoken_number(make) -> None:
    translator = make(WITHOUT, lambda _text: ["An 3 gatos, a 8 gatos, a 11 gatos, an 1.5 gatos"])
    assert translate(translator, "O 3, 8, 11 e 1,5 gatos").text.startswith(
        "A 3 gatos, an 8 gatos, an 11 gatos, a 1"
    )


def test_measures_are_read_as_they_are_typed_and_keep_their_unit(make) -> None:
    translator = make(WITH, lambda text: [text.replace("5 kg", "5")])
    assert translate(translator, "Ela tem 3 kg de gatos.").text == "Ela tem 3 kg de gatos."
    assert translate(translator, "Ela tem 5 kg de gatos.").text == "Ela tem 5 kg de gatos."
    assert translator.engine.seen == [
        "Ela tem 3 kg de gatos.",
        "Ela tem 5 kg de gatos.",
        "Ela tem ❶ de gatos.",
    ]


def test_what_takes_the_place_of_a_placeholder_touches_no_word(make) -> None:
    translator = make(WITH, lambda text: [text.replace("tem ❶", "tem❶x")])
    assert translate(translator, "Ela tem 3.000 gatos.").text == "Ela tem 3,000 x gatos."
