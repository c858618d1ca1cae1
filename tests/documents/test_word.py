"""Word documents: text is translated, formatting stays."""

import struct

import pytest
from document_texts import packed, read, texts_of, unpacked, upper_case
from lxml import etree

from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment, text_of

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
DOCUMENT = """
<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>o meu gato</w:t></w:r></w:p>
<w:p><w:r><w:rPr><w:lang w:val="pt"/></w:rPr><w:t>o ga</w:t></w:r><w:proofErr w:type="x"/>
<w:r><w:t xml:space="preserve">to </w:t></w:r>
<w:r><w:rPr><w:b/></w:rPr><w:t>bebe</w:t><w:tab/><w:t>leite</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>um</w:t></w:r></w:p></w:tc>
<w:tc><w:p><w:r><w:t>12</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:delText>velho</w:delText></w:r></w:p>"""
KIND = "application/vnd.openxmlformats-officedocument.wordprocessingml"
PARTS = {"document.main": "document", "footer": "Footer1", "footnotes": "notes", "comments": "comments"}
KINDS = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="png" ContentType="image/png"/>'
    + "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{KIND}.{kind}+xml"/>'
        for kind, name in PARTS.items()
    )
    + "</Types>"
)


FILES: dict[str, str | bytes] = {
    "[Content_Types].xml": KINDS,
    "word/document.xml": f'<?xml version="1.0"?><w:document {W}><w:body>{DOCUMENT}</w:body></w:document>',
    "word/footer1.xml": f"<w:ftr {W}><w:p><w:r><w:t>fim</w:t></w:r></w:p></w:ftr>",
    "word/media/image1.png": b"\x89PNG gato",
}


def word_document(body: str = DOCUMENT, **others: str | bytes) -> bytes:
    document = str(FILES["word/document.xml"]).replace(DOCUMENT, body)
    return packed(FILES | {"word/document.xml": document} | others, 0)


def paragraph(content: str) -> bytes:
    return word_document(f"<w:p>{content}</w:p>")


def body_of(content: bytes) -> str:
    return unpacked(content)["word/document.xml"]


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def link(text: str) -> str:
    return f'<w:hyperlink w:anchor="x">{run(text, "<w:u/>")}</w:hyperlink>'


def field(code: str, result: str) -> str:
    begin, middle, end = (
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
    )
    return f"{begin}<w:r><w:instrText>{code}</w:instrText></w:r>{middle}{run(result)}{end}"


NOTE = '<w:r><w:footnoteReference w:id="2"/></w:r>'
SUPERSCRIPT = '<w:vertAlign w:val="superscript"/>'
MATH = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r/></m:oMath>'
PICTURE = '<w:r><w:drawing><docPr descr="um gato"/><docPr descr="gato.png"/></w:drawing></w:r>'


def test_word_documents_keep_their_formatting() -> None:
    assert texts_of("a.docx", word_document()) == ["o meu gato", "o gato bebe", "leite", "um", "fim"]
    files = unpacked(upper_case("a.docx", word_document()))
    assert "PNG gato" in files["word/media/image1.png"]
    assert '<w:t xml:space="preserve">FIM</w:t>' in files["word/footer1.xml"]
    bold = "<w:r><w:rPr><w:b/></w:rPr>"
    for part in (
        '<w:pStyle w:val="Title"/></w:pPr><w:r><w:t xml:space="preserve">O MEU GATO</w:t>',
        '<w:t xml:space="preserve">O GATO </w:t>',
        f'{bold}<w:t xml:space="preserve">BEBE</w:t></w:r>{bold}<w:tab/></w:r>{bold}<w:t',
        *("<w:t>12</w:t>", "<w:instrText>PAGE</w:instrText>", "<w:delText>velho</w:delText>"),
    ):
        assert part in files["word/document.xml"]


@pytest.mark.parametrize(
    ("first", "second", "num_looks"),
    [
        ("<w:b/><!-- c --><?x y?>", "<w:b/>", 1),
        ('<w:b w:val="1" w:x="2"/>', '<w:b w:x="2" w:val="1"/>', 1),
        ('<w:lang w:val="pt"/><w:noProof/>', "", 1),
        ("<w:b/>", "<w:i/>", 2),
        ('<w:b w:val="1"/>', "<w:b/>", 2),
    ],
)
def test_runs_with_unusual_formatting_are_spans(first: str, second: str, num_looks: int) -> None:
    document = read("a.docx", paragraph(run("um dois ", first) + run("três", second)))
    assert document.texts[0] == (
        [("um dois ", ()), ("três", (0,))] if num_looks == 2 else [("um dois três", ())]
    )


@pytest.mark.parametrize("between", ['<w:bookmarkStart w:id="1"/>', "<!-- c -->", "<?x y?>", "<w:r/>"])
def test_invisible_elements_do_not_split_a_text(between: str) -> None:
    assert texts_of("a.docx", paragraph(f"{run('a')}{between}{run('a')}"))[0] == "aa"
    if between[1] in "!?":
        assert texts_of("a.docx", paragraph(run(f"a{between}a")))[0] == "aa"


def test_a_text_box_in_a_paragraph_is_a_separate_text() -> None:
    inner = "<w:p><w:r><w:t>b</w:t></w:r></w:p>"
    body = f"<w:p><w:r><w:t>a</w:t><w:pict>{inner}</w:pict><w:t>c</w:t></w:r><w:r><w:t>d</w:t></w:r></w:p>"
    assert texts_of("a.docx", word_document(body)) == ["acd", "b", "fim"]


@pytest.mark.parametrize(
    ("content", "spans"),
    [
        (run("um ") + link("dois") + run(" três"), [("um ", ()), ("dois", (0,)), (" três", ())]),
        (run("um") + NOTE + run(" dois"), [("um", ()), ("", (0,)), (" dois", ())]),
        (run("um") + run("1", SUPERSCRIPT) + run(" d"), [("um", ()), ("", (0,)), (" d", ())]),
        (
            run("um ") + f"<w:ins>{run('x ')}{run('y', '<w:b/>')}</w:ins>",
            [("um ", ()), ("x ", (0,)), ("y", (0, 1))],
        ),
        (run("um ") + f"<w:del>{run('x ')}</w:del>" + run("dois"), [("um ", ()), ("", (0,)), ("dois", ())]),
        (
            run("guarda").replace("</w:r>", "<w:noBreakHyphen/><w:t>chuva</w:t></w:r>"),
            [("guarda\u2011chuva", ())],
        ),
        (run("seja ") + MATH + run(" {0}"), [("seja {1} {0}", ())]),
        (run("página ") + field("PAGE", "7") + run("."), [("página {0}.", ())]),
        (run("um") + field(' XE "um" ', "") + run(" dois"), [("um", ()), ("", (0,)), (" dois", ())]),
        (field("HYPERLINK x", "um"), [("um", ())]),
        (field(" TOC \\o ", "um"), [("um", ())]),
        (run("um ") + "<w:fldSimple><w:r><w:t>x</w:t></w:r></w:fldSimple>", [("um {0}", ())]),
    ],
)
def test_a_paragraph_is_written_around_its_words(content: str, spans: list[Fragment]) -> None:
    document = read("a.docx", paragraph(content))
    assert document.texts[0] == spans
    again = document.with_texts(document.texts)
    assert read("a.docx", again).texts[0] == spans
    for part in ("instrText>PAGE<", "w:fldSimple", "m:oMath", "footnoteReference", "w:ins"):
        assert (part in body_of(again)) == (part in content)


def test_hyperlinks_that_make_up_a_paragraph_are_texts_of_their_own() -> None:
    links = link("Termos de uso") + run(" ") + link("Privacidade") + run(" · ") + link("ajuda")
    assert texts_of("a.docx", paragraph(links))[0] == "Termos de uso\nPrivacidade\najuda"
    written = etree.fromstring(body_of(upper_case("a.docx", paragraph(links))).encode())
    assert ["".join(part.itertext()) for part in written.iter("{*}hyperlink")] == [
        *("TERMOS DE USO", "PRIVACIDADE", "AJUDA")
    ]
    assert "".join(written.itertext()) == "TERMOS DE USO PRIVACIDADE · AJUDA"
    content = paragraph(f"{run('Ver ')}{links}")
    assert texts_of("a.docx", content)[0] == "Ver Termos de uso Privacidade · ajuda"


def test_descriptions_of_pictures_are_translated() -> None:
    written = body_of(upper_case("a.docx", paragraph(run("um") + PICTURE)))
    assert PICTURE.replace("um gato", "UM GATO") in written


def written(content: str, moved: list[Fragment]) -> str:
    translated = read("a.docx", paragraph(content)).with_texts([moved, [("FIM", ())]])
    return body_of(translated).replace("<w:rPr/>", "<w:rPr></w:rPr>")


def test_runs_follow_the_words_of_the_translation() -> None:
    content = f"{run('um gato ')}{link('dois')}{run(' três', '<w:b/>')}{NOTE}"
    moved = [("AA", (1,)), (" ", ()), ("", (2,)), ("b", ()), ("CC", (0,))]
    moved += [(" DD", (1,)), (" ", ()), ("E", (0,))]
    parts = [run("AA", "<w:b/>"), run(" "), NOTE, run("b"), link("CC")]
    parts += [run(" DD", "<w:b/>"), run(" "), link("E")]
    assert f"<w:p>{''.join(parts)}</w:p>" in written(content, moved)


def test_ranges_follow_the_words_and_begin_before_they_end() -> None:
    start, end = (f'<w:bookmark{name} w:id="1"/>' for name in ("Start", "End"))
    content = f"{run('um')}{start}{run(' gato')}<w:ins>{run(' dois')}{end}</w:ins>"
    spans = [("um", ()), ("", (0,)), (" gato", ()), (" dois", (1,)), ("", (1, 2))]
    assert read("a.docx", paragraph(content)).texts[0] == spans
    assert f"{start}{run('A')}<w:ins>{end}" in written(content, [("", (0,)), ("A", ()), ("", (1, 2))])
    assert f"{start}{run('A')}" in written(content, [("", (1, 2)), ("A", ()), ("", (0,))])


def test_notes_and_comments_are_translated() -> None:
    others = {
        "word/notes.xml": f"<w:footnotes {W}><w:p>{run('nota')}</w:p></w:footnotes>",
        "word/comments.xml": f"<w:comments {W}><w:p>{run('ah')}</w:p></w:comments>",
    }
    assert texts_of("a.docx", upper_case("a.docx", word_document(**others)))[-2:] == ["NOTA", "AH"]


MANY_NAMESPACES = " ".join(f"xmlns:a{number}='b'" for number in range(1_001))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<w:r/>" * 500_001, r"500,\d+ tags; 500,000 are allowed"),
        ("<w:r><w:t>a</w:t></w:r><w:br/>" * 20_001, "more than 20,000 texts"),
        (f"<w:p {MANY_NAMESPACES}/>", "more than 1,000 attributes or namespaces"),
        (
            run("", "<w:b/>" * 1_000).replace("<w:t ", "<w:tab/><w:t/>" * 300 + "<w:t "),
            "tags; 500,000 are allowed",
        ),
    ],
)
def test_too_many_elements_are_refused(content: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        read("a.docx", paragraph(content))


def test_other_and_damaged_documents_are_refused() -> None:
    kinds = KINDS.replace("wordprocessingml.document", "spreadsheetml.sheet")
    with pytest.raises(DocumentError, match="not a Word document"):
        read("a.docx", word_document(**{"[Content_Types].xml": kinds}))
    with pytest.raises(DocumentError, match="not a Word document"):
        read("a.docx", word_document().replace(b"PNG gato", b"PNG rato"))


def test_an_impossible_offset_in_the_archive_is_an_error() -> None:
    content = word_document()
    central, end = content.rindex(b"PK\x01\x02"), content.rindex(b"PK\x05\x06")
    entry, directory = bytearray(content[central:end]), bytearray(content[end:])
    extra = struct.pack("<HHQ", 1, 8, 2**64 - 101)  # ZIP64: where the file begins
    entry[30:32], entry[42:46] = struct.pack("<H", len(extra)), b"\xff" * 4
    directory[12:16] = struct.pack("<L", len(extra) + struct.unpack("<L", directory[12:16])[0])
    with pytest.raises(DocumentError, match="not a Word document"):
        read("a.docx", content[:central] + entry + extra + directory)


def test_a_translation_with_control_characters_is_still_xml() -> None:
    document = read("a.docx", word_document())
    translated = document.with_texts([[(f"{text_of(spans)}<&\x00\ufffe", ())] for spans in document.texts])
    assert texts_of("a.docx", translated)[0] == "o meu gato<&"
