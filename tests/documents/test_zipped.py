"""OpenDocument texts, presentations and EPUBs: text is translated, all else stays."""

import io
import re
import struct
import tracemalloc
import zipfile
from typing import Any

import pptx
import pytest
from document_texts import packed, read, texts_of, unpacked, upper_case
from lxml import etree
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment, text_of

ODF = "urn:oasis:names:tc:opendocument:xmlns"
NAMESPACES = " ".join(
    f'xmlns:{name}="{ODF}:{name}:1.0"' for name in ("office", "text", "table", "style", "drawing")
)
ODT = {
    "mimetype": "application/vnd.oasis.opendocument.text",
    "content.xml": f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document-content {NAMESPACES} xmlns:xlink="http://www.w3.org/1999/xlink"><office:body><office:text>
<text:tracked-changes><text:deletion><text:p>velho</text:p></text:deletion></text:tracked-changes>
<text:h text:outline-level="1">o meu gato</text:h>
<text:p text:style-name="P1">bebe <text:span text:style-name="T1">leite</text:span>
<text:a xlink:href="http://a">hoje</text:a>
<text:note><text:note-citation>1</text:note-citation>
<text:note-body><text:p>uma nota</text:p></text:note-body></text:note>.</text:p>
<text:p>um<text:tab/>dois <text:s text:c="2"/>três, página <text:page-number>7</text:page-number></text:p>
<table:table><table:table-row><table:table-cell><text:p>célula</text:p></table:table-cell>
</table:table-row></table:table>
</office:text></office:body></office:document-content>""",
    "styles.xml": f"""<office:document-styles {NAMESPACES}><style:style style:name="T1"/>
<style:header><text:p>cabeçalho</text:p></style:header></office:document-styles>""",
    "Pictures/gato.png": "gato",
}
PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="pt">
<head><title>um</title><style>p > a { color: red }</style></head><body epub:type="bodymatter">
<p id="a">o gato&nbsp;<b>bebe</b> <a href="b.xhtml">leite</a><br/>hoje <img src="a.png" alt="foto"/></p>
<svg xmlns="http://www.w3.org/2000/svg"><text>figura</text></svg><table><tr><td>c &amp; d</td></tr></table>
</body></html>"""
EPUB = {
    "META-INF/container.xml": """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/a.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>""",
    "mimetype": "application/epub+zip",
    "OEBPS/a.opf": """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>o livro</dc:title><dc:creator>Eça</dc:creator>
<dc:description>um resumo</dc:description><dc:language>pt-PT</dc:language></metadata><manifest>
<item id="a" href="um%20a.xhtml" media-type="application/xhtml+xml"/>
<item id="b" href="um%20a.xhtml" media-type="application/xhtml+xml"/>
<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="i" href="a.png" media-type="image/png"/></manifest><spine><itemref idref="a"/></spine></package>""",
    "OEBPS/um a.xhtml": PAGE,
    "OEBPS/toc.ncx": """<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><docTitle><text>livro</text></docTitle>
<docAuthor><text>Eça</text></docAuthor><navMap><navPoint><navLabel><text>capítulo</text></navLabel>
<content src="um%20a.xhtml"/></navPoint></navMap></ncx>""",
}
FILES = {".odt": ODT, ".epub": EPUB}


def files_of(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        first = archive.infolist()[0]
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
    return unpacked(content)


def test_open_document_texts_keep_their_layout() -> None:
    document = read("a.odt", packed(ODT))
    sentence: list[Fragment] = [
        ("bebe ", ()),
        ("leite", (0,)),
        (" ", ()),
        ("hoje", (1,)),
        (" ", ()),
        ("", (2,)),
    ]
    assert document.texts[1] == [*sentence, (".", ())]
    assert list(map(text_of, document.texts)) == [
        *("o meu gato", "bebe leite hoje .", "uma nota", "um", "dois três, página {0}", "célula", "cabeçalho")
    ]
    files = files_of(upper_case("a.odt", packed(ODT)))
    assert files["styles.xml"] == ODT["styles.xml"].replace("cabeçalho", "CABEÇALHO")
    assert files["Pictures/gato.png"] == "gato"
    content = files["content.xml"]
    for part in (
        '<text:h text:outline-level="1">O MEU GATO</text:h>',
        '<text:span text:style-name="T1">LEITE</text:span> <text:a xlink:href="http://a">HOJE</text:a> ',
        "<text:p>UMA NOTA</text:p></text:note-body></text:note>.</text:p>",
        '<text:p>UM<text:tab/>DOIS <text:s text:c="2"/>TRÊS, PÁGINA <text:page-number>7</text:page-number><',
        "<text:p>CÉLULA</text:p>",
        "<text:p>velho</text:p>",
    ):
        assert part in content


def body_of(paragraph: str) -> dict[str, str]:
    """An ODT with one paragraph."""
    declared = f'{NAMESPACES} xmlns:svg="{ODF}:svg-compatible:1.0" xmlns:loext="{LOEXT}"'
    body = f"<office:body><office:text><text:p>{paragraph}</text:p></office:text></office:body>"
    return {"content.xml": f"<office:document-content {declared}>{body}</office:document-content>"}


LOEXT = "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"


@pytest.mark.parametrize(
    ("paragraph", "texts"),
    [
        (
            "{em} <text:date>7/1</text:date>{ e }<text:span>{já }</text:span><text:s/>{lá}",
            ["em {0} e já lá"],
        ),
        ("{a} <drawing:frame><svg:title>a.png</svg:title></drawing:frame> {b}", ["a b"]),
        ("{a} <drawing:frame><svg:desc>{um gato}</svg:desc></drawing:frame> {b}", ["a b", "um gato"]),
        ("{o} <loext:content-control>{gato}</loext:content-control>", ["o gato"]),
    ],
)
def test_paragraphs_of_libreoffice(paragraph: str, texts: list[str]) -> None:
    content = packed(body_of(paragraph.replace("{ e }", "<text:s/>{e }").translate({123: None, 125: None})))
    assert texts_of("a.odt", content) == texts
    written = re.sub(r"\{(.*?)\}", lambda text: text[1].upper(), paragraph)
    assert f"<text:p>{written}</text:p>" in unpacked(upper_case("a.odt", content))["content.xml"]


def test_formatting_follows_the_words() -> None:
    document = read("a.odt", packed(ODT))
    moved: list[list[Fragment]] = [[("x", ())] for _ in document.texts]
    moved[1] = [("milk", (0,)), (" drinks ", ()), ("to", (1,)), (" ", ()), ("day", (1,)), ("", (2,))]
    link = '<text:a xlink:href="http://a">'
    span = '<text:span text:style-name="T1">milk</text:span>'
    content = files_of(document.with_texts(moved))["content.xml"]
    assert f">{span} drinks {link}to</text:a> {link}day</text:a><text:note>" in content


def test_hyperlinks_that_make_up_a_paragraph_are_texts_of_their_own() -> None:
    links = "<text:a>Início</text:a> <text:a>Sobre <text:span>nós</text:span></text:a>"
    content = packed(ODT | body_of(links))
    assert texts_of("a.odt", content)[:2] == ["Início\nSobre nós", "cabeçalho"]
    written = files_of(upper_case("a.odt", content))["content.xml"]
    assert "<text:a>INÍCIO</text:a> <text:a>SOBRE <text:span>NÓS</text:span></text:a>" in written
    assert texts_of("a.odt", packed(body_of(f"Ver {links}"))) == ["Ver Início Sobre nós"]
    slides = pptx.Presentation()
    shape = slides.slides.add_slide(slides.slide_layouts[0]).shapes.title
    paragraph = shape.text_frame.paragraphs[0]
    for number, text in enumerate(("Termos", " | ", "Ajuda", " aqui")):
        paragraph.add_run().text = text
        if number != 1:
            paragraph.runs[number].hyperlink.address = f"http://{number}"
    assert texts_of("a.pptx", saved(slides)) == ["Termos\nAjuda aqui"], "one link of two parts"
    paragraph.runs[1].text = " ou "
    assert texts_of("a.pptx", saved(slides)) == ["Termos ou Ajuda aqui"]


def test_books_are_translated_with_their_titles_and_language() -> None:
    files = files_of(upper_case("a.epub", packed(EPUB)))
    assert texts_of("a.epub", packed(EPUB)) == [
        *("o livro", "um resumo", "um", "o gato\xa0bebe leite\nhoje ", "c & d", "foto", "livro", "capítulo")
    ]
    assert (
        "<dc:title>O LIVRO</dc:title><dc:creator>Eça</dc:creator>\n"
        "<dc:description>UM RESUMO</dc:description><dc:language>en<" in files["OEBPS/a.opf"]
    )
    assert files["OEBPS/toc.ncx"] == EPUB["OEBPS/toc.ncx"].replace("livro", "LIVRO").replace(
        "cap", "CAP"
    ).replace("ítulo", "ÍTULO")
    page = files["OEBPS/um a.xhtml"]
    etree.fromstring(page.encode())
    assert page == (
        PAGE.replace("&nbsp;", "\xa0").replace('lang="pt"', 'lang="en"').replace("<title>um", "<title>UM")
        .replace("o gato", "O GATO").replace("bebe<", "BEBE<").replace("leite<", "LEITE<")
        .replace("hoje", "HOJE").replace("foto", "FOTO").replace("c &amp; d", "C &amp; D")
        .replace("p > a", "p &gt; a")
    )  # fmt: skip


def test_a_prefix_of_xhtml_stays() -> None:
    page = '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:p>um <h:b>dois</h:b></h:p></h:html>'
    files = files_of(upper_case("a.epub", packed(EPUB | {"OEBPS/um a.xhtml": page})))
    assert files["OEBPS/um a.xhtml"] == page.replace("um <", "UM <").replace("dois", "DOIS")


MANY_NAMESPACES = "<a " + " ".join(f'xmlns:a{number}="b"' for number in range(1_001)) + "/>"
BOMB = '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>'


@pytest.mark.parametrize(
    ("ending", "name", "content"),
    [
        (".odt", "content.xml", BOMB + "<a>&c;</a>"),
        (".odt", "content.xml", "<a><b></a>"),
        (".odt", "content.xml", b"\xff\x00encrypted"),
        (".odt", "content.xml", "<a>" * 1_000 + "</a>" * 1_000),
        (".epub", "META-INF/container.xml", '<a><rootfile full-path="b.opf"/></a>'),
        (".epub", "OEBPS/um a.xhtml", BOMB + "<html><p>&c;</p></html>"),
        (".epub", "OEBPS/um a.xhtml", b"\xffencrypted"),
        (".epub", "OEBPS/um a.xhtml", MANY_NAMESPACES),
    ],
)
def test_damage_and_entities_are_refused(ending: str, name: str, content: str | bytes) -> None:
    with pytest.raises(
        DocumentError, match="damaged or encrypted|not well-formed|1,000 attributes or namespaces"
    ):
        read(f"a{ending}", packed(FILES[ending] | {name: content}))


@pytest.mark.parametrize("ending", [".docx", ".odt", ".pptx", ".epub"])
def test_other_files_and_zip_bombs_are_refused(ending: str) -> None:
    for content in (b"", b"PK\x03\x04", packed({"a": "b"})):
        with pytest.raises(DocumentError, match="damaged or encrypted"):
            read(f"a{ending}", content)
    with pytest.raises(DocumentError, match="too large when it is unpacked"):
        read(f"a{ending}", packed({"a.xml": b"<" + bytes(9_000_000)}))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_no_more_is_unpacked_than_a_file_declares(method: int) -> None:
    size, declared = 8_000_000, 1_000
    content = packed(ODT | {"a": bytes(size)}, method)
    content = content.replace(struct.pack("<L", size), struct.pack("<L", declared))
    tracemalloc.start()
    with pytest.raises(DocumentError):
        read("a.odt", content)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_the_texts_of_a_book_are_counted_together() -> None:
    second = '<item href="b.xhtml" media-type="application/xhtml+xml"/></manifest>'
    pages = EPUB | {"OEBPS/a.opf": EPUB["OEBPS/a.opf"].replace("</manifest>", second)}
    pages |= {"OEBPS/um a.xhtml": f"<html>{'<p>a</p>' * 10_000}</html>"}
    with pytest.raises(DocumentError, match="more than 20,000 texts"):
        read("a.epub", packed(pages | {"OEBPS/b.xhtml": f"<html>{'<p>a</p>' * 10_000}</html>"}))


def presentation() -> Any:
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "o meu gato"
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    for text in ("bebe ", "leite", " ho", "je"):
        paragraph.add_run().text = text
    paragraph.runs[1].font.bold = True
    paragraph.runs[2].hyperlink.address = paragraph.runs[3].hyperlink.address = "http://a"
    paragraph.runs[0].font.language_id = 1046
    paragraph.add_line_break()
    paragraph.add_run().text = "fim"
    box = pptx.util.Inches(1)
    slide.shapes.add_table(1, 1, box, box, box, box).table.cell(0, 0).text = "célula"
    slide.shapes.add_group_shape().shapes.add_textbox(box, box, box, box).text_frame.text = "grupo"
    data = CategoryChartData()
    data.categories = ["a"]
    data.add_series("série", (1,))
    frame = slide.shapes.add_chart(XL_CHART_TYPE.PIE, box, box, box, box, data)
    frame.chart.chart_title.text_frame.text = "título"
    slide.notes_slide.notes_text_frame.text = "uma nota"
    slide.shapes.title._element.nvSpPr.cNvPr.set("descr", "um gato")
    slide.placeholders[1]._element.nvSpPr.cNvPr.set("descr", "C:\\gato.png")
    return slides


def saved(slides: Any) -> bytes:
    file = io.BytesIO()
    slides.save(file)
    return file.getvalue()


def test_presentations_keep_their_formatting() -> None:
    content = saved(presentation())
    assert sorted(texts_of("a.pptx", content)) == sorted(
        ["o meu gato", "bebe leite hoje", "fim", "célula", "grupo", "título", "uma nota", "um gato"]
    )
    translated = upper_case("a.pptx", content)
    slide = pptx.Presentation(io.BytesIO(translated)).slides[0]
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    assert [(run.text, run.font.bold, run.hyperlink.address) for run in paragraph.runs] == [
        ("BEBE ", None, None),
        ("LEITE", True, None),
        (" HOJE", None, "http://a"),
        ("FIM", None, None),
    ]
    assert slide.shapes.title.text == "O MEU GATO"
    assert slide.shapes.title._element.nvSpPr.cNvPr.get("descr") == "UM GATO"
    assert slide.notes_slide.notes_text_frame.text == "UMA NOTA"
    shapes = list(slide.shapes)[2:]
    assert shapes[0].table.cell(0, 0).text == "CÉLULA"
    assert shapes[1].shapes[0].text_frame.text == "GRUPO"
    assert shapes[2].chart.chart_title.text_frame.text == "TÍTULO"
    assert "xml:space" not in unpacked(translated)["ppt/slides/slide1.xml"], (
        "the schema has no such attribute"
    )


def test_a_document_type_in_a_slide_is_refused() -> None:
    with zipfile.ZipFile(io.BytesIO(saved(presentation()))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    slide = files["ppt/slides/slide1.xml"].replace(b"<p:sld ", BOMB.encode() + b"<p:sld ")
    with pytest.raises(DocumentError, match="not well-formed"):
        read("a.pptx", packed(files | {"ppt/slides/slide1.xml": slide}))
