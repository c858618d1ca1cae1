"""LibreTranslate's routes, as its clients use them."""

import pytest
from libretranslatepy import LibreTranslateAPI

from ptenmt.documents import FORMATS
from ptenmt.translation.glossary import Glossary

ASKED = {"q": "o gato", "source": "pt", "target": "en"}
HTML = '<p class="a" title="olá">o gato <b>bebe</b>&nbsp;leite</p><!-- o gato --><br/>a &amp; b'
HTML_IN_CAPITALS = '<p class="a" title="OLÁ">O GATO <b>BEBE</b> LEITE</p><!-- o gato --><br/>A &amp; B'


def test_a_client_that_others_wrote_is_at_home(served) -> None:
    client = LibreTranslateAPI(served.url)
    assert client.translate("o gato bebe leite .", "pt", "en") == "O GATO BEBE LEITE ."
    assert client.translate("a mãe não tem tempo", "auto", "en") == "A MÃE NÃO TEM TEMPO"
    assert client.detect("a minha mãe não tem tempo nenhum")[0]["language"] == "pt"
    assert client.languages() == [
        {"code": "pt", "name": "Portuguese", "targets": ["pt", "en"]},
        {"code": "en", "name": "English", "targets": ["en"]},
    ]


@pytest.mark.parametrize("how", ["json", "data", "params", "files"])
def test_a_request_may_be_json_or_a_form_or_in_the_address(served, how: str) -> None:
    fields = {"q": "o gato", "source": "pt", "target": "en", "format": "text", "secret": "x"}
    given = {name: (None, value) for name, value in fields.items()} if how == "files" else fields
    answer = served.send("/translate", **{how: given})
    assert (answer.status_code, answer.json()) == (200, {"translatedText": "O GATO"})


def test_a_form_may_hold_letters_as_they_are_as_curl_sends_them(served) -> None:
    body = "q=a mãe%0D%0A&q=o cão&source=pt&target=en&alternatives=1".encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = served.send("/translate", data=body, headers=headers)
    assert answer.json() == {
        "translatedText": ["A MÃE\n", "O CÃO"],
        "alternatives": [["A MÃE!\n"], ["O CÃO!"]],
    }


def test_a_list_gives_lists_and_alternatives_need_as_many_beams_and_are_not_empty(served) -> None:
    texts = ["o gato", "", " a mãe \n", "o cão"]
    answer = served.translate(texts, alternatives=2)
    assert answer == {
        "translatedText": ["O GATO", "", " A MÃE \n", "O CÃO"],
        "alternatives": [["O GATO!", "O GATO!!"], [], [" A MÃE! \n", " A MÃE!! \n"], ["O CÃO!", "O CÃO!!"]],
    }
    assert served.translate([]) == {"translatedText": []}

    served.engine.searches.clear()
    answer = served.translate("o gato", alternatives=5)
    assert answer["alternatives"] == [f"O GATO{'!' * number}" for number in range(1, 6)]
    assert [search["beam_size"] for search in served.engine.searches] == [6]
    answer = served.translate("nada", alternatives=3)
    assert answer == {"translatedText": "NADA", "alternatives": []}


def test_of_html_text_is_translated(served) -> None:
    answer = served.translate(HTML, format="html", alternatives=1)
    assert answer["translatedText"] == HTML_IN_CAPITALS
    marked = HTML_IN_CAPITALS.replace("OLÁ", "OLÁ!").replace("LEITE", "LEITE!").replace("; B", "; B!")
    assert answer["alternatives"] == [marked]
    assert served.translate(HTML, source="auto", format="html")["translatedText"]


def test_what_clients_of_libretranslate_send_is_understood(served) -> None:
    for fields, translated in (
        ({"source": "pt-BR", "target": "EN"}, "O GATO"),
        ({"source": "pb", "target": "en_gb"}, "O GATO"),
        ({"source": "Auto", "target": "pt-PT"}, "o gato"),
        ({"format": None, "alternatives": None}, "O GATO"),
        ({"format": "", "alternatives": -1}, "O GATO"),
        ({"source": "auto", "q": "sim"}, "SIM"),
        ({"source": "auto", "q": "thank you"}, "thank you"),
    ):
        assert served.post("/translate", **ASKED | fields)["translatedText"] == translated


def test_what_cannot_be_done_is_said(served) -> None:
    for fields, message in (
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": 7}, "q: Input should be a text or a list of texts"),
        ({"source": "fr"}, "fr is not supported"),
        (
            {"source": "en", "target": "pt"},
            "Portuguese (pt) is not available as a target language from English (en)",
        ),
        ({"alternatives": "6"}, "alternatives: Input should be less than or equal to 5"),
        ({"q": "x" * 5001}, "the text has 5,001 characters; 5,000 are allowed"),
        ({"q": "o gato .\n" * 300}, "the text has 300 sentences; 256 are allowed"),
        ({"q": [""] * 257}, "there are 257 texts; 256 are allowed"),
    ):
        body = {name: value for name, value in (ASKED | fields).items() if value is not None}
        assert message in served.refused("/translate", 400, json=body)


def test_broken_json_and_other_types_are_said(served) -> None:
    kind = {"Content-Type": "text/plain"}
    message = "the body is text/plain: send application/json or a form"
    assert served.refused("/translate", 400, data=b"o gato", headers=kind) == message
    assert served.send("/translate", json=ASKED, headers=kind).status_code == 200
    headers = {"Content-Type": "application/json"}
    for q in (b'"\xe3"', b'"\\ud800"', b"[" * 20_000 + b"]" * 20_000):
        body = b'{"q": %s, "source": "pt", "target": "en"}' % q
        assert served.refused("/translate", 400, data=body, headers=headers)
    for body in (b"{", b"[]", b'"q"', b"\xff\xfe"):
        assert served.refused("/detect", 400, data=body, headers=headers)


def test_forms_are_in_utf_8_and_in_nothing_else(served) -> None:
    fields = {"q": "a mãe", "source": "pt", "target": "en"}
    part = '--x\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
    kinds = {
        "multipart/form-data; boundary=x": "".join(part.format(*each) for each in fields.items())
        + "--x--\r\n",
        "application/x-www-form-urlencoded": "&".join(f"{name}={value}" for name, value in fields.items()),
    }
    for kind, form in kinds.items():
        for charset in ("UTF-8", '"utf8"'):
            given = {"data": form.encode(), "headers": {"Content-Type": f"{kind}; charset={charset}"}}
            answer = served.send("/translate", **given)
            assert answer.json() == {"translatedText": "A MÃE"}
        for charset in ("undefined", "unicode_escape", "idna"):
            given = {
                "data": form.replace("mãe", r"\ud800").encode(),
                "headers": {"Content-Type": f"{kind}; charset={charset}"},
            }
            assert "UTF-8" in served.refused("/translate", 400, **given)
    upload = {"data": b"", "headers": {"Content-Type": "multipart/form-data; boundary=x; charset=idna"}}
    assert "UTF-8" in served.refused("/translate_file", 400, **upload)
    form, parts = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
    for kind, body in ((form, b"q=%ff"), (form, b"q=\xff"), (parts, b"--x\r\nnonsense"), (parts[:19], b"a")):
        assert served.refused("/translate", 400, data=body, headers={"Content-Type": kind})
    assert "not UTF-8" in served.refused("/translate?q=%ff&source=pt&target=en", 400)


def test_detection_is_of_the_two_languages(served) -> None:
    answer = served.post("/detect", q=["the weather is nice today", "o tempo está bom hoje", "123"])
    languages = [" ".join(found["language"] for found in each) for each in answer]
    assert languages == ["en pt", "pt en", "pt en"]
    assert answer[2][0]["confidence"] == 0
    assert sum(found["confidence"] for found in answer[0]) == pytest.approx(100, abs=0.2)


def test_settings_are_what_a_page_needs(serve) -> None:
    with serve(characters=123, sentences=45) as served:
        settings = served.get("/frontend/settings").json()
    assert (settings["charLimit"], settings["sentenceLimit"]) == (123, 45)
    assert settings["supportedFilesFormat"] == [*FORMATS, ".htm"]
    assert settings["language"]["source"] == {"code": "pt", "name": "Portuguese"}


def test_a_document_is_translated_and_fetched(served) -> None:
    answer = served.upload("../../etc/o meu.gato.txt", "o gato\r\n\r\n  a mãe \n".encode())
    url = answer.json()["translatedFileUrl"]
    assert url.startswith(f"{served.url}/download_file/")
    assert len(url.rpartition("/")[2]) >= 43
    fetched = served.get(url.removeprefix(served.url))
    assert fetched.content.decode() == "O GATO\r\n\r\n  A MÃE \n"
    assert fetched.headers["content-disposition"] == "attachment; filename*=UTF-8''o-meu-gato.en.txt"
    assert served.upload("x.html", HTML.encode(), data={"source": "auto", "target": "en"}).status_code == 200


def test_a_document_of_many_sentences_waits_its_turn(serve) -> None:
    with serve(queue=4, sentences=2) as served:
        content = "o gato\n" * 300
        url = served.upload(content=content.encode()).json()["translatedFileUrl"]
        assert served.get(url.removeprefix(served.url)).text == content.upper()


def test_a_document_that_cannot_be_read_or_is_missing_is_said(served) -> None:
    for name, content, status, message in (
        ("x.pdf", b"%PDF", 400, "save it as .docx or .txt first: a PDF has no paragraphs"),
        ("x.txt", b"o\n" * 20_001, 413, "more than 20,000 texts"),
        ("x.txt", b"o" * 200_001, 413, "200,001 characters; 200,000 are allowed"),
        ("x.txt", b"o" * 10_000_001, 413, "larger than 10,000,000 bytes"),
        ("x.txt", b"o" * 11_000_000, 413, "too large"),
    ):
        answer = served.upload(name, content)
        assert (answer.status_code, message in answer.json()["error"]) == (status, True), answer.text
    assert "file is missing" in served.refused("/translate_file", 400, data={"source": "pt", "target": "en"})
    two = [("file", ("a.txt", b"a")), ("file", ("b.txt", b"b"))]
    assert "Too many files" in served.refused("/translate_file", 400, files=two)
    assert served.get(f"/download_file/{'x' * 43}").status_code == 404


def test_a_request_may_name_a_glossary_of_the_server(serve) -> None:
    glossaries = {"animals": Glossary({"gato": "Katze"}), "same": Glossary({"gato": "gato"})}
    with serve(glossaries=glossaries) as served:
        for name, expected in (("animals", "O Katze"), ("same", "O gato"), ("", "O GATO"), (None, "O GATO")):
            assert served.post("/translate", **ASKED, glossary=name) == {"translatedText": expected}
        message = "there is no glossary ../animals; this server has: animals, same"
        assert served.refused("/translate", 400, json=ASKED | {"glossary": "../animals"}) == message
        fields = {"source": "pt", "target": "en", "glossary": "animals"}
        url = served.upload(content=b"o gato!\r\n1", data=fields).json()["translatedFileUrl"]
        assert served.get(url.removeprefix(served.url)).content == b"O Katze!\r\n1"


def test_a_text_in_neither_language_is_translated_and_named(served) -> None:
    texts = ["el perro no tiene tiempo y yo tengo hambre", "o gato não tem tempo"]
    answer = served.translate(texts)
    assert answer == {"translatedText": [text.upper() for text in texts], "detected": ["es", None]}
    answer = served.translate(texts[0], source="auto")
    assert (answer["translatedText"], answer["detected"]) == (texts[0].upper(), "es")
    assert answer["detectedLanguage"]["language"] == "es"
    assert [found["language"] for found in served.post("/detect", q=texts[0])][0] == "es"
    assert len(served.post("/detect", q=texts[1])) == 2
