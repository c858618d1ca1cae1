"""Reads and translates documents that are damaged by chance, one after the other, within bounds.

Usage: python damage.py COUNT. It prints the kind and number of each, so that the last one is what
ended it, and then how many of each kind were translated.
"""

import copy
import json
import random
import resource
import sys
from collections import Counter
from collections.abc import Callable

from document_texts import packed, read, upper_case
from lxml import etree
from test_formats import JSON, KEPT_IN_MARKDOWN, MARKDOWN, PO, VTT, YAML
from test_text_files import SRT
from test_word import DOCUMENT, FILES, NOTE, SUPERSCRIPT, field, link, run
from test_zipped import EPUB, ODT

from ptenmt.errors import DocumentError

MOST_MEMORY = 1_000_000_000
MOST_SECONDS = 120
"""Of all of them together, which take a few."""
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_BOX = "<w:txbxContent><w:p><w:r><w:t>uma caixa</w:t></w:r></w:p></w:txbxContent>"
_WORD = FILES | {
    "word/document.xml": f"""<w:document xmlns:w="{_W}"
xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:body>{DOCUMENT}
<w:p>{run("a", SUPERSCRIPT)}{link("leite")}<w:commentRangeStart w:id="0"/>{run("é &amp; não")}
<w:commentRangeEnd w:id="0"/>{NOTE}{field("PAGE", "7")}<w:r><mc:AlternateContent><mc:Choice>{_BOX}</mc:Choice>
<mc:Fallback><w:pict>{_BOX}</w:pict></mc:Fallback></mc:AlternateContent></w:r><!-- c --><?x y?></w:p>
</w:body></w:document>""",
}
_PAGE = """<!doctype html><html lang=pt><head><title>O gato</title><style>p > a { color: red }</style>
<script>if (a < b) { document.write("<!--<script>x</script>-->") }</script></head><body class='a b'>
<!-- nada --><h1 title="olá > adeus">O meu gato</h1><p translate=no>Rio<p>bebe <b>leite</b> &amp; caf&eacute;
<img src=a.png alt="x" /><ul><li>um<li>dois</ul><table><tr><td>a<td>b<tr><td>c</table><pre>x  y</pre>
<select><option>sim<option>não</select><svg><path d="M0"/><text>s</text></svg><textarea>t</textarea>
</body></html>
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


def _damaged_archive(chance: random.Random, files: dict[str, str | bytes], names: tuple[str, ...]) -> bytes:
    """One whose zip is damaged, or one of the named files in it."""
    parts = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    if chance.random() < 0.3:
        return _damaged(packed(parts), chance)
    name = chance.choice(names)
    damage = chance.choice((_damaged, _disturbed))
    return packed(parts | {name: damage(parts[name].replace(b"&nbsp;", b"&#160;"), chance)})


_DAMAGED_IN_WORD = ("[Content_Types].xml", "word/document.xml", "word/document.xml")
MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    ".docx": lambda chance: _damaged_archive(chance, _WORD, _DAMAGED_IN_WORD),
    ".epub": lambda chance: _damaged_archive(chance, EPUB, tuple(sorted(EPUB.keys() - {"mimetype"}))),
    ".odt": lambda chance: _damaged_archive(chance, ODT, ("content.xml", "styles.xml")),
    ".html": lambda chance: _damaged(_PAGE.encode(), chance),
    ".srt": lambda chance: _damaged(SRT.encode(), chance),
    ".md": lambda chance: _damaged((KEPT_IN_MARKDOWN + MARKDOWN).encode(), chance),
    ".vtt": lambda chance: _damaged(VTT.encode(), chance),
    ".po": lambda chance: _damaged(PO.encode(), chance),
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
    num_translated: Counter[str] = Counter()
    for ending, make in MAKERS.items():
        for seed in range(int(sys.argv[1])):
            print(ending, seed, flush=True)
            num_translated[ending] += _is_translated(f"a{ending}", make(random.Random(seed)))
    print(json.dumps(num_translated))


if __name__ == "__main__":
    main()
