"""Several directions in one server."""

from types import SimpleNamespace
from typing import Any

import pytest

from ptenmt.errors import ConfigError, ExportError
from ptenmt.server.models import Direction, Models

PORTUGUESE, ENGLISH = "o gato não tem tempo nenhum , e o cão", "the cat has no time at all , and the dog"


def test_the_direction_is_chosen_by_source_and_target(serve) -> None:
    with serve(pairs=["pt-en", "en-pt", "gl-en"]) as served:
        models = served.get("/v1/models").json()
        assert [f"{each['source']}-{each['target']}" for each in models] == list(served.engines)
        languages = served.get("/languages").json()
        assert {each["code"]: each["targets"] for each in languages} == {
            "pt": ["pt", "en"],
            "en": ["pt", "en"],
            "gl": ["en", "gl"],
        }
        for pair in served.engines:
            served.post("/translate", q=f"o {pair}", source=pair[:2], target=pair[3:])
            served.post("/v1/alignment", q=f"a {pair}", source=pair[:2], target=pair[3:])
        for pair, engine in served.engines.items():
            assert [text for batch in engine.begun for text in batch] == [f"o {pair}", f"a {pair}"]
        message = served.refused("/translate", 400, json={"q": "x", "source": "pt", "target": "gl"})
        assert message == "Galician (gl) is not available as a target language from Portuguese (pt)"


def test_a_detected_language_is_translated_by_its_own_model(serve) -> None:
    with serve(pairs=["pt-en", "en-pt"]) as served:
        for target, translated in (("en", PORTUGUESE), ("pt", ENGLISH)):
            answer = served.post("/translate", q=[PORTUGUESE, ENGLISH], source="auto", target=target)
            assert [found["language"] for found in answer["detectedLanguage"]] == ["pt", "en"]
            expected = [text.upper() if text == translated else text for text in (PORTUGUESE, ENGLISH)]
            assert answer["translatedText"] == expected


def test_all_models_are_loaded_again_and_one_that_cannot_be_stays(caplog: pytest.LogCaptureFixture) -> None:
    directions = [Direction(*pair, read=SimpleNamespace) for pair in (("pt", "en"), ("en", "pt"))]  # type: ignore[arg-type]
    models = Models(directions)
    models.load()
    before = [direction.model for direction in directions]

    def fail() -> Any:
        raise ExportError("broken", "mend it")

    directions[0].read = fail
    models.reload()
    assert [direction.model is model for direction, model in zip(directions, before, strict=True)] == [
        True,
        False,
    ]
    (record,) = caplog.records
    assert record.getMessage() == "pt-en stays as it is: broken (mend it)"


def test_two_runs_of_a_direction_are_an_error() -> None:
    directions = [Direction(source, "en", lambda: pytest.fail("is loaded")) for source in ("pt", "gl", "pt")]
    with pytest.raises(ConfigError, match="two runs translate pt-en"):
        Models(directions)
