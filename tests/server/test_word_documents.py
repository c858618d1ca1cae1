"""Word documents: text is translated, formatting stays."""

import io
import struct
import tracemalloc
import zipfile

import docx
import pytest
from damaged_documents import packed
from lxml import etree

from ptenmt.documents import Document, read_document
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment, text_of

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
DOCUMENT = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:document {W}><w:body>
<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>o meu gato</w:t></w:r></w:p>
<w:p><w:r><w:rPr><w:lang w:val="pt"/></w:rPr><w:t>o ga</w:t></w:r><w:proofErr w:type="x"/>
<w:r><w:t xml:space="preserve">to </w:t></w:r>
<w:r><w:rPr><w:b/></w:rPr><w:t>bebe</w:t><w:tab/><w:t>leite</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>um</w:t></w:r></w:p></w:tc>
<w:tc><w:p><w:r><w:t>12</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:delText>velho</w:delText></w:r></w:p>
</w:body></w:document>"""
KIND = "application/vnd.openxmlformats-officedocument.wordprocessingml"
KINDS = f"""<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="xml" ContentType="{KIND}.document.main+xml"/>
<Default Extension="png" ContentType="image/png"/>
<Override PartName="/word/Footer1.xml" ContentType="{KIND}.footer+xml"/>
<Override PartName="/word/styles.xml" ContentType="{KIND}.styles+xml"/></Types>"""


RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relationships(**targets: str) -> str:
    entries = "".join(
        f'<Relationship Id="{kind}" Type="{RELATIONSHIPS}/{kind}" Target="{target}"/>'
        for kind, target in targets.items()
    )
    schema = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{schema}">{entries}</Relationships>'


def read(content: bytes) -> Document:
    return read_document("a.docx", content)


def texts_of(content: bytes) -> list[str]:
    return list(map(text_of, read(content).texts))


def upper_case(name: str, content: bytes) -> bytes:
    document = read_document(name, content)
    return document.with_texts([[(text.upper(), path) for text, path in spans] for spans in document.texts])


def word_document(document: str = DOCUMENT, method: int = zipfile.ZIP_STORED, **others: bytes) -> bytes:
    files = {
        "[Content_Types].xml": KINDS,
        "_rels/.rels": relationships(officeDocument="word/document.xml"),
        "word/_rels/document.xml.rels": relationships(footer="footer1.xml", image="media/image1.png"),
        "word/document.xml": document,
        "word/footer1.xml": f"<w:ftr {W}><w:p><w:r><w:t>fim</w:t></w:r></w:p></w:ftr>",
        "word/media/image1.png": b"\x89PNG gato",
    }
    return packed(files | others, method)


def test_word_documents_keep_their_formatting() -> None:
    assert texts_of(word_document()) == ["o meu gato", "o gato bebe", "leite", "um", "fim"]
    with zipfile.ZipFile(io.BytesIO(upper_case("a.docx", word_document()))) as archive:
        body = archive.read("word/document.xml").decode()
        assert archive.read("word/media/image1.png") == b"\x89PNG gato"
        assert '<w:t xml:space="preserve">FIM</w:t>' in archive.read("word/footer1.xml").decode()
    assert '<w:pStyle w:val="Title"/></w:pPr><w:r><w:t xml:space="preserve">O MEU GATO</w:t>' in body
    assert '<w:t xml:space="preserve">O GATO </w:t>' in body
    bold = "<w:r><w:rPr><w:b/></w:rPr>"
    assert f'{bold}<w:t xml:space="preserve">BEBE</w:t></w:r>{bold}<w:tab/></w:r>{bold}<w:t' in body
    for kept in ("<w:t>12</w:t>", "<w:instrText>PAGE</w:instrText>", "<w:delText>velho</w:delText>"):
        assert kept in body


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
    looks, texts = (first, second), ("um dois ", "três")
    runs = [
        f"<w:r><w:rPr>{look}</w:rPr><w:t>{text}</w:t></w:r>" for look, text in zip(looks, texts, strict=True)
    ]
    document = read(word_document(f"<w:document {W}><w:p>{''.join(runs)}</w:p></w:document>"))
    assert document.texts[0] == (
        [("um dois ", ()), ("três", (0,))] if num_looks == 2 else [("um dois três", ())]
    )


@pytest.mark.parametrize("between", ['<w:bookmarkStart w:id="1"/>', "<!-- c -->", "<?x y?>", "<w:r/>"])
def test_invisible_elements_do_not_split_a_text(between: str) -> None:
    run = "<w:r><w:t>a</w:t></w:r>"
    content = word_document(f"<w:document {W}><w:p>{run}{between}{run}</w:p></w:document>")
    assert texts_of(content) == ["aa", "fim"]


def test_a_text_box_in_a_paragraph_is_a_separate_text() -> None:
    inner = "<w:p><w:r><w:t>b</w:t></w:r></w:p>"
    body = f"<w:p><w:r><w:t>a</w:t><w:pict>{inner}</w:pict><w:t>c</w:t></w:r><w:r><w:t>d</w:t></w:r></w:p>"
    assert texts_of(word_document(f"<w:document {W}>{body}</w:document>")) == ["acd", "b", "fim"]


MANY_NAMESPACES = " ".join(f"xmlns:a{number}='b'" for number in range(1_001))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("<w:r/>" * 500_001, r"500,\d+ tags; 500,000 are allowed"),
        ("<w:r><w:t>a</w:t></w:r><w:br/>" * 20_001, "more than 20,000 texts"),
        (f"<w:p {MANY_NAMESPACES}/>", "more than 1,000 attributes or namespaces"),
    ],
)
def test_too_many_elements_are_refused(document: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        read(word_document(f"<w:document {W}><w:p>{document}</w:p></w:document>"))


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>' if text else ""


NOTE = '<w:r><w:footnoteReference w:id="2"/></w:r>'


def link(text: str) -> str:
    return f'<w:hyperlink w:anchor="x">{run(text, "<w:u/>")}</w:hyperlink>'


SUPERSCRIPT = '<w:vertAlign w:val="superscript"/>'
MATH = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r/></m:oMath>'


def field(code: str, result: str) -> str:
    begin, middle, end = (
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
    )
    return f"{begin}<w:r><w:instrText>{code}</w:instrText></w:r>{middle}{run(result)}{end}"


@pytest.mark.parametrize(
    ("paragraph", "spans"),
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
        (
            run("um ") + "<w:fldSimple><w:r><w:t>x</w:t></w:r></w:fldSimple>",
            [("um {0}", ())],
        ),
    ],
)
def test_a_paragraph_is_written_around_its_words(paragraph: str, spans: list[Fragment]) -> None:
    document = read(word_document(f"<w:document {W}><w:p>{paragraph}</w:p></w:document>"))
    assert document.texts[0] == spans
    with zipfile.ZipFile(io.BytesIO(document.with_texts(document.texts))) as archive:
        again = archive.read("word/document.xml").decode()
    assert read(word_document(again)).texts[0] == spans
    for part in ("instrText>PAGE<", "w:fldSimple", "m:oMath", "footnoteReference", "w:ins"):
        assert (part in again) == (part in paragraph)


def test_hyperlinks_that_make_up_a_paragraph_are_texts_of_their_own() -> None:
    paragraph = link("Termos de uso") + run(" ") + link("Privacidade") + run(" · ") + link("ajuda")
    content = word_document(f"<w:document {W}><w:p>{paragraph}</w:p></w:document>")
    assert texts_of(content)[0] == "Termos de uso\nPrivacidade\najuda"
    with zipfile.ZipFile(io.BytesIO(upper_case("a.docx", content))) as archive:
        written = archive.read("word/document.xml").decode()
    parts = etree.fromstring(written.encode()).iter("{*}hyperlink")
    assert ["".join(part.itertext()) for part in parts] == ["TERMOS DE USO", "PRIVACIDADE", "AJUDA"]
    assert "".join(etree.fromstring(written.encode()).itertext()) == "TERMOS DE USO PRIVACIDADE · AJUDA"
    content = word_document(f"<w:document {W}><w:p>{run('Ver ')}{paragraph}</w:p></w:document>")
    assert texts_of(content)[0] == "Ver Termos de uso Privacidade · ajuda"


@pytest.mark.parametrize("code", ["HYPERLINK x", " TOC \\o "])
def test_a_link_or_a_table_of_contents_in_a_field_is_translated(code: str) -> None:
    content = word_document(f"<w:document {W}><w:p>{field(code, 'um')}</w:p></w:document>")
    assert texts_of(content) == ["um", "fim"]


def test_descriptions_of_pictures_are_translated() -> None:
    picture = '<w:r><w:drawing><docPr descr="um gato"/><docPr descr="gato.png"/></w:drawing></w:r>'
    body = f"<w:document {W}><w:p>{run('um')}{picture}</w:p></w:document>"
    with zipfile.ZipFile(io.BytesIO(upper_case("a.docx", word_document(body)))) as archive:
        written = archive.read("word/document.xml").decode()
    assert picture.replace("um gato", "UM GATO") in written


def mark(name: str) -> str:
    return f'<w:{name} w:id="1"/>'


def written(paragraph: str, moved: list[Fragment]) -> str:
    document = read(word_document(f"<w:document {W}><w:p>{paragraph}</w:p></w:document>"))
    with zipfile.ZipFile(io.BytesIO(document.with_texts([moved, [("FIM", ())]]))) as archive:
        return archive.read("word/document.xml").decode()


def test_runs_follow_the_words_of_the_translation() -> None:
    paragraph = f"{run('um gato ')}{link('dois')}{run(' três', '<w:b/>')}{NOTE}"
    moved = [
        ("AA", (1,)),
        (" ", ()),
        ("", (2,)),
        ("b", ()),
        ("CC", (0,)),
        (" DD", (1,)),
        (" ", ()),
        ("E", (0,)),
    ]
    default = [run(text).replace("<w:rPr></w:rPr>", "<w:rPr/>") for text in (" ", "b", " ")]
    parts = [
        run("AA", "<w:b/>"),
        default[0],
        NOTE,
        default[1],
        link("CC"),
        run(" DD", "<w:b/>"),
        default[2],
        link("E"),
    ]
    assert f"<w:p>{''.join(parts)}</w:p>" in written(paragraph, moved)


def test_ranges_follow_the_words_and_begin_before_they_end() -> None:
    start, end = mark("bookmarkStart"), mark("bookmarkEnd")
    paragraph = f"{run('um')}{start}{run(' gato')}<w:ins>{run(' dois')}{end}</w:ins>"
    spans = [("um", ()), ("", (0,)), (" gato", ()), (" dois", (1,)), ("", (1, 2))]
    assert read(word_document(f"<w:document {W}><w:p>{paragraph}</w:p></w:document>")).texts[0] == spans
    text = run("A").replace("<w:rPr></w:rPr>", "<w:rPr/>")
    assert f"{start}{text}{end}" in written(paragraph, [("", (0,)), ("A", ()), ("", (1, 2))]).replace(
        "<w:ins>", ""
    ).replace("</w:ins>", "")
    assert f"{start}{text}" in written(paragraph, [("", (1, 2)), ("A", ()), ("", (0,))])


def test_notes_headers_and_comments_are_translated() -> None:
    kinds = KINDS.replace(
        "</Types>",
        f'<Override PartName="/word/notes.xml" ContentType="{KIND}.footnotes+xml"/>'
        f'<Override PartName="/word/comments.xml" ContentType="{KIND}.comments+xml"/></Types>',
    )
    paragraph = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    content = word_document(
        **{
            "[Content_Types].xml": kinds.encode(),
            "word/_rels/document.xml.rels": relationships(
                footnotes="notes.xml", comments="comments.xml"
            ).encode(),
            "word/notes.xml": f"<w:footnotes {W}>{paragraph.format('nota')}</w:footnotes>".encode(),
            "word/comments.xml": f"<w:comments {W}>{paragraph.format('ah')}</w:comments>".encode(),
        }
    )
    assert texts_of(upper_case("a.docx", content))[-2:] == ["NOTA", "AH"]


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>'
    document = DOCUMENT.replace("<w:document", f"{bomb}<w:document").replace("o meu", "&c;")
    with pytest.raises(DocumentError, match="document type"):
        read(word_document(document))


def test_other_office_documents_are_refused() -> None:
    kinds = KINDS.replace("wordprocessingml.document", "spreadsheetml.sheet")
    with pytest.raises(DocumentError, match="not a Word document"):
        read(word_document(**{"[Content_Types].xml": kinds.encode()}))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["word/header1.xml", "word/media/image2.png"])
def test_no_more_is_unpacked_than_a_file_declares(method: int, name: str) -> None:
    size, declared = 8_000_000, 1_000
    content = word_document(method=method, **{name: bytes(size)}).replace(
        struct.pack("<L", size), struct.pack("<L", declared)
    )
    tracemalloc.start()
    with pytest.raises(DocumentError):
        read(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_damaged_picture_is_an_error_before_anything_is_translated() -> None:
    with pytest.raises(DocumentError, match="not a Word document"):
        read(word_document().replace(b"PNG gato", b"PNG rato"))


def test_an_impossible_offset_in_the_archive_is_an_error() -> None:
    content = word_document()
    central, end = content.rindex(b"PK\x01\x02"), content.rindex(b"PK\x05\x06")
    entry, directory = bytearray(content[central:end]), bytearray(content[end:])
    extra = struct.pack("<HHQ", 1, 8, 2**64 - 101)  # ZIP64: where the file begins
    entry[30:32], entry[42:46] = struct.pack("<H", len(extra)), b"\xff" * 4
    directory[12:16] = struct.pack("<L", len(extra) + struct.unpack("<L", directory[12:16])[0])
    with pytest.raises(DocumentError, match="not a Word document"):
        read(content[:central] + entry + extra + directory)


@pytest.mark.parametrize("within", ["<!-- c -->", "<?x y?>"])
def test_a_comment_in_a_text_does_not_split_it(within: str) -> None:
    body = f"<w:document {W}><w:p><w:r><w:t>um{within} dois</w:t></w:r></w:p></w:document>"
    assert texts_of(upper_case("a.docx", word_document(body))) == ["UM DOIS", "FIM"]


def test_a_translation_with_control_characters_is_still_xml() -> None:
    document = read(word_document())
    translated = document.with_texts([[(f"{text_of(spans)}<&\x00\ufffe", ())] for spans in document.texts])
    assert texts_of(translated)[0] == "o meu gato<&"


def test_python_docx_reads_what_was_written() -> None:
    original = docx.Document()
    original.add_heading("o meu gato", 1)
    original.add_paragraph("bebe ").add_run("leite").bold = True
    original.add_table(1, 1).cell(0, 0).text = "um"
    file = io.BytesIO()
    original.save(file)
    again = docx.Document(io.BytesIO(upper_case("a.docx", file.getvalue())))
    assert [paragraph.text for paragraph in again.paragraphs] == ["O MEU GATO", "BEBE LEITE"]
    assert [run.bold for run in again.paragraphs[1].runs] == [None, True]
    assert again.tables[0].cell(0, 0).text == "UM"
