"""Which language a text is in, by py3langid."""

from pathlib import Path

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from ptenmt.config import DataConfig
from ptenmt.data.languages import LanguageCheck, language_name, seems_foreign, suspicions
from ptenmt.data.readers import demo_pairs


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
    assert check.foreign(texts, "en") == [None] * 4 + ["pt"]
    assert check.foreign(texts, "pt") == [None] * 5


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


# Files that do not hold what the config says are noticed


PAIRS = demo_pairs("train")[:200]
GERMAN = [
    "Der Hund läuft schnell durch den großen Garten und bellt dabei laut.",
    "Wir haben gestern Abend zusammen mit unseren Freunden gegessen.",
    "Ich weiß nicht, warum das Wetter heute so schlecht geworden ist.",
]


def messages(file: Path, lines: list[tuple[str, str]], **options: str) -> list[str]:
    file.write_text("".join(f"{source}\t{target}\n" for source, target in lines), encoding="utf-8")
    return list(suspicions(DataConfig(source="files", path=str(file), **options)))  # type: ignore[arg-type]


def test_what_is_as_declared_raises_no_suspicion(tmp_path: Path) -> None:
    assert messages(tmp_path / "pairs.tsv", PAIRS) == []


def test_swapped_columns(tmp_path: Path) -> None:
    (message,) = messages(tmp_path / "pairs.tsv", [(target, source) for source, target in PAIRS])
    assert "the columns look swapped, English before Portuguese" in message


def test_another_language_than_declared(tmp_path: Path) -> None:
    german = [(GERMAN[number % 3], target) for number, (_, target) in enumerate(PAIRS)]
    (message,) = messages(tmp_path / "pairs.tsv", german)
    assert f"column 1 are {language_name('de')}, not Portuguese" in message
    assert message.endswith("set data.source_language=de")
    assert messages(tmp_path / "pairs.tsv", german, source_language="de") == []
    assert messages(tmp_path / "pairs.tsv", german, source_language="xx") == [], "a language nobody knows"


def test_a_header(tmp_path: Path) -> None:
    for header in (("source", "target"), ("Portuguese", "English"), ("pt", "en")):
        (message,) = messages(tmp_path / "pairs.tsv", [header, *PAIRS])
        assert "the first line looks like a header" in message
