"""Documents: text changes, layout stays."""

import tracemalloc

import pytest

from ptenmt.server.documents import read_document, translated_name
from ptenmt.server.refusal import Refusal

TIMES = "00:00:01,000 --> 00:00:02,500\n"
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

x
00:00:07,000 --> 00:00:08,000

"""
SRT_IN_CAPITALS = """1
00:00:01,000 --> 00:00:02,500
O GATO
BEBE LEITE

2
00:00:03,000 --> 00:00:04,000 X1:40
<i>A MÃE</i> NÃO TEM
<font color="#ff0000">TEMPO NENHUM</font>

3
00:00:05,000 --> 00:00:06,000
{\\an8}- OLÁ !
- 10 : 30

x
00:00:07,000 --> 00:00:08,000

"""


def shouted(name: str, content: bytes) -> bytes:
    document = read_document(name, content)
    return document.with_texts([text.upper() for text in document.texts])


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_subtitles_keep_times_tags_and_lines(ends: str, encoding: str) -> None:
    content = SRT.replace("\n", ends).encode(encoding)
    assert shouted("a.srt", content) == SRT_IN_CAPITALS.replace("\n", ends).encode(encoding)


def test_a_subtitle_is_translated_as_a_whole() -> None:
    document = read_document("a.srt", SRT.encode())
    assert document.texts == ["o gato bebe leite", "a mãe", " não tem ", "tempo nenhum", "olá !"]


NEXT = "2\n00:00:03,000 --> 00:00:04,000\n"


@pytest.mark.parametrize(
    ("spoken", "texts", "translated"),
    [
        (f"um\n{NEXT}dois\n", ["um", "dois"], f"UM\n{NEXT}DOIS\n"),
        (f"um\r\n{NEXT[2:]}dois", ["um", "dois"], f"UM\r\n{NEXT[2:]}DOIS"),
        (f"{NEXT}dois\n", ["dois"], f"{NEXT}DOIS\n"),
        (f"um\n2\n3\n\n{NEXT}2\n", ["um 2 3"], f"UM\n2\n3\n\n{NEXT}2\n"),
    ],
)
def test_times_stay_where_the_blank_line_before_them_is_missing(
    spoken: str, texts: list[str], translated: str
) -> None:
    assert read_document("a.srt", f"{TIMES}{spoken}".encode()).texts == texts
    assert shouted("a.srt", f"{TIMES}{spoken}".encode()) == f"{TIMES}{translated}".encode()


@pytest.mark.parametrize(
    ("spoken", "texts", "translated"),
    [
        ("- Olá, e\ntu?\n- Bem.\n", ["Olá, e tu?", "Bem."], "- OLÁ,\nE TU?\n- BEM.\n"),
        ("-Olá.\r\n–  Bem.\n\n", ["Olá.", "Bem."], "-OLÁ.\r\n–  BEM.\n\n"),
        ("<i>- Olá.</i>\n- <b>Bem.</b>", ["Olá.", "Bem."], "<i>- OLÁ.</i>\n- <b>BEM.</b>"),
        ("-- e um gato\n", ["e um gato"], "-- E UM GATO\n"),
        ("Um\n- dois.\n", ["Um - dois."], "UM -\nDOIS.\n"),
    ],
)
def test_each_who_speaks_is_translated_apart(spoken: str, texts: list[str], translated: str) -> None:
    assert read_document("a.srt", f"{TIMES}{spoken}".encode()).texts == texts
    assert shouted("a.srt", f"{TIMES}{spoken}".encode()) == f"{TIMES}{translated}".encode()


def test_no_translation_becomes_a_tag_or_a_time() -> None:
    document = read_document("a.srt", b"1\n00:00:01,000 --> 00:00:02,500\num\n")
    assert document.with_texts(["<b>{x}\n\n--> 2"]).decode().splitlines()[2:] == ["‹b›(x)  --› 2"]


def test_lines_keep_their_ends() -> None:
    assert shouted("a.TXT", "um\r\n\n dois\rtrês".encode()) == "UM\r\n\n DOIS\rTRÊS".encode()


@pytest.mark.parametrize("blank", ["\n", "\r", "\r\n", "12.\n", " \n"])
def test_lines_without_a_letter_are_no_texts(blank: str) -> None:
    content = f"{blank * 100_000}um\n{blank}dois"
    assert read_document("a.txt", content.encode()).texts == ["um", "dois"]
    assert shouted("a.txt", content.encode()) == content.upper().encode()


@pytest.mark.parametrize(
    ("name", "begin", "piece"),
    [
        ("a.txt", "", "a\n"),
        ("a.html", "", "a<br>"),
        ("a.srt", "", f"{TIMES}a\n\n"),
        ("a.srt", TIMES, "a<b>"),
    ],
)
def test_a_text_in_too_many_pieces_is_refused(name: str, begin: str, piece: str) -> None:
    assert len(read_document(name, (begin + piece * 20_000).encode()).texts) == 20_000
    with pytest.raises(Refusal, match="more than 20,000 pieces"):
        read_document(name, (begin + piece * 20_001).encode())


@pytest.mark.parametrize("what", ["<p>", "<b>", "</p>", "<script>", "<!---->", "<br>1"])
def test_tags_need_no_memory_and_are_not_countless(what: str) -> None:
    content = (what * 20_000).encode()
    tracemalloc.start()
    read_document("a.html", content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(content)
    with pytest.raises(Refusal, match="tags; 100,000 are allowed"):
        read_document("a.html", content * 6)


@pytest.mark.parametrize("tag", ["<>", "{}", "<"])
def test_tags_of_subtitles_are_not_countless(tag: str) -> None:
    assert read_document("a.srt", f"{TIMES}um{tag * 50_000}".encode()).texts[0].startswith("um")
    with pytest.raises(Refusal, match="tags; 50,000 are allowed"):
        read_document("a.srt", f"{TIMES}um{tag * 50_001}".encode())


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"ol\xe1", "not UTF-8: byte 2 cannot be read; save it as UTF-8"),
        (b"\xff\xfea\0b", "not UTF-16-LE: byte 4 cannot be read; save it as UTF-8"),
    ],
)
def test_another_encoding_is_told(content: bytes, told: str) -> None:
    with pytest.raises(Refusal, match=told):
        read_document("a.txt", content)


@pytest.mark.parametrize(
    ("name", "translated"),
    [
        ("letter.txt", "letter.en.txt"),
        ("a b/../c:d.HTM", "c-d.en.html"),
        ("C:\\x\\carta.docx", "carta.en.docx"),
        ('"\r\n.srt', "translation.en.srt"),
        (f"{'a' * 300}.txt", f"{'a' * 80}.en.txt"),
        ("maçã.txt", "maçã.en.txt"),
    ],
)
def test_a_translation_has_a_harmless_name(name: str, translated: str) -> None:
    assert translated_name(name, "en") == translated
