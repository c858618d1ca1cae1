"""Kept parts, digits and capitals survive any model; texts without words stay as they are."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scripted import TextEngine

from ptenmt.config import AugmentConfig, Config, DataConfig, DecodingConfig, TokenizerConfig
from ptenmt.data.augmentation import tokenizer_symbols
from ptenmt.data.kept_parts import PLACEHOLDERS
from ptenmt.data.readers import demo_pairs
from ptenmt.errors import ConfigError
from ptenmt.tokenizers import TokenizerPair, build_tokenizers
from ptenmt.translation import Translation, Translator
from ptenmt.translation.single_sentence import align

SENTENCES = [source for source, _ in demo_pairs("validation") if source[-1] in ".?!" and "? " not in source]
PARTS = ["https://example.org/a?b=c", "foo@example.org", "3f2a9bc1", "{name}", "%1$s", "COVID-19", "H2O"]
PARTS += ["#TAG#", "#agora", "@ana", "😀", "👍🏽", "www.a.pt/x", "${valor}", "🇵🇹", "192.168.0.1", "<br>"]
WITH, WITHOUT = 0.5, 0.0
_SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZÃÉÊÁÍÓÚÇÕÀÂ.,:/-«»“”{}()!?"
Script = Callable[[str], Sequence[str]]


@pytest.fixture(scope="module")
def runs() -> dict[float, tuple[TokenizerPair, Config]]:
    """Runs with and without placeholders in training."""
    found = {}
    for share in (WITH, WITHOUT):
        data = DataConfig(source="demo", augment=AugmentConfig(placeholders=share))
        config = Config(data=data, tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=200))
        pairs = [(text, text) for text in [*SENTENCES, _SIGNS, " ".join(_SIGNS)]]
        symbols = tokenizer_symbols(data)
        found[share] = (build_tokenizers(config.tokenizer, pairs, ("pt", "en"), symbols), config)
    return found


@pytest.fixture
def make(runs) -> Callable[..., Translator]:
    """A translator with a script: ``make(share, script, **decoding)``."""

    def translator(share: float, script: Script = lambda text: [text], **decoding: object) -> Translator:
        tokenizers, config = runs[share]
        config = replace(config, decoding=DecodingConfig(**decoding))
        return Translator(TextEngine(tokenizers, script), tokenizers, config)

    return translator


def translate(translator: Translator, text: str) -> Translation:
    (translation,) = translator.translate(text)
    return translation


def with_parts(numbers: random.Random) -> tuple[str, list[str]]:
    """A sentence with one to three different kept parts between its words, and those."""
    words = numbers.choice(SENTENCES).split()
    parts = numbers.sample(PARTS, numbers.randint(1, 3))
    for part in parts:
        words.insert(numbers.randint(0, len(words) - 1), part)
    return " ".join(words), parts


@pytest.mark.parametrize("share", [WITH, WITHOUT])
def test_of_a_model_that_copies_the_translation_is_the_sentence(make, share: float) -> None:
    numbers = random.Random(1)
    sentences = [with_parts(numbers)[0] for _ in range(100)]
    sentences += [sentence.upper() for sentence in SENTENCES[:50]]
    sentences += [" ".join(word[:1].upper() + word[1:] for word in text.split()) for text in SENTENCES[:50]]
    sentences += ["Olá (😀), vê {a}, {b} e “@ana”!", "😀 Ela tem 3 gatos 😀", "{x}: ela NÃO tem tempo?"]
    sentences += ["O <b>gato</b><br>e o (<i>rei</i>).", "Ela vê o gato😀e vê o rei😀", "😀ela vê {a}{b}"]
    assert [each.text for each in make(share).translate(sentences)] == sentences


@pytest.mark.parametrize("share", [WITH, WITHOUT])
@pytest.mark.parametrize(
    "script",
    [
        lambda text: [" ".join(reversed(text.split()))],
        lambda text: ["".join(char for char in text if char not in PLACEHOLDERS and not char.isdigit())],
        lambda text: [re.sub(f"([{''.join(PLACEHOLDERS)}])", r"\1 \1", text)],
        lambda text: [text + "".join(PLACEHOLDERS)],
    ],
    ids=["reversed", "lost", "doubled", "made up"],
)
def test_every_kept_part_is_there_exactly_once(make, share: float, script: Script) -> None:
    numbers = random.Random(2)
    translator = make(share, script)
    for _ in range(60):
        sentence, parts = with_parts(numbers)
        text = translate(translator, sentence).text
        assert [text.count(part) for part in parts] == [1] * len(parts), (sentence, text)
        assert not set(text) & set(PLACEHOLDERS)


@pytest.mark.parametrize("share", [WITH, WITHOUT])
def test_there_may_be_more_kept_parts_than_placeholders(make, share: float) -> None:
    parts = [*(f"{{p{number}}}" for number in range(14)), "❶", "❸"]
    words = [word for part in parts for word in ("gato", part)]
    for script in (lambda text: [text], lambda text: [text.replace(PLACEHOLDERS[0], "")]):
        assert translate(make(share, script), " ".join(words)).text.split() == words


def test_of_placeholders_the_model_reads_one_for_each_part(make) -> None:
    translator = make(WITH)
    translate(translator, "Ela vê {x}, @ana e {x} às 18h30.")
    translate(make(WITHOUT), "Ela vê {x}.")
    assert translator.engine.seen == ["Ela vê ❶, ❷ e ❶ às 18h30."]
    assert len(translator.engine.requests) == 1
    assert not translator.engine.requests[0].with_attention


def test_a_model_without_placeholders_reads_codes_and_nothing_for_others(make) -> None:
    translator = make(WITHOUT, lambda text: [text.replace("COVID", "Covid")])
    for typed, seen in [
        ("A COVID-19 chegou (2019).", "A COVID-19 chegou (2019)."),
        ("Ela vê o gato😀e vê o rei", "Ela vê o gato e vê o rei"),
        ("Ela vê Abramović.", "Ela vê."),
    ]:
        assert translate(translator, typed).text == typed
        assert translator.engine.seen[-1] == seen


@pytest.mark.parametrize("share", [WITH, WITHOUT])
def test_words_and_signs_that_the_tokenizer_lacks_stay(make, share: float) -> None:
    known = {*_SIGNS, " ", *PLACEHOLDERS}
    translator = make(share, lambda text: ["".join(char for char in text if char in known)])
    for typed, unknown in [
        ("a casa de Abramović.", ["Abramović"]),
        ("a casa ≤ Löw-Beer e ‹gatos›.", ["Löw-Beer"]),
        ("o https://a.pt/Löw e a casa.", []),
        ("a casa e o gato", []),
    ]:
        translation = translate(translator, typed)
        assert (translation.text, translation.unknown) == (typed, unknown)
    assert make(share).translate("a\u00adb c\u200bd\ue000")[0].unknown == []


def test_what_a_lower_case_model_reads_in_lower_case_is_spelled() -> None:
    config = Config(
        data=DataConfig(source="demo", lowercase=True),
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=120),
    )
    tokenizers = build_tokenizers(config.tokenizer, [(text.lower(),) * 2 for text in SENTENCES], ("pt", "en"))
    translator = Translator(TextEngine(tokenizers, lambda text: [text]), tokenizers, config)
    translation = translate(translator, SENTENCES[0])
    assert (translation.text, translation.unknown) == (SENTENCES[0].lower(), [])


@pytest.mark.parametrize("share", [WITH, WITHOUT])
def test_a_text_without_letters_keeps_its_digits(make, share: float) -> None:
    for text in ("12/03/2024", "https://a.pt {x} 😀", "日本語 !!", "10:30 – 11:45"):
        translator = make(share, lambda _text: ["wrong"])
        assert translate(translator, text).text == text
        assert translator.engine.seen == []
    # A model may write an amount as its language does, with all digits.
    assert translate(make(share, lambda _text: ["1,234.50"]), "1.234,50").text == "1,234.50"
    assert translate(make(share, lambda _text: ["1,234"]), "1.234,50").text == "1.234,50"


def test_capitals_are_translated_in_their_usual_case_and_given_back(make) -> None:
    for share in (WITH, WITHOUT):
        translator = make(share, lambda text: [text.replace("gato", "cat").replace("tempo", "time")])
        for typed, expected, seen in [
            ("O GATO NÃO TEM TEMPO!", "O CAT NÃO TEM TIME!", "O gato não tem tempo!"),
            ("O Gato Não Tem Tempo", "O Cat Não Tem Time", "O gato não tem tempo"),
            ("Eu Vi O Gato", "Eu Vi O Cat", "Eu vi o gato"),
            ("EU VI O GATO", "EU VI O CAT", "Eu vi o gato"),
            ("O gato NÃO tem tempo.", "O cat NÃO tem time.", "O gato NÃO tem tempo."),
            ("O GATO NÃO VIU HTTPS://A.PT/X {Nome}.", "O CAT NÃO VIU HTTPS://A.PT/X {Nome}.", None),
            ("O GATO TP123 NÃO TEM TEMPO", "O CAT TP123 NÃO TEM TIME", None),
            ("O GATO NÃO VIU O iPhone", "O CAT NÃO VIU O iPhone", None),
            ("A iPhone É O Gato Ali", "A iPhone É O Cat Ali", None),
        ]:
            assert translate(translator, typed).text == expected
            assert seen is None or seen in translator.engine.seen


@pytest.mark.parametrize(
    "typed",
    [
        *("A ONU e a UE.", "A NASA e a ESA.", "A ONU", "O PIB da UE", "O voo TP123 da TAP.", "O VOO TP123"),
        *("João Coelho Leite", "Maria Pereira Carvalho", "Banco Espírito Santo", "Moro em São Paulo."),
        *("Ministério da Economia e Mar", "Ela tem o Programa Mais Gatos."),
        *("Li Os Gatos e O Rato.", "Século XXI, capítulo IV, D. João VI.", "São 12 C, -3 C e 5 C."),
    ],
)
def test_acronyms_and_names_keep_their_capitals(make, typed: str) -> None:
    translator = make(WITHOUT)
    assert translate(translator, typed).text == typed
    assert translator.engine.seen == [typed]


def test_code_fences_stay_as_they_are(make) -> None:
    text = "O gato.\n```python\nprint('o gato')\n\n\tx = 1\t# <br>\n```\nO rei.\n```\n"
    lowered = text.replace("O gato.", "o gato.").replace("O rei.", "o rei.")
    assert translate(make(WITH, lambda sentence: [sentence.replace("O ", "o ")]), text).text == lowered
    assert (
        translate(make(WITH), "O gato ```make test``` e ``a`b``.").text == "O gato ```make test``` e ``a`b``."
    )


def test_without_safeguards_the_model_reads_what_was_typed(make) -> None:
    translator = make(WITHOUT, lambda text: [text.lower()], safeguards=False)
    assert translate(translator, "ELA TEM 25.").text == "ela tem 25."
    assert translator.engine.seen == ["ELA TEM 25."]
    assert translate(make(WITH, safeguards=False), "Ela ❶ tem.").text == "Ela ❶ tem."


def test_n_best_hypotheses_have_their_kept_parts(make) -> None:
    translator = make(WITH, lambda _text: ["Não.", "A ❶ ❶.", "A ❶."], num_hypotheses=3)
    translation = translate(translator, "Ela tem {x}.")
    assert [translation.text, *(each.text for each in translation.alternatives)] == ["Não {x}.", "A {x}."]


def test_a_kept_part_that_stands_in_the_target_prefix_is_there_once(make) -> None:
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


def test_words_within_a_kept_part_have_no_language(make) -> None:
    (translation,) = make(WITHOUT).translate("Ela {count, plural, one {# the one} other {# the other}}.")
    assert translation.detected is None


def test_a_placeholder_that_no_part_has_is_no_word_of_a_translation(make) -> None:
    assert translate(make(WITH, lambda _text: ["See ❿ the cat ❸."]), "Vê o gato.").text == "See the cat."


@pytest.mark.parametrize("rest", ["tempo", "25/7", ""])
def test_attention_of_any_kind_loses_nothing(runs, rest: str) -> None:
    numbers = np.random.default_rng(3)

    class Attending(TextEngine):
        def attention(self, sources, targets):
            matrices = super().attention(sources, targets)
            return [numbers.dirichlet(np.ones(each.shape[1]), size=len(each)) for each in matrices]

    tokenizers, config = runs[WITHOUT]
    translator = Translator(Attending(tokenizers, lambda text: [text]), tokenizers, config)
    for _ in range(100):
        text = translate(translator, f"{{a}} Ela @b TEM {{c}} muito MAU {rest} {{d}}").text
        assert sorted(re.findall(r"@b|\{.\}", text)) == ["@b", "{a}", "{c}", "{d}"]
        assert "  " not in text


def test_alignments_are_of_translations_with_signs_that_the_vocabulary_lacks(make) -> None:
    translator = make(WITHOUT)
    for prefix in ("Ela 🎉 tem", "Ela 🎉 tem tempo."):
        aligned = align(translator, "Ela 🎉 tem tempo.", prefix).of_words()
        assert aligned.translation.startswith(prefix)
        assert "".join(aligned.target_words) == aligned.translation
    with pytest.raises(ConfigError, match="outside the model's vocabulary"):
        align(translator, "Ela tem tempo.", "Ela 日本 tem")
