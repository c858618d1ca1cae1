"""DeepL's routes, with its own client if it is installed."""

from pathlib import Path
from typing import Any

import pytest
import requests

from ptenmt.server.limits import add_key
from ptenmt.translation.glossary import Glossary

TEXT = "o gato não tem tempo nenhum"


def test_requests_as_in_deepls_documentation(serve, tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.txt", "alice")
    glossaries = {"animals": Glossary({"gato": "Katze"})}
    with serve(keys=tmp_path / "keys.txt", glossaries=glossaries, characters_per_day=900) as served:
        header = {"Authorization": f"DeepL-Auth-Key {key}"}

        def translated(**body: Any) -> Any:
            given = {"json": body | {"target_lang": "EN-US"}, "headers": header, "timeout": 120}
            answer = requests.post(f"{served.url}/v2/translate", **given)
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
        answer = requests.post(f"{served.url}/v2/translate", data=form, headers=header, timeout=120).json()
        assert [each["text"] for each in answer["translations"]] == ["O GATO", "A MÃE"]
        for line in (b"first", b"second"):
            upload = {"data": {"source": "pt", "target": "en"}, "files": {"file": ("a.txt", line)}}
            requests.post(f"{served.url}/translate_file", headers=header, timeout=120, **upload)
        assert translated(text="a mãe", source_lang="") == ["A MÃE"]
        usage = requests.post(f"{served.url}/v2/usage", headers=header, timeout=120).json()
        assert served.refused("/v2/translate", 400, json=form | {"text": "x" * 9_999}, headers=header)
        assert requests.post(f"{served.url}/v2/usage", headers=header, timeout=120).json() == usage
        assert usage["character_count"] == len(TEXT) + 5 + 13 + 6 + 6 + 5 + len("firstsecond") + 5
        languages = requests.post(f"{served.url}/v2/languages", headers=header, timeout=120).json()
        assert [each["language"] for each in languages] == ["PT"]
        assert "api_key" in served.refused("/v2/translate", 403, json=form)
        for path in ("/v2/languages", "/v2/usage"):
            assert requests.get(served.url + path, timeout=120).status_code == 403


def test_xml_is_refused(served) -> None:
    body = {"text": "o gato", "source_lang": "PT", "target_lang": "EN", "tag_handling": "xml"}
    assert "tag_handling" in served.refused("/v2/translate", 400, json=body)


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
