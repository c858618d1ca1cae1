"""The batched language identifier gives py3langid's own scores."""

from pathlib import Path

import numpy as np
import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from ptenmt.data.language_identification import LanguageCheck
from ptenmt.data.readers import demo_pairs
from ptenmt.data.text import seems_foreign


@pytest.fixture(scope="module")
def check() -> LanguageCheck:
    return LanguageCheck(("pt", "en"))


def test_scores_are_those_of_py3langid(check: LanguageCheck) -> None:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(check.languages)
    sentences = [text for pair in demo_pairs("validation")[:40] for text in pair]
    texts = ["", "12", "É NOITE", "今日は晴れです。", *sentences, "¿Dónde está?", " ".join(sentences)]
    scores, _ = check.scores(texts)
    probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    for text, row in zip(texts[2:-1], probabilities[2:-1], strict=True):
        expected = dict(identifier.rank(text))
        np.testing.assert_allclose(row, [expected[language] for language in check.languages], atol=1e-5)
    assert check.languages[int(scores[-1].argmax())] in ("pt", "en")


def test_the_tables_are_read_from_the_cache_or_if_it_cannot_be_written_from_temporary_files(
    check: LanguageCheck, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts = ["É noite.", "", "The cat sleeps."]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    written, read = LanguageCheck(("pt", "en")), LanguageCheck(("pt", "en"))
    assert len(list(tmp_path.rglob("*.npy"))) == 6
    unwritable = tmp_path / "file"
    unwritable.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(unwritable))
    for other in (written, read, LanguageCheck(("pt", "en"))):
        np.testing.assert_array_equal(other.scores(texts)[0], check.scores(texts)[0])


def test_a_damaged_cache_is_replaced(
    check: LanguageCheck, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    LanguageCheck(("pt", "en"))
    for file in tmp_path.rglob("*.npy"):
        file.write_bytes(b"not a table")
    np.testing.assert_array_equal(LanguageCheck(("pt", "en")).scores(["É"])[0], check.scores(["É"])[0])


def test_a_lone_surrogate_is_read_as_a_question_mark(check: LanguageCheck) -> None:
    assert check.scores(["caf\udc80"])[0] == pytest.approx(check.scores(["caf?"])[0])


def test_when_in_doubt_a_text_may_be_in_any_language(check: LanguageCheck) -> None:
    texts = ["", "12", "Tom", "Obrigado", "Isto é uma frase em português, sem dúvida nenhuma."]
    assert check.accepts(texts, "en").tolist() == [True, True, True, True, False]
    assert check.accepts(texts, "pt").tolist() == [True] * 5
    assert check.accepts([], "pt").tolist() == []


def test_a_foreign_language_is_named(check: LanguageCheck) -> None:
    texts = [
        "O gato não tem tempo para isso.",
        "The cat has no time at all for this.",
        "Ich habe heute leider keine Zeit für dich.",
        "Hoy no tengo mucho tiempo para hablar contigo.",
    ]
    assert check.foreign(texts, "pt") == [None, "en", "de", "es"]
    assert check.foreign(texts[:2], "en") == ["pt", None]
    assert check.foreign([], "pt") == []


def test_a_text_in_any_language_is_named() -> None:
    texts = {
        "ru": "Сегодня хорошая погода.",
        "zh": "今天天气很好。",
        "pl": "Dzisiaj jest bardzo ładna pogoda, prawda?",
        "sv": "Jag vet inte vad du menar med det här.",
        "ro": "Nu știu ce vrei să spui cu asta.",
        "fi": "Minulla ei ole tänään aikaa puhua kanssasi.",
        "tr": "Bugün seninle konuşacak zamanım yok.",
        "ca": "Avui no tinc gens de temps per parlar amb tu.",
        "gl": "Hoxe non teño tempo para falar contigo.",
    }
    for source in ("pt", "en"):
        assert all(seems_foreign(text, source) for text in texts.values())
        assert LanguageCheck((source,), None).foreign([*texts.values()], source) == [*texts]
