"""Which language a text is in, by py3langid."""

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from ptenmt.data.languages import LanguageCheck, seems_foreign


@pytest.fixture(scope="module")
def check() -> LanguageCheck:
    return LanguageCheck(("pt", "en"))


def test_probabilities_are_those_of_py3langid(check: LanguageCheck) -> None:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(["pt", "en"])
    for text in ("É NOITE", "A noite está fria.", "It is late, and I am tired."):
        expected = dict(identifier.rank(text))
        assert dict(check.ranked(text, ["pt", "en"])) == pytest.approx(expected, abs=1e-5)
    assert check.ranked("caf\udc80", ["pt", "en"]) == check.ranked("caf?", ["pt", "en"])
    with pytest.raises(ValueError, match="does not know xx"):
        check.ranked("a", ["pt", "xx"])


def test_when_in_doubt_a_text_may_be_in_any_language(check: LanguageCheck) -> None:
    texts = ["", "12", "Tom", "Obrigado", "Isto é uma frase em português, sem dúvida nenhuma."]
    assert [check.foreign(text, "en") for text in texts] == [None] * 4 + ["pt"]
    assert [check.foreign(text, "pt") for text in texts] == [None] * 5


def test_a_foreign_language_is_named(check: LanguageCheck) -> None:
    texts = [
        "O gato não tem tempo para isso.",
        "The cat has no time at all for this.",
        "Ich habe heute leider keine Zeit für dich.",
        "Hoy no tengo mucho tiempo para hablar contigo.",
    ]
    assert [check.foreign(text, "pt") for text in texts] == [None, "en", "de", "es"]
    assert [check.foreign(text, "en") for text in texts[:2]] == ["pt", None]


def test_a_text_in_any_language_is_named() -> None:
    texts = {
        "ru": "Сегодня хорошая погода.",
        "zh": "今天天气很好。",
        "ro": "Nu știu ce vrei să spui cu asta.",
        "ca": "Avui no tinc gens de temps per parlar amb tu.",
        "gl": "Hoxe non teño tempo para falar contigo.",
    }
    assert all(seems_foreign(text, "pt") for text in texts.values())
    check = LanguageCheck(("pt",), None)
    assert {check.foreign(text, "pt"): text for text in texts.values()} == texts
