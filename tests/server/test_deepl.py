"""DeepL's routes, with its own client if it is installed, and Immersive Translate's format."""

from pathlib import Path
from typing import Any

import pytest
import requests

from ptenmt.server.limits import Keys, add_key
from ptenmt.translation.safeguards.glossary import Glossary

TEXT = "o gato não tem tempo nenhum"


def test_requests_as_in_deepls_documentation(serve, tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.txt", "alice")
    glossaries = {"animals": Glossary({"gato": "Katze"})}
    with serve(keys=Keys(tmp_path / "keys.txt"), glossaries=glossaries) as served:
        header = {"Authorization": f"DeepL-Auth-Key {key}"}

        def translated(**body: Any) -> Any:
            url = f"{served.url}/v2/translate"
            answer = requests.post(url, json=body | {"target_lang": "EN-US"}, headers=header, timeout=120)
            assert answer.status_code == 200, answer.text
            return [
                (each["text"], each["detected_source_language"]) for each in answer.json()["translations"]
            ]

        assert translated(text=[TEXT, "a mãe"]) == [(TEXT.upper(), "PT"), ("A MÃE", "PT")]
        assert translated(text=["<b>o gato</b>"], source_lang="PT-BR", tag_handling="xml") == [
            ("<b>O GATO</b>", "PT")
        ]
        assert translated(text="o gato", source_lang="PT", glossary_id="animals", formality="more") == [
            ("O Katze", "PT")
        ]
        form = {"text": ["o gato", "a mãe"], "target_lang": "EN", "source_lang": "PT"}
        answer = requests.post(f"{served.url}/v2/translate", data=form, headers=header, timeout=120).json()
        assert [each["text"] for each in answer["translations"]] == ["O GATO", "A MÃE"]
        for line in (b"first", b"second"):
            upload = {"data": {"source": "pt", "target": "en"}, "files": {"file": ("a.txt", line)}}
            requests.post(f"{served.url}/translate_file", headers=header, timeout=120, **upload)
        assert translated(text="a mãe", source_lang="") == [("A MÃE", "PT")]
        usage = requests.post(f"{served.url}/v2/usage", headers=header, timeout=120).json()
        assert served.refused("/v2/translate", 400, json=form | {"text": "x" * 9_999}, headers=header)
        assert requests.post(f"{served.url}/v2/usage", headers=header, timeout=120).json() == usage
        assert usage["character_count"] == len(TEXT) + 5 + 6 + 6 + 6 + 5 + len("firstsecond") + 5
        languages = requests.post(f"{served.url}/v2/languages", headers=header, timeout=120).json()
        assert [each["language"] for each in languages] == ["PT"]
        for path in ("/v2/translate", "/immersive"):
            assert "api_key" in served.refused(path, 403, json=form)
        for path in ("/v2/languages", "/v2/usage"):
            assert requests.get(served.url + path, timeout=120).status_code == 403


def test_errors_are_as_described(served) -> None:
    routes = requests.get(f"{served.url}/openapi.json", timeout=120).json()
    for path in ("/v2/translate", "/translate"):
        reference = routes["paths"][path]["post"]["responses"]["400"]["content"]["application/json"]["schema"]
        described = routes["components"]["schemas"][reference["$ref"].rpartition("/")[2]]
        answer = requests.post(served.url + path, json={}, timeout=120)
        assert (answer.status_code, list(answer.json())) == (400, described["required"])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('o <g id="1">gato</g> bebe<x id="2"/> leite', 'O <g id="1">GATO</g> BEBE<x id="2"/> LEITE'),
        ("<Doc><Par>o gato</Par>\n<Par>a mãe</Par></Doc>", "<Doc><Par>O GATO</Par>\n<Par>A MÃE</Par></Doc>"),
        ("<a:b>o gato</a:b> & a&nbsp;mãe < <!-- c -->1", "<a:b>O GATO</a:b> &amp; A MÃE &lt; <!-- c -->1"),
        ("<?xml version='1.0'?><title>o gato</title>", "<?xml version='1.0'?><title>O GATO</title>"),
        ("12 <b/>", "12 <b/>"),
    ],
)
def test_xml_keeps_its_elements(served, given: str, expected: str) -> None:
    body = {"text": given, "source_lang": "PT", "target_lang": "EN", "tag_handling": "xml"}
    assert served.post("/v2/translate", **body)["translations"][0]["text"] == expected


@pytest.mark.parametrize(
    "given",
    [
        "o <g>gato",
        "o gato</g>",
        "<a>" * 300 + "</a>" * 300,
        "<!DOCTYPE a [<!ENTITY e SYSTEM '/etc'>]><a>&e;</a>",
    ],
)
def test_xml_that_is_not_well_formed_is_refused(served, given: str) -> None:
    body = {"text": given, "source_lang": "PT", "target_lang": "EN", "tag_handling": "xml"}
    assert "not well-formed" in served.refused("/v2/translate", 400, json=body)


def test_immersive_translates_lists(serve, tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.txt", "alice")
    body = {"source_lang": "auto", "target_lang": "en", "text_list": [TEXT, "the cat has no time at all"]}
    with serve(keys=Keys(tmp_path / "keys.txt")) as served:
        answer = requests.post(f"{served.url}/immersive?api_key={key}", json=body, timeout=120).json()
    assert [(each["text"], each["detected_source_lang"]) for each in answer["translations"]] == [
        (TEXT.upper(), "pt"),
        (body["text_list"][1], "en"),
    ]


def test_deepls_own_client(served) -> None:
    deepl = pytest.importorskip("deepl")
    client = deepl.Translator("key", server_url=served.url)
    result = client.translate_text([TEXT, "a mãe"], source_lang="PT", target_lang="EN-US", formality="more")
    assert [each.text for each in result] == [TEXT.upper(), "A MÃE"]
    assert client.translate_text(TEXT, target_lang="EN-GB").detected_source_lang == "PT"
    html = client.translate_text("<p>o gato</p>", target_lang="EN-US", tag_handling="html", source_lang="PT")
    assert html.text == "<p>O GATO</p>"
    assert [each.code for each in client.get_source_languages()] == ["PT"]
    assert [each.code for each in client.get_target_languages()] == ["EN"]
    assert client.get_usage().character.count > 0
