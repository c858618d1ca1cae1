"""Entities keep the spaces around them, tags pair, and code stays."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from scripted import TextEngine

from ptenmt.config import AugmentConfig, Config, DataConfig, DecodingConfig, TokenizerConfig
from ptenmt.data.augmentation import tokenizer_symbols
from ptenmt.data.readers import demo_pairs
from ptenmt.tokenizers import build_tokenizers
from ptenmt.translation import Translator
from ptenmt.translation.safeguards.entities import _spaced_as_typed

Translate = Callable[[str, Callable[[str], str]], str]


@pytest.fixture(scope="module", params=[0.0, 0.5], ids=["without placeholders", "with placeholders"])
def translate(request: pytest.FixtureRequest) -> Translate:
    """Translate a text by a script, with a model that spells common marks."""
    data = DataConfig(source="demo", augment=AugmentConfig(placeholders=request.param))
    config = Config(data=data, tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=200))
    texts = [*(source for source, _ in demo_pairs("validation")), *["“”\"‘’',.?!:;%{}<>/*()[]"] * 100]
    tokenizers = build_tokenizers(
        config.tokenizer, [(text, text) for text in texts], ("pt", "en"), tokenizer_symbols(data)
    )
    config = replace(config, decoding=DecodingConfig(beam_size=1))

    def translated(text: str, script: Callable[[str], str]) -> str:
        engine = TextEngine(tokenizers, lambda sentence: [script(sentence)])
        return Translator(engine, tokenizers, config).translate(text)[0].text

    return translated


def test_a_mark_between_two_entities_is_there_once(translate: Translate) -> None:
    assert translate('O gato "😀"😀" e o rei.', str).count('"') == 3


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("{% if %}Olá, gato", lambda text: text.replace("❶O", "❶ O")),
        ("O gato{% endif %} e o rei", lambda text: text.replace("❶", " ❶")),
        ("O gato {nome} dorme", lambda text: text.replace(" ❶ ", "❶")),
        ("O gato<br>O rei", str),
        ("O gato&nbsp;preto", str),
        ("O *gato* e o **rei**", lambda text: text.replace("❶", " ❶ ").replace("❷", " ❷ ")),
        ("O <i>gato</i> e o <i>rei</i>", lambda text: text.replace("❶", "❶ ").replace("❷", " ❷")),
    ],
)
def test_entities_have_the_spaces_of_the_source(
    translate: Translate, text: str, change: Callable[[str], str]
) -> None:
    assert translate(text, change) == text


@pytest.mark.parametrize(
    ("text", "written", "expected"),
    [
        ("O <b>gato</b> preto.", "O❷ gato ❶preto.", "O <b>gato</b> preto."),
        ("O <b>gato</b> e o <i>rei</i>.", "O ❹rei❶ e o ❷gato❸.", "O <b>rei</b> e o <i>gato</i>."),
        ("O <b>gato</b> e o <i>rei</i>.", "O ❸rei❹ e o ❶gato❷.", "O <i>rei</i> e o <b>gato</b>."),
        ("O gato</b><br>e o <i>rei</i>.", "O rei❷❶ e o ❹gato❸.", "O rei</b><br>e o <i>gato</i>."),
    ],
)
def test_tags_are_closed_after_they_are_opened(
    translate: Translate, text: str, written: str, expected: str
) -> None:
    tag, seen = re.compile("<.*?>"), list[str]()

    def script(sentence: str) -> str:
        seen.append(sentence)
        return written if "❶" in sentence else tag.sub("", text)

    translation = translate(text, script)
    if "❶" in seen[0]:
        assert translation == expected
    else:
        assert tag.findall(translation) == tag.findall(text)


def test_marks_that_change_places_keep_their_spaces() -> None:
    marks = ["**", "**", "*", "*"]
    assert _spaced_as_typed("**a** e *b* foi", marks, "*b* and **a** was") == "*b* and **a** was"
    assert _spaced_as_typed("**a** e *b* foi", marks, "**a** and * b * was") == "**a** and *b* was"


def test_code_fences_stay_as_they_are(translate: Translate) -> None:
    text = "O gato.\n```python\nprint('o gato')\n\n  x = 1\n```\nO rei.\n```\n"
    lowered = text.replace("O gato.", "o gato.").replace("O rei.", "o rei.")
    assert translate(text, lambda sentence: sentence.replace("O ", "o ")) == lowered
    assert translate("O gato ```make test``` e ``a`b``.", str) == "O gato ```make test``` e ``a`b``."
