"""DeepL's routes, with its own client if it is installed."""

from pathlib import Path
from typing import Any

import pytest

from ptenmt.server.limits import add_key
from ptenmt.translation.glossary import Glossary

TEXT = "o gato não tem tempo nenhum"


def test_requests_as_in_deepls_documentation(serve, tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.txt", "alice")
    glossaries = {"animals": Glossary({"gato": "Katze"})}
    with serve(keys=tmp_path / "keys.txt", glossaries=glossaries, characters_per_day=900) as served:
        header = {"Authorization": f"DeepL-Auth-Key {key}"}

        def translated(**body: Any) -> Any:
            answer = served.send("/v2/translate", json=body | {"target_lang": "EN-US"}, headers=header)
            assert answer.status_code == 200, answer.text
            found = answer.json()["translations"]
            assert {each["detected_source_language"] for each in found} == {"PT"}
            return [each["text"] for each in found]

        assert translated(text=[TEXT, "a mãe"]) == [TEXT.upper(), "A MÃE"]
        html = {"source_lang": "PT-BR", "tag_handling": "html"}
        assert translated(text=["<b>o gato</b>"], **html) == ["<b>O GATO</b>"]
        terms = {"source_lang": "PT", "glossary_id": "animals", "formality": "prefer_more"}
        assert translated(text="o gato", **terms) == ["O Katze"]
        form = {"text": ["o gato", "a mãe"], "target_lang": "EN", "source_lang": "PT"}
        answer = served.send("/v2/translate", data=form, headers=header).json()
        assert [each["text"] for each in answer["translations"]] == ["O GATO", "A MÃE"]
        for line in (b"first", b"second"):
            served.upload(content=line, headers=header)
        assert translated(text="a mãe", source_lang="") == ["A MÃE"]
        usage = served.send("/v2/usage", headers=header).json()
        assert served.refused("/v2/translate", 400, json=form | {"text": "x" * 9_999}, headers=header)
        assert served.send("/v2/usage", headers=header).json() == usage
        assert usage["character_count"] == len(TEXT) + 5 + 13 + 6 + 6 + 5 + len("firstsecond") + 5
        languages = served.send("/v2/languages", headers=header).json()
        assert [each["language"] for each in languages] == ["PT"]
        assert "api_key" in served.refused("/v2/translate", 403, json=form)
        xml = form | {"tag_handling": "xml"}
        assert "tag_handling" in served.refused("/v2/translate", 400, json=xml, headers=header)
        for path in ("/v2/languages", "/v2/usage"):
            assert served.get(path).status_code == 403


def test_deepls_own_client(served) -> None:
    deepl = pytest.importorskip("deepl")
    client = deepl.Translator("key", server_url=served.url)
    result = client.translate_text(
        [TEXT, "a mãe"], source_lang="PT", target_lang="EN-US", formality="prefer_more"
    )
    assert [each.text for each in result] == [TEXT.upper(), "A MÃE"]
    assert client.translate_text(TEXT, target_lang="EN-GB").detected_source_lang == "PT"
    html = client.translate_text("<p>o gato</p>", target_lang="EN-US", tag_handling="html", source_lang="PT")
    assert html.text == "<p>O GATO</p>"
    assert [each.code for each in client.get_source_languages()] == ["PT"]
    assert [each.code for each in client.get_target_languages()] == ["EN"]
    assert client.get_usage().character.limit > 0
