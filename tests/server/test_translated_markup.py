"""HTML: text changes, everything else stays to the byte."""

import random
import time
from functools import partial

import pytest
from lines_run import lines_run

from ptenmt.server import tags
from ptenmt.server.markup import Markup


def shouted(source: str) -> str:
    markup = Markup(source)
    return markup.with_texts([text.upper() for text in markup.texts])


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("", []),
        ("olá", ["olá"]),
        ("<p>um\n  dois</p>", ["um dois"]),
        ("<p> um <i>dois</i>, três</p>", [" um ", "dois", ", três"]),
        ("a &lt;b&gt; &amp; &eacute;&#233;", ["a <b> & éé"]),
        ("<p>1 &copy; 2</p>", []),
        (f"a &#{'9' * 5_000}; b", ["a \ufffd b"]),
        (f"&#{'0' * 5_000}97; &#{'0' * 5_000};", ["a \ufffd"]),
        (f"&#x{'0' * 5_000}61; &#000000970", ["a \u03ca"]),
        (f"<p translate='&#{'9' * 5_000};'>a", ["a"]),
        ("<style>p {}</style><script>a < b</script><pre>x</pre><code>y</code>z", ["z"]),
        ('<div translate="no">a <div>b</div> c</div>d', ["d"]),
        ("a<br>b<img alt='c'>d", ["a", "b", "d"]),
        ("<textarea>a</textarea><!-- b --><?c d?><!doctype e>", []),
        ("a < b <", ["a < b <"]),
        ("</>a", ["a"]),
        ('<img src=x translate="no"><p>a</p>', ["a"]),
        ("<p translate=no>Rio<p>a", ["a"]),
        ("<p translate=no>Rio<div>a</div>b", ["a", "b"]),
        ("<section><p translate=no>Rio</section>a", ["a"]),
        ("<ul><li translate=no>Rio<ul><li>Lima</ul>Ica<li>a</ul>b", ["a", "b"]),
        ("<ol><li translate=no><div>Rio</ol>a", ["a"]),
        ("<dl><dt translate=no>Rio<dd>a<dt>b</dl>", ["a", "b"]),
        ("<table><tr><td translate=no>Rio<td>a<tr translate=no><td>Ica<tr><td>b</table>c", ["a", "b", "c"]),
        ("<table><tbody translate=no><tr><td>Rio</div></p><tbody><tr><td>a", ["a"]),
        ("<table><tr><td translate=no><table><tr><td>Rio</table>Ica</table>a", ["a"]),
        ("<select><option translate=no>Rio<option>a</select>", ["a"]),
        ("<ruby>a<rt translate=no>Rio<rt>b</ruby>", ["a", "b"]),
        ("<a translate=no>Rio<a>a", ["a"]),
        ("<p translate=no><button>Rio<div>Ica</div></button>Lima</p>a", ["a"]),
        ("<div translate=no>Rio</span></body></html>Ica", []),
        ("<b><i translate=no>Rio</b>a</i>b", ["a", "b"]),
        ("<div>" * 1_000 + "<p translate=no>Rio</div>a", ["a"]),
        ("<div>" * 255 + "<p translate=no><b>Rio</b>Ica</p>a", ["a"]),
        ("<div>" * 255 + "<p><b translate=no>Rio</b></div>a", ["a"]),
        ('<p title="please translate=no">a', ["a"]),
        ("<p title=translate=no>a", ["a"]),
        ("<p data-translate=no>a", ["a"]),
        ("<p translate=none>a", ["a"]),
        ("<p translate=yes translate=no>a", ["a"]),
        ("<p translate=no/>a", ["a"]),
        ("<p/translate='NO'>Rio</p>a", ["a"]),
        ("<p a=b translate = no >Rio</p>a", ["a"]),
        ("<p translate=no a=/b/>Rio</p>a", ["a"]),
        ("<p translate=no />Rio</p>a", ["a"]),
        ("<br translate=no />a", ["a"]),
        ("<svg/>a", ["a"]),
        ("<svg><g translate=no /></svg>a", ["a"]),
        ("<svg><style/></svg>a", ["a"]),
        ("<math><mtext/><script/></math>a", ["a"]),
        ("<svg><style>p > a</svg>a", ["a"]),
        ("<svg><foreignObject><style/></svg></style></svg>a", ["a"]),
        ("<svg><p>a</p><script>x='</svg>'; y</script><p>b</p>", ["a", "b"]),
        ("<math><annotation-xml><svg><br></svg>b</annotation-xml></math>a", ["a"]),
        ("<script/></script>a", ["a"]),
        ('<p =">a', ["a"]),
        ('<p a==">a', ["a"]),
        ("<script><!--<script></script>texto</script>a", ["a"]),
        ("<script><!--<script>--></script>a", ["a"]),
        ("<script><!-->x<script></script>a", ["a"]),
        ("<script><script></script>a", ["a"]),
        ("<script><!--</script>a", ["a"]),
        ("<script><!--<scripts></script>a", ["a"]),
        ("<script><!--<script>a</script>b", []),
    ],
)
def test_texts_are_found(source: str, texts: list[str]) -> None:
    assert Markup(source).texts == texts


@pytest.mark.parametrize(
    ("source", "translated"),
    [
        ("<A HREF=x  y='z'>olá</a >", "<A HREF=x  y='z'>OLÁ</a >"),
        ("<p>tom &amp; jerry&nbsp;</p>", "<p>TOM &amp; JERRY&nbsp;</p>"),
        ("<p>um\n  dois</p>\n", "<p>UM DOIS</p>\n"),
        ("um <script>alert('x')", "UM <script>alert('x')"),
        ("<p <b>um", "<p <b>UM"),
        ("&lt;img src=x onerror=alert(1)&gt;", "&lt;IMG SRC=X ONERROR=ALERT(1)&gt;"),
    ],
)
def test_nothing_but_texts_changes(source: str, translated: str) -> None:
    assert shouted(source) == translated


def test_a_translation_cannot_become_markup() -> None:
    assert Markup("<p>a</p>").with_texts(["<script>x</script>&"]) == (
        "<p>&lt;script&gt;x&lt;/script&gt;&amp;</p>"
    )


def test_any_soup_without_letters_in_its_texts_stays_to_the_byte() -> None:
    chance = random.Random(3)
    parts = ["<p>", "</p>", "<", ">", "&", "&#", "<!--", "-->", "<!", "<?", "</", '"', "'", "=", "\n", "1"]
    for _ in range(2_000):
        soup = "".join(chance.choices(parts, k=chance.randint(1, 12)))
        markup = Markup(soup)
        if not markup.texts:
            assert markup.with_texts([]) == soup


@pytest.mark.parametrize(
    "part",
    [
        *("<", "<a ", "<!--", "</", "&#", "&", "<p>", "<![", "<?", "<script>", "<a b='", "<b>", "<b></i>"),
        *("<table><p>", "<li><div>", "<td></div>", "<script><!--", "<a =", "<a/", "<div translate=no>a"),
    ],
)
@pytest.mark.parametrize("depth", [0, 255])
def test_no_soup_takes_long(part: str, depth: int) -> None:
    started = time.perf_counter()
    shouted("<b>" * depth + part * 10_000)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("tag", ["<dd>", "<tr>", "</i>"])
def test_what_is_open_is_not_walked_through_at_each_tag(tag: str) -> None:
    sources = ["<table>" + "<b>" * depth + tag * 1_000 for depth in (1, 250)]
    counts = [lines_run(tags, partial(Markup, source)) for source in sources]
    assert counts[1] < 2 * counts[0]
