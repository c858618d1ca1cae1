"""Documents: text changes, layout stays."""

from types import SimpleNamespace

import pytest
from document_texts import raised, read, texts_of, upper_case

from ptenmt.documents import other_language, translated_name
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment, text_of

TIMES = "00:00:01,000 --> 00:00:02,500\n"
FIRST, NEXT = f"1\n{TIMES}", "2\n00:00:03,000 --> 00:00:04,000\n"
SRT = """1
00:00:01,000 --> 00:00:02,500
o gato bebe
leite

2
00:00:03,000 --> 00:00:04,000 X1:40
<i>a mãe</i> não tem
<font color="#ff0000">tempo nenhum</font>

3
00:00:05,000 --> 00:00:06,000
{\\an8}- olá !
- 10 : 30

4
00:00:07,000 --> 00:00:08,000


"""
SRT_IN_CAPITALS = raised(SRT, "o gato bebe\nleite;a mãe;não tem;tempo nenhum;olá")
SRT_IN_CAPITALS = SRT_IN_CAPITALS.replace("BEBE\nLEITE", "\nBEBE LEITE").replace(" \nBEBE", "\nBEBE")


@pytest.mark.parametrize(("ends", "encoding"), [("\n", "utf-8"), ("\r\n", "utf-8-sig"), ("\n", "utf-16")])
def test_subtitles_keep_times_tags_and_number_of_lines(ends: str, encoding: str) -> None:
    content = SRT.replace("\n", ends).encode(encoding)
    assert upper_case("a.srt", content) == SRT_IN_CAPITALS.replace("\n", ends).encode(encoding)
    assert texts_of("a.srt", content) == ["o gato bebe leite", "a mãe não tem tempo nenhum", "olá !"]


def test_subtitles_may_be_in_windows_1252() -> None:
    content = f"1\n{TIMES}\u2013 olá, \u201camigo\u201d\n".encode("cp1252")
    document = read("a.srt", content)
    assert list(map(text_of, document.texts)) == ["olá, \u201camigo\u201d"]
    translated = document.with_texts([[("cão \u20ac", ())]])
    assert translated.decode("cp1252").rstrip() == f"1\n{TIMES}\u2013 cão \u20ac"
    translated = read("a.srt", content).with_texts([[("\u266a", ())]])
    assert translated.decode("utf-8-sig").rstrip().endswith("\u2013 \u266a"), "the encoding lacks it"


@pytest.mark.parametrize(
    ("spoken", "spans", "moved", "written"),
    [
        (
            "Eu <i>amo</i> gatos.",
            [("Eu ", ()), ("amo", (0,)), (" gatos.", ())],
            [("Cats ", ()), ("love", (0,)), (" I.", ())],
            "Cats <i>love</i> I.",
        ),
        (
            "{\\an8}<I>Eu <b>a</b><font x>mo",
            [("Eu ", (0, 1)), ("a", (0, 1, 2)), ("mo", (0, 1, 3))],
            [("I ", (0, 1)), ("lo", (0, 1, 3)), ("ve", (0, 1, 2))],
            "{\\an8}<I>I <font x>lo<b>ve</b>",
        ),
        (
            "<i>- Eu</i> amo <b></b><u>os <b>gatos</u> todos</b></p>",
            [("Eu", ()), (" amo ", (0,)), ("", (0, 1)), ("os ", (0, 2)), ("gatos", (0, 2, 3))]
            + [(" todos", (0,)), ("", (0, 4, 5))],
            [("I ", ()), ("love", (0,)), ("", (0, 1)), (" all ", (0,)), ("cats", (0, 2, 3)), ("", (0, 4, 5))],
            "<i>- I </i>love<b></b> all <u><b>cats</u></b></p>",
        ),
    ],
)
def test_tags_follow_the_words(
    spoken: str, spans: list[Fragment], moved: list[Fragment], written: str
) -> None:
    document = read("a.srt", f"{FIRST}{spoken}\n".encode())
    assert document.texts == [spans]
    assert document.with_texts([moved]).decode() == f"{FIRST}{written}\n"


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        (f"{FIRST}um\n{NEXT}dois\n", ["um", "dois"]),
        (f"{TIMES}um\n{NEXT[2:]}dois", ["um", "dois"]),
        (f"{FIRST}{NEXT}dois\n", ["dois"]),
        (f"{FIRST}um\n2\n3\n\n{NEXT}2\n", ["um 2 3"]),
        (f"legendas\n\n{FIRST} um \n", [" um"]),
    ],
)
def test_numbers_and_blank_lines_between_subtitles_may_be_missing(source: str, texts: list[str]) -> None:
    assert texts_of("a.srt", source.encode()) == texts
    expected = source.replace("um", "UM").replace("dois", "DOIS")
    assert upper_case("a.srt", source.encode()).decode() == expected


@pytest.mark.parametrize(
    ("spoken", "texts", "translated"),
    [
        ("- Olá, e\ntu?\n- Bem.\n", ["Olá, e tu?", "Bem."], "- OLÁ,\nE TU?\n- BEM."),
        ("-Olá.\n–  Bem.\n\n", ["Olá.", "Bem."], "-OLÁ.\n–  BEM."),
        ("<i>- Olá.</i>\n- <b>Bem.</b>", ["Olá.", "Bem."], "<i>- OLÁ.</i>\n- <b>BEM.</b>"),
        ("Um\n- dois.\n", ["Um - dois."], "UM -\nDOIS."),
        ("A\n-5 graus.\n", ["A -5 graus."], "A -5\nGRAUS."),
        ("<i>Onde?</i>\n- Aqui!\n", ["Onde?", "Aqui!"], "<i>ONDE?</i>\n- AQUI!"),
        (
            "Um\ndois?\n- <b>Sim.</b>\n- e tu?",
            ["Um dois?", "Sim.", "e tu?"],
            "UM\nDOIS?\n- <b>SIM.</b>\n- E TU?",
        ),
        (
            "[Porta bate]\nRUI: Olá.\nANA: Bem,\ne tu?",
            ["[Porta bate]", "Olá.", "Bem, e tu?"],
            "[PORTA BATE]\nRUI: OLÁ.\nANA: BEM,\nE TU?",
        ),
        ("{- Um\n- dois.\n", ["{- Um - dois."], "(- UM -\nDOIS."),  # no tag before the dash
    ],
)
def test_each_speaker_of_a_dialogue_is_translated_separately(
    spoken: str, texts: list[str], translated: str
) -> None:
    assert texts_of("a.srt", f"{FIRST}{spoken}".encode()) == texts
    assert upper_case("a.srt", f"{FIRST}{spoken}".encode()).decode().rstrip() == f"{FIRST}{translated}"


def test_no_translation_becomes_a_tag_or_a_time() -> None:
    document = read("a.srt", b"1\n00:00:01,000 --> 00:00:02,500\num\n")
    assert document.with_texts([[("<b>{x}\n\n--> 2", ())]]).decode().splitlines()[2:] == ["‹b›(x)  --› 2"]


def test_lines_keep_their_ends() -> None:
    assert upper_case("a.TXT", "um\r\n\n dois\rtrês".encode()) == "UM\r\n\n DOIS\rTRÊS".encode()


@pytest.mark.parametrize("blank", ["\r\n", "12.\n", " \n"])
def test_lines_without_a_letter_are_not_translated(blank: str) -> None:
    content = f"{blank * 20_000}um\n{blank}dois"
    assert texts_of("a.txt", content.encode()) == ["um", "dois"]
    assert upper_case("a.txt", content.encode()) == content.upper().encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"o\0l\xe1", "not UTF-8: byte 3 cannot be decoded; save it as UTF-8"),
        ("O gato come.".encode("utf-16-le"), "not UTF-8 but UTF-16 unmarked, or no text"),
        ("O gato come.".encode("utf-16-be"), "not UTF-8 but UTF-16 unmarked, or no text"),
        (b"\xff\xfea\0b", "not UTF-16-LE: byte 4 cannot be decoded; save it as UTF-8"),
    ],
)
def test_another_encoding_is_an_error(content: bytes, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        read("a.txt", content)


@pytest.mark.parametrize(
    ("name", "translated"),
    [
        ("letter.txt", "letter.en.txt"),
        ("a b/../c:d.HTM", "c-d.en.html"),
        ("C:\\x\\carta.docx", "carta.en.docx"),
        ('"\r\n.srt', "translation.en.srt"),
        (f"{'a' * 300}.txt", f"{'a' * 80}.en.txt"),
    ],
)
def test_a_translation_has_a_harmless_name(name: str, translated: str) -> None:
    assert translated_name(name, "en") == translated


@pytest.mark.parametrize(
    ("detected", "language"),
    [(["es", "es", None], "es"), (["es", None, None], None), ([None, None, None], None), ([], None)],
)
def test_a_document_is_in_the_language_of_most_of_it(
    detected: list[str | None], language: str | None
) -> None:
    translations = [SimpleNamespace(source="uma frase", detected=found) for found in detected]
    assert other_language(translations) == language


def test_line_breaks_of_html_in_plain_text_end_texts_and_stay_as_typed() -> None:
    source = "Não sei.<br />Vamos.  <BR>\r\num\vdois</br>\u2028três"
    assert texts_of("a.txt", source.encode()) == ["Não sei.", "Vamos.", "um", "dois", "três"]
    document = read("a.txt", source.encode())
    written = document.with_texts([[(text_of(text).title(), ())] for text in document.texts])
    assert written.decode() == "Não Sei.<br />Vamos.  <BR>\r\nUm\vDois</br>\u2028Três"


def test_other_line_breaks_of_subtitles_stay() -> None:
    source = f"{FIRST}o gato\\Nbebe<br/>leite\n"
    assert texts_of("a.srt", source.encode()) == ["o gato bebe leite"]
    assert upper_case("a.srt", source.encode()).decode().split("\n")[2:4] == ["O GATO\\NBEBE\\NLEITE", ""]


def test_each_voice_has_a_text_of_its_own() -> None:
    source = """WEBVTT

00:01.000 --> 00:04.000
<v Ana>olá,
tudo bem?</v>
<v.loud João>sim, <i>e tu?

00:05.000 --> 00:06.000
<v Eva>ó</v> <v Zé>ah!"""
    assert texts_of("a.vtt", source.encode()) == ["olá, tudo bem?", "sim, e tu?", "ó", "ah!"]
    expected = raised(source, "olá,;tudo bem?;sim, ;e tu?;>ó<;ah!")
    assert upper_case("a.vtt", source.encode()).decode() == expected
