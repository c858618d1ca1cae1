"""Files that do not hold what the config says are noticed."""

from pathlib import Path

from ptenmt.config import DataConfig
from ptenmt.data.languages import language_name
from ptenmt.data.readers import demo_pairs
from ptenmt.data.sides import suspicions

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
