"""DeepL's routes, with its own client if it is installed, and Immersive Translate's format."""

import io
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from waiting import until

from ptenmt.errors import ConfigError
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


@pytest.mark.parametrize("tags", [[1], 1, {"a": 1}])
def test_tags_that_are_no_names_are_refused(served, tags: Any) -> None:
    body = {"text": "o gato", "target_lang": "EN", "ignore_tags": tags}
    assert served.refused("/v2/translate", 400, json=body).startswith("ignore_tags")


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


@pytest.fixture
def client_of() -> Callable[..., Any]:
    """Makes DeepL's own client of a server."""
    deepl = pytest.importorskip("deepl")
    return lambda served, key="key": deepl.DeepLClient(key, server_url=served.url)


def test_documents_with_deepls_client(served, client_of, monkeypatch: pytest.MonkeyPatch) -> None:
    deepl = pytest.importorskip("deepl")
    brief = SimpleNamespace(sleep=lambda _seconds: time.sleep(0.01), time=time.time)
    monkeypatch.setattr("deepl.translator.time", brief)  # it would ask every five seconds
    client = client_of(served)
    content, result = b"o gato\n\na m\xc3\xa3e\n", io.BytesIO()
    status = client.translate_document(
        content, result, source_lang="PT", target_lang="EN-US", filename="a.txt"
    )
    assert result.getvalue().decode() == "O GATO\n\nA MÃE\n"
    assert (status.done, status.billed_characters) == (True, len("o gatoa mãe"))
    handle = client.translate_document_upload(content, target_lang="EN-US", filename="a.txt")
    assert client.translate_document_wait_until_done(handle).done
    client.translate_document_download(handle, io.BytesIO())
    with pytest.raises(deepl.DeepLException, match="no such document"):  # it is deleted
        client.translate_document_get_status(handle)
    handle = client.translate_document_upload(content, target_lang="EN-US", filename="a.pdf")
    status = client.translate_document_wait_until_done(handle)
    assert not status.ok
    assert ".pdf are not supported" in status.error_message
    with pytest.raises(deepl.DeepLException, match="output_format"):
        client.translate_document_upload(content, target_lang="EN-US", filename="a.txt", output_format="docx")
    with pytest.raises(deepl.DeepLException, match="there is no glossary"):
        client.translate_document_upload(
            content, source_lang="PT", target_lang="EN-US", filename="a.txt", glossary="no"
        )


def test_a_document_says_how_far_it_is_and_a_client_has_few_at_a_time(serve) -> None:
    with serve(uploads=4) as served:
        served.engine.gate.clear()

        def upload(address: str) -> Any:
            return requests.post(
                f"{served.url}/v2/document",
                data={"target_lang": "EN", "source_lang": "PT"},
                files={"file": ("a.txt", b"o gato\n" * 40)},
                headers={"X-Forwarded-For": address},
                timeout=120,
            )

        first = upload("192.0.2.1").json()
        assert upload("192.0.2.1").status_code == 200
        assert upload("192.0.2.1").status_code == 429
        assert upload("192.0.2.2").status_code == 200
        path, key = f"/v2/document/{first['document_id']}", {"document_key": first["document_key"]}
        until(lambda: served.engine.begun)
        about = served.post(path, **key)
        assert (about["status"], about["progress"], about["seconds_remaining"]) == ("translating", 0, 1)
        assert served.refused(f"{path}/result", 503, json=key)
        assert served.refused(path, 404, json={"document_key": "x"})
        served.engine.gate.set()
        until(lambda: served.post(path, **key)["status"] == "done")
        answer = requests.post(f"{served.url}{path}/result", json=key, timeout=120)
        assert answer.text == "O GATO\n" * 40


def test_glossaries_with_deepls_client(serve, client_of, tmp_path: Path) -> None:
    deepl = pytest.importorskip("deepl")
    alice, bob = (add_key(tmp_path / "keys.txt", name) for name in ("alice", "bob"))
    options = {"keys": Keys(tmp_path / "keys.txt"), "glossary_folder": tmp_path / "glossaries"}
    options |= {"pairs": ["pt-en", "en-pt"], "glossaries": {"animals": Glossary({"gato": "Katze"})}}
    with serve(**options) as served:
        client = client_of(served, alice)
        assert {(each.source_lang, each.target_lang) for each in client.get_glossary_languages()} == {
            ("pt", "en"),
            ("en", "pt"),
        }
        made = client.create_glossary("pets", "PT", "EN-US", {"gato": "Tiger", "mãe": "Mum"})
        assert (made.name, made.ready, made.entry_count, made.source_lang) == ("pets", True, 2, "PT")
        text = client.translate_text("o gato", source_lang="PT", target_lang="EN-US", glossary=made).text
        assert text == "O Tiger"
        assert client.get_glossary_entries(made) == {"gato": "Tiger", "mãe": "Mum"}
        assert [each.name for each in client.list_glossaries()] == ["animals", "pets"]
        assert client.get_glossary(made.glossary_id).name == "pets"
        from_csv = client.create_glossary_from_csv("c", "PT", "EN", 'gato,"a, b",pt,en\n')
        assert client.get_glossary_entries(from_csv) == {"gato": "a, b"}
        client.delete_glossary(from_csv)
        with pytest.raises(deepl.GlossaryNotFoundException):
            client.get_glossary(from_csv.glossary_id)
        with pytest.raises(deepl.GlossaryNotFoundException):
            client_of(served, bob).get_glossary(made.glossary_id)
        assert [each.name for each in client_of(served, bob).list_glossaries()] == ["animals"]
        with pytest.raises(deepl.DeepLException, match="cannot be changed"):
            client.delete_glossary("animals")
        with pytest.raises(deepl.DeepLException, match="no model from"):
            client.create_glossary("x", "FR", "EN", {"a": "b"})
        with pytest.raises(deepl.DeepLException, match="control character"):
            client.create_glossary_from_csv("x", "PT", "EN", "gato\0,cat\n")
        url = f"{served.url}/v3/glossaries/animals/entries?source_lang=pt"
        answer = requests.get(url, headers={"Authorization": f"DeepL-Auth-Key {alice}"}, timeout=120)
        assert (answer.status_code, answer.json()) == (
            400,
            {"message": "Invalid request: missing target_lang parameter"},
        )
    with serve(**options) as served:  # they are stored
        assert client_of(served, alice).get_glossary_entries(made.glossary_id)["gato"] == "Tiger"


def test_multilingual_glossaries_with_deepls_client(serve, client_of, tmp_path: Path) -> None:
    deepl = pytest.importorskip("deepl")
    with serve(glossary_folder=tmp_path, pairs=["pt-en", "en-pt"]) as served:
        client, entries = client_of(served), deepl.api_data.MultilingualGlossaryDictionaryEntries
        made = client.create_multilingual_glossary("pets", [entries("PT", "EN", {"gato": "Tiger"})])
        assert [(each.source_lang, each.entry_count) for each in made.dictionaries] == [("PT", 1)]
        client.update_multilingual_glossary_dictionary(made, entries("PT", "EN", {"mãe": "Mum"}))
        client.replace_multilingual_glossary_dictionary(made, entries("EN", "PT", {"cat": "tigre"}))
        assert client.update_multilingual_glossary_name(made, "beasts").name == "beasts"
        found = client.get_multilingual_glossary_entries(made, "PT", "EN").dictionaries[0]
        assert found.entries == "gato\tTiger\nmãe\tMum"  # the client does not parse it
        assert len(client.get_multilingual_glossary(made.glossary_id).dictionaries) == 2
        client.delete_multilingual_glossary_dictionary(made, source_lang="PT", target_lang="EN")
        assert [each.name for each in client.list_multilingual_glossaries()] == ["beasts"]
        with pytest.raises(deepl.DeepLException, match="no dictionary for pt to en"):
            client.translate_text("gato", source_lang="PT", target_lang="EN-US", glossary=made)
        client.delete_multilingual_glossary(made)
        assert client.list_multilingual_glossaries() == []
        assert list(tmp_path.iterdir()) == []


def test_without_a_folder_glossaries_are_read_only(serve) -> None:
    body = {"name": "a", "source_lang": "pt", "target_lang": "en", "entries": "a\tb"}
    with serve(glossaries={"animals": Glossary({"gato": "Katze"})}) as served:
        assert "cannot be changed" in served.refused("/v2/glossaries", 403, json=body)
        answer = requests.get(f"{served.url}/v2/glossaries/animals/entries", timeout=120)
        assert answer.text == "gato\tKatze"
        assert requests.get(f"{served.url}/v2/glossaries/..%2Fkeys", timeout=120).status_code == 404


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"name": "a"}',
        '{"name": "a", "dictionaries": [{"source": "a", "target": "b", "entries": []}]}',
    ],
)
def test_a_folder_with_something_else_is_an_error(serve, tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with (
        pytest.raises(ConfigError, match=r"a\.json is not a stored glossary"),
        serve(glossary_folder=tmp_path),
    ):
        pass
