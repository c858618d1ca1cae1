"""HTML documents: text is translated, elements stay."""

from collections.abc import Sequence

import pytest

from ptenmt.documents.html import Html
from ptenmt.translation.markup import text_of

LANGUAGES = (("pt",), "en")


def upper_case(source: str, languages: tuple[Sequence[str], str] | None = None) -> str:
    markup = Html(source, languages)
    return markup.with_texts([[(text.upper(), path) for text, path in spans] for spans in markup.texts])


def texts_of(source: str) -> list[str]:
    return list(map(text_of, Html(source).texts))


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("", []),
        ("<p>um\n  dois\vtrês</p>", ["um dois três"]),
        ("a &lt;b&gt; &amp; &eacute;&#233;", ["a <b> & éé"]),
        (f"a &#{'9' * 5_000}; b", ["a \ufffd b"]),
        ("<style>p {}</style><script>a < b</script><pre>x</pre><code>y</code>z", ["{0}z"]),
        ('<div translate="no">a <div>b</div> c</div>d', ["d"]),
        ("a<br>b<img alt='c'>d", ["a\nb d", "c"]),
        ("<textarea>a</textarea><!-- b --><?c d?><!doctype e>", []),
        ("a < b <", ["a < b <"]),
        ("a</body>b</html>c<p>d", ["abc", "d"]),
        ("<!-- x --><!doctype html><html><head><title>a</title></head><body>b</html>c", ["a", "bc"]),
        ("<p translate=no>Rio<div>a</div>b", ["a", "b"]),
        ("<ul><li translate=no>Rio<ul><li>Lima</ul>Ica<li>a</ul>b", ["a", "b"]),
        ("<table><tr><td translate=no>Rio<td>a<tr translate=no><td>Ica<tr><td>b</table>c", ["a", "b", "c"]),
        ("<a translate=no>Rio<a>a", ["{0}a"]),
        ("<p translate=no><button>Rio<div>Ica</div></button>Lima</p>a", ["a"]),
        ("<div translate=no>Rio</span></body></html>Ica", []),
        ('<p title="please translate=no">a', ["a", "please translate=no"]),
        ("<html translate=no><p>Rio", []),
        ('<p class="a notranslate">Rio</p><p class=notranslated>a', ["a"]),
        ("<br translate=no />a", ["\na"]),
        ("<math><annotation-xml><svg><br></svg>b</annotation-xml></math>a", ["{0}a"]),
        ("<script><!--<script>a</script>b", []),
        ("<div translate=no>a<p translate=yes>b</p></div>c", ["b", "c"]),
        ('<html><head><meta name="google" content="notranslate"></head><body>a</body></html>', []),
        ("<iframe title=a>b</iframe><textarea placeholder=b>c</textarea>", ["a", "b"]),
        ("<select><optgroup label=a><option label=b></select>", ["a", "b"]),
        ("<label>a<input></label> <label>b</label><select><option>c<option>d</select>", ["a", "b", "c", "d"]),
        ("a <button>b</button> c", ["a c", "b"]),
        ('<p>um <q lang="fr">deux</q> <q lang="pt-BR">dois</q>', ["um {0} dois"]),
    ],
)
def test_texts_outside_untranslated_elements_are_found(source: str, texts: list[str]) -> None:
    assert list(map(text_of, Html(source, LANGUAGES).texts)) == texts


@pytest.mark.parametrize(
    ("source", "translated"),
    [
        ("olá <b>gato</b>", "OLÁ <b>GATO</b>"),
        ("<A HREF=x  y='z'>olá</a >", '<a href="x" y="z">OLÁ</a>'),
        ("<p>tom &amp; jerry&nbsp;</p>", "<p>TOM &amp; JERRY\u00a0</p>"),
        ("um <img> dois<img> três", "UM <img> DOIS<img> TRÊS"),
        ("um<wbr>dois <b>t<wbr>rês</b><p>4 a</p>", "UM<wbr>DOIS <b>T<wbr>RÊS</b><p>4 A</p>"),
        ("um <script>if (a < b) c()</script><!-- d -->", "UM <script>if (a < b) c()</script><!-- d -->"),
        ("&lt;img src=x onerror=alert(1)&gt;", "&lt;IMG SRC=X ONERROR=ALERT(1)&gt;"),
        (
            "<!DOCTYPE html>\n<html><head><title>a</title></head><body>b</body></html>",
            "<!DOCTYPE html>\n<html><head><title>A</title></head><body>B</body></html>",
        ),
        ("<p>um<br />dois</br>três<BR>4", "<p>UM<br />DOIS</br>TRÊS<BR>4</p>"),
        ('<?php echo "olá"; $a->b ?><p>um</p>', '<?php echo "olá"; $a->b ?><p>UM</p>'),
        ("<p>um <?= $x ?> e <![CDATA[Olá <b>]]></p>", "<p>UM <?= $x ?> E <![CDATA[Olá <b>]]></p>"),
        ('<a href="<?= $a->b ?>" <?php c() ?>>um</a>', '<a href="<?= $a->b ?>" <?php c() ?>>UM</a>'),
        ("<script>a = '</br>' + <?= $b->c ?>;</script>um", "<script>a = '</br>' + <?= $b->c ?>;</script>UM"),
        ('<img alt="<?= $x ?>"><p>um</p><?php fim', '<img alt="<?= $x ?>"><p>UM</p><?php fim'),
        (
            "<?php a(); ?>\n<!DOCTYPE html><body>um",
            "<?php a(); ?>\n<!DOCTYPE html><html><body>UM</body></html>",
        ),
    ],
)
def test_only_text_changes(source: str, translated: str) -> None:
    assert upper_case(source) == translated


@pytest.mark.parametrize(
    ("source", "translated"),
    [
        (
            '<html lang="pt"><body><p lang="pt-BR">um</p><p lang="fr">un</p></body></html>',
            '<html lang="en"><body><p lang="en">UM</p><p lang="fr">un</p></body></html>',
        ),
        ("<!doctype html><p>um", '<!doctype html><html lang="en"><body><p>UM</p></body></html>'),
        ('<p lang="pt">um</p>', '<p lang="en">UM</p>'),
        ('<p lang="pt" translate="no">um</p>', '<p lang="pt" translate="no">um</p>'),
    ],
)
def test_the_language_of_the_translation_is_named(source: str, translated: str) -> None:
    assert upper_case(source, LANGUAGES) == translated


@pytest.mark.parametrize(
    ("source", "spans"),
    [
        ("<p>Ela <b>não <i>tem</i></b> fim", [("Ela ", ()), ("não ", (0,)), ("tem", (0, 1)), (" fim", ())]),
        ("<p>a<img><b> b</b>", [("a", ()), ("", (0,)), (" b", (1,))]),
        ("um <code>x y</code> dois", [("um {0} dois", ())]),
        ('<b>{0} <i class="notranslate">x</i></b> um', [("{0} {1}", (0,)), (" um", ())]),
        ('um<i translate="no"> </i>', [("um", ()), ("", (0,))]),
        ("um<sup>1</sup> <sub>x</sub>", [("um", ()), ("", (0,)), (" ", ()), ("x", (1,))]),
        ('um<sup><a href="#n">i</a></sup> dois', [("um", ()), ("", (0,)), (" dois", ())]),
        ("o 1<sup>o</sup> dia", [("o 1", ()), ("o", (0,)), (" dia", ())]),
        ("<i>um <br> dois</i>", [("um \ndois", (0,))]),
        ("um<!-- x -->a<wbr>b", [("um", ()), ("", (0,)), ("a", ()), ("", (1,)), ("b", ())]),
        ("<x-y>um</x-y> <cite>dois</cite> x", [("um", (0,)), (" ", ()), ("dois", (1,)), (" x", ())]),
        ("<a href=x><div>um</div></a>", [("um", ())]),
        ("um<img><b>dois</b>", [("um", ()), ("", (0,)), (" ", ()), ("dois", (1,))]),
        ("<a>um</a><a>dois</a> x", [("um", (0,)), ("\n", ()), ("dois", (1,)), (" x", ())]),
        ("<b>um<img></b><i>2</i>", [("um", (0,)), ("", (0, 1)), ("\n", ()), ("2", (2,))]),
        (
            "<b>um</b><i>o <u>dois</u><s>três</s></i>",
            [("um", (0,)), ("\n", ()), ("o ", (1,)), ("dois", (1, 2)), ("\n", (1,)), ("três", (1, 3))],
        ),
        ("un<b>happ</b>y", [("un", ()), ("happ", (0,)), ("y", ())]),
        ("<i>H</i><sub>2</sub><i>O</i>", [("H", (0,)), ("2", (1,)), ("O", (2,))]),
        ("<b>um</b><i>, dois</i>", [("um", (0,)), (", dois", (1,))]),
    ],
)
def test_texts_are_in_their_inline_elements(source: str, spans: list[tuple[str, tuple[int, ...]]]) -> None:
    assert Html(source).texts == [spans]


@pytest.mark.parametrize(
    "source",
    [
        *("UM <a><img></a> DOIS", "<p><img> UM</p>", "UM <code></code> DOIS", "UM <!-- c --> DOIS"),
        *("<b>UM <code>x</code></b> DOIS", "{0} UM <kbd>y</kbd><br>", 'UM <x id="1"></x> DOIS'),
        "<label>UM <select><option>DOIS</option></select></label> <ruby>TRÊS<rt>x</rt></ruby>",
        "<p>\n UM <b>DOIS </b>\n</p>",
        '<a href="/">UM</a><a href="/2">DOIS</a><br><a href="/3">TRÊS</a><b>QUATRO</b>',
    ],
)
def test_what_is_between_words_stays(source: str) -> None:
    markup = Html(source)
    assert markup.with_texts(markup.texts) == source.replace("DOIS </b>", "DOIS</b>")


def test_elements_stand_where_those_of_the_translation_are() -> None:
    source = (
        "<p>\n  um <b id=x class=y>dois <i>três</i></b> <img src=a alt=A> "
        "<code>c<u>d</u></code><!--e--> f\n</p>"
    )
    markup = Html(source)
    assert list(map(text_of, markup.texts)) == ["um dois três {0} f", "A"]
    spans = [("{0}", ()), ("", (4,)), (" ", ()), ("F.", (0,)), (" ", ()), ("TRÊS", (0, 1)), (" E ", ())]
    spans += [("DOIS", (0,)), (" ", ()), ("", (2,)), (" UM", ())]
    for _ in range(2):  # alternatives are written one after the other
        assert markup.with_texts([spans, [("B", ())]]) == (
            '<p>\n  <code>c<u>d</u></code><!--e--> <b id="x" class="y">F.</b> <b class="y"><i>TRÊS</i></b> E '
            '<b class="y">DOIS</b> <img src="a" alt="B"> UM\n</p>'
        )


def test_what_is_not_translated_stays_even_if_the_translation_lost_or_repeats_it() -> None:
    markup = Html("um <code>x</code> dois <kbd>y</kbd>")
    assert markup.with_texts([[("one {1} two {1}", ())]]) == "one <kbd>y</kbd> two  <code>x</code>"


def test_attributes_with_a_text_are_translated() -> None:
    source = (
        '<html><head><meta name="description" content="um"><meta name="x" content="um"></head><body>'
        '<img alt="um" title="um" src="um"><input placeholder="um" value="um" aria-label="12">'
        '<input type="submit" value="um"><p translate="no" title="um">um</p></body></html>'
    )
    translated = upper_case(source)
    assert translated.count("UM") == 5
    assert texts_of(source) == ["um"] * 5
    for kept in (
        'name="x" content="um"',
        'src="um"',
        'value="um" aria',
        '<p translate="no" title="um">um</p>',
    ):
        assert kept in translated


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("<a>Termos de uso</a> <a>Privacidade</a> <a>ajuda</a>", ["Termos de uso", "Privacidade", "ajuda"]),
        ("<nav>\n  <a>Início</a>\n  <a>Loja</a> |\n  <a>Ajuda</a>\n</nav>", ["Início", "Loja", "Ajuda"]),
        ("<p><span>Nome</span> <span>Idade</span> <span>Preço</span>", ["Nome", "Idade", "Preço"]),
        ("<p><b><a>Um</a> <a>dois</a></b></p>três", ["Um", "dois", "três"]),
        ("<li><a><img src=a> Um</a> · <a>Dois</a><br><a><i>Três</i></a>", ["Um", "Dois", "Três"]),
        ("<nav><a>Início<svg></svg></a><a>Sobre<svg></svg></a></nav>", ["Início", "Sobre"]),
        # Parts of a sentence
        ("<h1><span>Bem-vindo</span> <span>ao</span> <span>Porto</span></h1>", ["Bem-vindo ao Porto"]),
        ("<p><a>Lisboa</a>, <a>Porto</a></p>", ["Lisboa, Porto"]),
        ("<p>Veja <a>um</a> <a>dois</a></p>", ["Veja um dois"]),
        ("<p><b>CO</b> <sub>x y</sub></p>", ["CO x y"]),
    ],
)
def test_elements_that_make_up_a_block_are_texts_of_their_own(source: str, texts: list[str]) -> None:
    assert [line for text in texts_of(source) for line in text.split("\n")] == texts


def test_elements_that_are_texts_stay_apart() -> None:
    source = "<nav>\n  <a>ler</a>\n  <a>mais</a> |\n  <b>abrir</b>\n</nav>"
    assert texts_of(source) == ["ler\nmais\nabrir"]
    assert upper_case(source) == "<nav>\n  <a>LER</a> <a>MAIS</a> | <b>ABRIR</b>\n</nav>"


def test_code_in_a_title_stays() -> None:
    document = Html("<title>Olá <?= $x ?></title>")
    assert document.with_texts(document.texts) == "<title>Olá <?= $x ?></title>"
    assert texts_of("um ptenmtcode7q <? dois") == ["um ptenmtcode7q "]
