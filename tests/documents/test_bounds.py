"""A document has bounds, beyond which it is refused, and none within them takes long."""

import contextlib

import pytest
from document_texts import read, texts_of, upper_case
from waiting import assert_about_linear

from ptenmt.errors import DocumentError

TIMES = "00:00:01,000 --> 00:00:02,500\n"


@pytest.mark.parametrize(
    ("name", "begin", "part", "most", "message"),
    [
        ("a.txt", "", "a\n", 20_000, "more than 20,000 texts"),
        ("a.html", "", "a<hr>", 20_000, "more than 20,000 texts"),
        ("a.html", "", "a<br>", 20_000, "more than 20,000 texts"),
        ("a.srt", "", f"{TIMES}a\n\n", 20_000, "more than 20,000 texts"),
        ("a.html", "", "</p>", 100_000, "100,001 tags; 100,000 are allowed"),
        ("a.html", "", "<script>", 100_000, "100,001 tags; 100,000 are allowed"),
        ("a.srt", f"{TIMES}um", "{}", 50_000, "50,001 tags; 50,000 are allowed"),
        ("a.srt", f"{TIMES}um", "<", 50_000, "50,001 tags; 50,000 are allowed"),
        ("a.md", "", "*", 50_000, "50,001 tags; 50,000 are allowed"),
        ("a.md", "", "a", 2_000_000, "more than 2,000,000 characters"),
    ],
)
def test_as_much_is_read_as_is_allowed(name: str, begin: str, part: str, most: int, message: str) -> None:
    read(name, begin + part * most)
    with pytest.raises(DocumentError, match=message):
        read(name, begin + part * (most + 1))


def test_elements_are_not_nested_too_deeply() -> None:
    assert texts_of("a.html", "<div>" * 250 + "a") == ["a"]
    with pytest.raises(DocumentError, match="nested too deeply"):
        read("a.html", "<div>" * 1_000 + "a")


def test_an_element_has_a_maximum_number_of_attributes() -> None:
    def paragraph(num_attributes: int) -> str:
        return "<p " + " ".join(f"a{number}" for number in range(num_attributes)) + ">a"

    def refuse(num_attributes: int) -> None:
        with pytest.raises(DocumentError, match="more than 1,000 attributes"):
            read("a.html", paragraph(num_attributes))

    assert texts_of("a.html", paragraph(1_000)) == ["a"]
    assert_about_linear(refuse, 500_000)


HTML = ("<", "<!--", "&#", "<p>", "<![", "<?", "<a b='", "<a =", "<title>", "<script><!--", "<b></i>")


@pytest.mark.parametrize(
    ("name", "begin", "part"),
    [
        *(("a.html", begin, part) for part in (*HTML, "<table><p>") for begin in ("", "<b>" * 250)),
        *(("a.srt", TIMES, part) for part in ("\n", " ", "1\n", "-", "00:00:01,000 ", TIMES, "<i")),
        *(("a.md", "", part) for part in ("[", "![", "*a", "a\n", "<!--", "> a\n", "|a|b|\n|-|-|\n")),
        *(("a.vtt", "WEBVTT\n\n00:00 --> 00:01\n", part) for part in ("<i>", "- a\n")),
        *(("a.po", 'msgid "a"\n', part) for part in ('"a"\n', 'msgstr ""\n')),
        *(("a.json", "[", part) for part in ('"a",', '"', "[")),
        *(("a.yaml", "", part) for part in ("- a\n", "a: ", "*a ", "[a, ", "- >\n  a\n", "a.b.")),
    ],
)
def test_nothing_takes_long(name: str, begin: str, part: str) -> None:
    def translate(num_parts: int) -> None:
        with contextlib.suppress(DocumentError):
            upper_case(name, begin + part * num_parts)

    assert_about_linear(translate, 12_000 // max(1, part.count("\n")))
