"""DeepL's routes, with its own client if it is installed, and Immersive Translate's format."""

from itertools import chain
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
        assert translated(
            text="o gato", source_lang="PT", glossary_id="animals", formality="prefer_more"
        ) == [("O Katze", "PT")]
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
        ('o gato <x id="4"></x>?', 'O GATO <x id="4"></x>?'),
        ('<x id="1"/> bebe <x id="2"></x> leite', '<x id="1"/> BEBE <x id="2"></x> LEITE'),
        ("o <!-- <x></x> -->gato<x></x> bebe", "O <!-- <x></x> -->GATO<x></x> BEBE"),
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


@pytest.mark.parametrize(
    ("options", "given", "expected"),
    [
        ({"ignore_tags": "c,d"}, "o <c>gato</c> bebe <d>a</d>", "O <c>gato</c> BEBE <d>a</d>"),
        ({"ignore_tags": ["c"]}, "<p>o gato</p><c>a mãe</c>", "<p>O GATO</p><c>a mãe</c>"),
        ({"splitting_tags": "s"}, "<p>o gato<s/>a mãe</p>", "<p>O GATO<s/>A MÃE</p>"),
        ({"outline_detection": "0"}, "<p>o </p><p>gato</p>", "<p>O</p> <p>GATO</p>"),
    ],
)
def test_tags_have_the_roles_that_a_request_gives_them(
    served, options: Any, given: str, expected: str
) -> None:
    body = {"text": given, "source_lang": "PT", "target_lang": "EN", "tag_handling": "xml", **options}
    assert served.post("/v2/translate", **body)["translations"][0]["text"] == expected


@pytest.mark.parametrize(
    ("given", "options", "expected"),
    [
        ("<p>o</p><p>gato</p>", {}, ["o", "gato"]),
        ("<p>o</p><p>gato</p>", {"non_splitting_tags": "p"}, ["ogato"]),
        ("<p>o</p><p>gato</p>", {"outline_detection": False}, ["ogato"]),
        ("o gato<s/>a mãe", {"splitting_tags": ["s"]}, ["o gato", "a mãe"]),
        ("o gato. A mãe.", {"tag_handling": ""}, ["o gato.", "A mãe."]),
        ("o gato. A mãe.", {"tag_handling": "", "split_sentences": 0}, ["o gato. A mãe."]),
        ("o gato.\nA mãe", {"tag_handling": "", "split_sentences": False}, ["o gato.", "A mãe"]),
        ("o gato\nbebe", {"tag_handling": "", "split_sentences": "nonewlines"}, ["o gato bebe"]),
    ],
)
def test_sentences_are_split_as_a_request_says(
    serve, given: str, options: dict[str, Any], expected: list[str]
) -> None:
    body = {"text": given, "source_lang": "PT", "target_lang": "EN", "tag_handling": "xml", **options}
    with serve() as served:
        served.post("/v2/translate", **body)
        assert {*chain(*served.engine.begun)} == {*expected}  # once more for the alignment


@pytest.mark.parametrize(
    "options",
    [
        {"formality": "less"},
        {"model_type": "quality_optimized"},
        {"style_id": "a"},
        {"custom_instructions": ["a"]},
    ],
)
def test_what_cannot_be_honoured_is_refused_as_deepl_does(served, options: dict[str, Any]) -> None:
    body = {"text": "o gato", "source_lang": "PT", "target_lang": "EN", **options}
    (name,) = options
    assert (
        served.refused("/v2/translate", 400, json=body)
        == f"'{name}' is not supported for given 'target_lang'"
    )


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
    result = client.translate_text(
        [TEXT, "a mãe"], source_lang="PT", target_lang="EN-US", formality="prefer_more"
    )
    assert [each.text for each in result] == [TEXT.upper(), "A MÃE"]
    assert client.translate_text(TEXT, target_lang="EN-GB").detected_source_lang == "PT"
    html = client.translate_text("<p>o gato</p>", target_lang="EN-US", tag_handling="html", source_lang="PT")
    assert html.text == "<p>O GATO</p>"
    assert [each.code for each in client.get_source_languages()] == ["PT"]
    assert [each.code for each in client.get_target_languages()] == ["EN"]
    assert client.get_usage().character.count > 0
