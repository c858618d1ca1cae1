"""Reads and translates documents that are damaged by chance, one after the other, within bounds.

Usage: python damage.py ENDING COUNT. It prints the number of each, so that the last one is what
ended it.
"""

import copy
import random
import resource
import sys
from collections.abc import Callable

from document_texts import packed, read, upper_case
from lxml import etree
from test_formats import JSON, KEPT_IN_MARKDOWN, MARKDOWN, PO, VTT, XLIFF, YAML

from ptenmt.errors import DocumentError

MOST_MEMORY = 1_000_000_000
MOST_SECONDS = 120
"""Of all of them together, which take a few."""
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_KIND = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_BOX = "<w:txbxContent><w:p><w:r><w:t>uma caixa</w:t></w:r></w:p></w:txbxContent>"


def _relationship(kind: str, target: str) -> str:
    base = "http://schemas.openxmlformats.org"
    return f"""<Relationships xmlns="{base}/package/2006/relationships"><Relationship Id="rId1"
Type="{base}/officeDocument/2006/relationships/{kind}" Target="{target}"/></Relationships>"""


_WORD = {
    "[Content_Types].xml": f"""<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="{_KIND}.document.main+xml"/>
<Override PartName="/word/comments.xml" ContentType="{_KIND}.comments+xml"/></Types>""",
    "_rels/.rels": _relationship("officeDocument", "word/document.xml"),
    "word/_rels/document.xml.rels": _relationship("comments", "comments.xml"),
    "word/document.xml": f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:document xmlns:w="{_W}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">
<w:body>
<w:p><w:pPr><w:pStyle w:val="Title"/><w:rPr><w:b/></w:rPr></w:pPr><w:r><w:t>o meu gato</w:t></w:r></w:p>
<w:p><w:r><w:rPr><w:rFonts w:ascii="Arial" w:hAnsi="Arial"/><w:lang w:val="pt-PT"/></w:rPr>
<w:t xml:space="preserve">bebe </w:t></w:r><w:proofErr w:type="spellStart"/><w:hyperlink w:anchor="a">
<w:r><w:rPr><w:u w:val="single"/></w:rPr><w:t>leite</w:t><w:br/><w:t>quente</w:t></w:r></w:hyperlink>
<w:commentRangeStart w:id="0"/><w:r><w:t>&#233; &amp; n&#xE3;o</w:t></w:r><w:commentRangeEnd w:id="0"/></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>um</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>
<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps">{_BOX}</mc:Choice>
<mc:Fallback><w:pict>{_BOX}</w:pict></mc:Fallback></mc:AlternateContent></w:r><!-- c --><?x y?>
<w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
</w:body></w:document>""",
    "word/comments.xml": f'<w:comments xmlns:w="{_W}"><w:p><w:r><w:t>a</w:t></w:r></w:p></w:comments>',
    "word/media/image1.png": "\x89PNG" + "pixel" * 20,
}
_PAGE = """<!doctype html><html lang=pt><head><title>O gato</title><style>p > a { color: red }</style>
<script>if (a < b) { document.write("<!--<script>x</script>-->") }</script></head><body class='a b'>
<!-- nada --><h1 title="olá > adeus">O meu gato</h1><p translate=no>Rio<p>bebe <b>leite</b> &amp; caf&eacute;
<img src=a.png alt="x" /><ul><li>um<li>dois</ul><table><tr><td>a<td>b<tr><td>c</table><pre>x  y</pre>
<select><option>sim<option>não</select><svg><path d="M0"/><text>s</text></svg><textarea>t</textarea>
</body></html>
"""
_ODT = {
    "content.xml": """<o:document-content xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
xmlns:t="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><o:body><o:text><t:h>o meu gato</t:h><t:p>bebe
<t:span t:style-name="T1">leite<t:tab/></t:span> <t:a>hoje</t:a><t:note><t:note-citation>1</t:note-citation>
<t:note-body><t:p>uma nota</t:p></t:note-body></t:note> <t:s/><t:date>7</t:date></t:p><t:p/></o:text></o:body>
</o:document-content>""",
}
_EPUB = {
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>',
    "a.opf": """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>o livro</dc:title>
<manifest><item href="a.xhtml" media-type="application/xhtml+xml"/></manifest></package>""",
    "a.xhtml": """<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>
<title>um</title></head><body><p id="a">o gato&nbsp;<b>bebe</b> <a href="b">leite</a><br/>hoje
<img src="a.png" alt="foto"/></p><svg xmlns="http://www.w3.org/2000/svg"><text>a</text></svg></body></html>""",
}
_SUBTITLES = """1
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
- tudo bem ?
"""


def _damaged(content: bytes, chance: random.Random) -> bytes:
    """The same with some bytes changed, lost, moved or repeated, a few times over."""
    for _ in range(chance.randint(1, 4)):
        begin, length = chance.randrange(len(content) + 1), chance.choice((1, 2, 8, 60))
        piece = content[begin : begin + length]
        place = chance.choice((begin, chance.randrange(len(content) + 1)))
        new = chance.choice(
            (b"", chance.randbytes(length), piece * 2, piece * chance.choice((30, 2_000)), b"<", b'"', b"/>")
        )
        content = content[:place] + new + content[place + chance.choice((0, length)) :]
    return content


def _disturbed(content: bytes, chance: random.Random) -> bytes:
    """XML with some elements moved, repeated or nested, and comments in them; it is XML still.

    One element may have thousands of attributes.
    """
    root = etree.fromstring(content)
    for _ in range(chance.randint(1, 4)):
        nodes = [node for node in root.iter(etree.Element) if node is not root]
        node, other = chance.choice(nodes), chance.choice(nodes)
        other.append(chance.choice((etree.Comment("c"), etree.PI("x"), copy.deepcopy(node))))
        for _ in range(chance.choice((0, 0, 2_000))):
            etree.SubElement(other, node.tag, node.attrib)
        for _ in range(chance.choice((0, 100))):
            other = etree.SubElement(other, node.tag)
    for number in range(chance.choice((0, 0, 5_000))):
        other.set(f"a{number}", "1")
    return etree.tostring(root)


def _damaged_archive(chance: random.Random, files: dict[str, str], names: tuple[str, ...]) -> bytes:
    """One whose zip is damaged, or one of the named files in it."""
    parts = {name: text.encode() for name, text in files.items()}
    if chance.random() < 0.3:
        return _damaged(packed(parts), chance)
    name = chance.choice(names)
    damage = chance.choice((_damaged, _disturbed))
    return packed(parts | {name: damage(parts[name].replace(b"&nbsp;", b"&#160;"), chance)})


_DAMAGED_IN_WORD = ("[Content_Types].xml", "_rels/.rels", "word/document.xml", "word/document.xml")
MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    ".docx": lambda chance: _damaged_archive(chance, _WORD, _DAMAGED_IN_WORD),
    ".epub": lambda chance: _damaged_archive(chance, _EPUB, tuple(_EPUB)),
    ".odt": lambda chance: _damaged_archive(chance, _ODT, tuple(_ODT)),
    ".html": lambda chance: _damaged(_PAGE.encode(), chance),
    ".srt": lambda chance: _damaged(_SUBTITLES.encode(), chance),
    ".md": lambda chance: _damaged((KEPT_IN_MARKDOWN + MARKDOWN).encode(), chance),
    ".vtt": lambda chance: _damaged(VTT.encode(), chance),
    ".po": lambda chance: _damaged(PO.encode(), chance),
    ".xliff": lambda chance: _damaged(XLIFF.encode(), chance),
    ".json": lambda chance: _damaged(JSON.encode(), chance),
    ".yaml": lambda chance: _damaged(YAML.encode(), chance),
}


def _is_translated(name: str, content: bytes) -> bool:
    """Whether a document is read; then it is translated, and its translation is one of the kind again."""
    try:
        translated = upper_case(name, content)
    except DocumentError:
        return False
    read(name, translated)
    return True


def main() -> None:
    """Read and translate them."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    ending, count = sys.argv[1], int(sys.argv[2])
    num_translated = 0
    for seed in range(count):
        print(seed, flush=True)
        num_translated += _is_translated(f"a{ending}", MAKERS[ending](random.Random(seed)))
    print(f"{num_translated} translated")


if __name__ == "__main__":
    main()
