"""Markdown, WebVTT, gettext, JSON and YAML: text changes, every other byte stays."""

import itertools
import json

import pytest
import yaml
from document_texts import raised, read, texts_of, upper_case as upper_case_bytes

from ptenmt.errors import DocumentError


def upper_case(name: str, source: str) -> str:
    return upper_case_bytes(name, source).decode()


def translated(name: str, source: str, *texts: str) -> str:
    """The document with texts of its own, each in the elements of the first words of its original."""
    document = read(name, source)
    assert len(document.texts) == len(texts)
    moved = [[(text, spans[0][1])] for text, spans in zip(texts, document.texts, strict=True)]
    return document.with_texts(moved).decode()


KEPT_IN_MARKDOWN = """---
layout: Olá
---

```python
print("olá")
```

    código

<pre class="aviso">texto</pre>

<!-- texto -->

[ref]: https://a.pt "título"

***

"""
MARKDOWN = """# o gato *preto* #

veja **o teste** do [nosso sítio](https://a.pt/x_y "título") com `ls -la` e ![alt](a.png) aqui
e mais~~isto~~ <b>ou</b> <https://b.pt>. três\\* x

> uma citação  
> de duas linhas[^1].
> - [ ] comprar *muito*
>   leite ***hoje***

1. ver [ref], [o outro][ref] e [ref][]
2) um<br>dois\\
   três

![um gato](gato.png)

[^1]: uma nota

> [!NOTE]
> cuidado

título
===

| Nome | *Idade* |
|:-----|--------:|
| Ana \\| Eva  |    30 |
|  |`ls`|
com `a\\|b` | -
- | um<br>**dois** | - olá |
  |---|---|
  | > três |
"""
KEPT_IN_PROSE = '(https://a.pt/x_y "título");`ls -la`;![alt](a.png);<b>;</b>;<https://b.pt>;<br>;(gato.png)'
KEPT_IN_PROSE += ";`ls`;`a\\|b`"


def test_numbers_that_languages_write_differently_are_texts() -> None:
    kept = ["12", "12.05.2024", "1.2.3", "+351 912 345 678", "10:30", "3.5"]
    numbers = ["1.500", "12,50 €", "1.234,56 €", "3,5 %"]
    lines = "\n".join([*kept, *numbers])
    assert texts_of("a.txt", lines) == numbers
    assert texts_of("a.md", "".join(f"- {line}\n" for line in lines.split("\n"))) == numbers
    assert texts_of("a.md", "|a|\n|-|\n|1.500|\n")[1:] == ["1.500"]
    assert texts_of("a.html", "".join(f"<p>{line}</p>" for line in lines.split("\n"))) == numbers
    assert texts_of("a.html", "<p>Olá<sup>1,2</sup></p>") == ["Olá"]
    times = "00:00:01,000 --> 00:00:02,000"
    assert texts_of("a.srt", f"1\n{times}\n12,50 €\n\n2\n{times}\n30\n") == ["12,50 €"]
    # A string of a program, or a number there, may be a version, or have a decimal point.
    assert texts_of("a.json", '["12,50 €", "1.500", 1.500, "3,5"]') == ["12,50 €", "3,5"]
    assert texts_of("a.yaml", "- 12,50 €\n- 1.500\n- '1.500'\n- 3,5\n") == ["12,50 €", "3,5"]
    assert texts_of("a.po", 'msgid "12,50 €"\nmsgstr ""\n') == ["12,50 €"]
    assert texts_of("a.txt", "foto-1.500.jpg") == []


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_of_markdown_only_prose_is_translated(ends: str) -> None:
    expected = MARKDOWN.upper()
    for kept in KEPT_IN_PROSE.split(";"):
        expected = expected.replace(kept.upper(), kept)
    expected = expected.replace("`ls -la` E", "`ls -la`\nE").replace("AQUI\nE", "AQUI E")
    expected = expected.replace("[REF], [O OUTRO][REF] E [REF][]", "[REF][ref], [O OUTRO][ref] E [REF][ref]")
    source = (KEPT_IN_MARKDOWN + MARKDOWN).replace("\n", ends)
    assert upper_case("a.md", source) == (KEPT_IN_MARKDOWN + expected).replace("\n", ends)
    assert texts_of("a.md", source)[:4] == [
        "o gato preto",
        "veja o teste do nosso sítio com {0} e aqui e maisisto ou {1}. três* x",
        "uma citação\nde duas linhas.",
        "comprar muito leite hoje",
    ]


def test_markdown_of_one_line_a_paragraph_stays_byte_for_byte_if_its_texts_do() -> None:
    lines = [line for line in MARKDOWN.split("\n") if not line.startswith(("veja", "e mais", "1. ver"))]
    source = KEPT_IN_MARKDOWN + "\n".join(lines)
    document = read("a.md", source)
    assert document.with_texts(document.texts).decode() == source


def test_links_of_markdown_without_a_space_between_them_are_separate_texts() -> None:
    source = "[Início](/a)[Sobre nós](/b)**um**_dois_  \ntrês <b>x</b><i>y</i> Ol**á**\n"
    assert texts_of("a.md", source) == ["Início\nSobre nós\num\ndois\ntrês x\ny Olá"]
    assert upper_case("a.md", source) == (
        "[INÍCIO](/a)[SOBRE NÓS](/b)**UM**_DOIS_  \nTRÊS <b>X</b><i>Y</i> OL**Á**\n"
    )


def test_elements_that_make_up_a_text_are_texts_of_their_own() -> None:
    source = "[Início](/a) [Sobre nós](/b)\n[Contactos](/c) | **Ajuda**\n"
    assert texts_of("a.md", source) == ["Início\nSobre nós\nContactos\nAjuda"]
    assert upper_case("a.md", source) == ("[INÍCIO](/a) [SOBRE NÓS](/b)\n[CONTACTOS](/c) | **AJUDA**\n")
    assert texts_of("a.md", "**[um](/a)  \n[dois](/b) [três](/c)**") == ["um\ndois\ntrês"]
    assert texts_of("a.md", "**O gato** *bebe leite*") == ["O gato bebe leite"]
    assert texts_of("a.md", "Veja [um](/a) [dois](/b)") == ["Veja um dois"]


@pytest.mark.parametrize(
    ("string", "text", "written"),
    [
        ("<a>Um</a> <a>dois</a>", "Um\ndois", "<a>UM</a> <a>DOIS</a>"),
        ("<b>O</b> <i>gato</i>", "O gato", "<b>O</b> <i>GATO</i>"),
        (r"<b>um</b>\n<i>dois</i><u>três</u>", "um\ndois\ntrês", r"<b>UM</b>\n<i>DOIS</i><u>TRÊS</u>"),
        ("H<sub>2</sub><i>O</i>", "H2O", "H<sub>2</sub><i>O</i>"),
        ("<0>os</0> e <1><0>a lei</0></1> <2/>", "os e a lei ", "<0>OS</0> E <1><0>A LEI</0></1> <2/>"),
        ("se a<5 e b>3", "se a<5 e b>3", "SE A<5 E B>3"),
    ],
)
def test_tags_in_strings_stay(string: str, text: str, written: str) -> None:
    assert texts_of("a.json", f'["{string}"]') == [text]
    assert upper_case("a.json", f'["{string}"]') == f'["{written}"]'


def test_blocks_of_other_dialects_of_markdown_stay() -> None:
    source = '!!! note "nota"\n    texto\n\n::: tip\ntexto\n:::\n\n$$\nx\n$$\n\n'
    assert upper_case("a.md", f"{source}texto") == f"{source}TEXTO"


EXTENSIONS = """---
title: o gato   # fica
tags: [um]
description: >
  uma frase
layout: post
---

# guia do projeto :rocket: às 10:30:15

os \\*gatos\\* e 2 \\* 3 :+1:

<details>
<summary>ver mais &amp; olá</summary>

texto

</details>

<p align="center">
  um <b>dois</b><br />
  três <a href="x">quatro
  cinco</a>
</p>

[^1]: nota
[^2]: nota *dois*
    três

termo
: nome
: outro nome

[um][] [dois][x] [três]

[um]: a
[x]: b
[três]: c
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_front_matter_definitions_html_and_short_names_of_markdown(ends: str) -> None:
    expected = raised(
        EXTENSIONS.replace(">\n  uma frase\n", r'"uma frase\n"' + "\n"),
        "o gato;uma frase;guia do projeto;às;os ;gatos; e 2;ver mais ;olá;\ntexto;um <b>dois;três <a",
        "quatro\n  cinco;]: nota;*dois;    três;\ntermo;: nome;: outro nome",
    )
    expected = expected.replace("<B>", "<b>").replace(" <A", " <a").replace("QUATRO\n  CINCO", "QUATRO CINCO")
    expected = expected.replace("[um][] [dois][x] [três]", "[UM][um] [DOIS][x] [TRÊS][três]")
    assert upper_case("a.md", EXTENSIONS.replace("\n", ends)) == expected.replace("\n", ends)
    texts = texts_of("a.md", EXTENSIONS.replace("\n", ends))
    assert texts[2:6] == ["guia do projeto às 10:30:15", "os *gatos* e 2 * 3", "ver mais & olá", "texto"]
    assert texts[6:8] == ["um dois", "três quatro cinco"]
    assert texts[8:] == ["nota", "nota dois três", "termo", "nome", "outro nome", "um\ndois\ntrês"]


def test_what_may_be_code_in_markdown_stays() -> None:
    source = "---\na: [\n---\n\n<div><code>olá</code> um</div>\n\n<p translate=no>um</p>\n\n> <p>um\n> </p>\n"
    assert upper_case("a.md", source) == source


@pytest.mark.parametrize(
    ("source", "text", "written"),
    [
        ("um", "a *b* [c] <d> `e` \\", "a \\*b\\* \\[c\\] \\<d\\> \\`e\\` \\\\"),
        ("2 * 2 [x]", "2 * 3 [y]", "2 * 3 [y]"),
        ("um", "- two", "\\- two"),
        ("# 1. Um", "1. One", "# 1. One"),
        ("1986\\. Um", "1987. One", "1987\\. One"),
        ("um", "# one", "\\# one"),
        ("um dois\ntrês", "a b c + d", "a b c\n\\+ d"),
        ("veja `x`", "see", "see `x`"),
        ("veja {0} e `x`", "see {0} {1} {1}", "see {0} `x`"),
    ],
)
def test_no_translation_becomes_markdown(source: str, text: str, written: str) -> None:
    assert translated("a.md", source, text) == written


ALONE = """> ![um *gato*](g.png "título")
>
> [![um cão](c.png)](/c) [![dois][x]](/d)

![logo][] ![gato.png][logo] ![logo]

| ![uma vaca \\| três](v.png) | e ![vaca](v.png) |
|---|---|

[logo]: /logo.png
[x]: /x.png
"""
TEXTS_OF_IMAGES = ["um gato", "um cão\ndois", "logo\ngato.png\nlogo", "uma vaca | três", "e"]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_descriptions_of_images_without_other_text_are_translated(ends: str) -> None:
    assert texts_of("a.md", ALONE.replace("\n", ends)) == TEXTS_OF_IMAGES
    expected = ALONE.replace("um *gato*", "UM GATO").replace("[logo][]", "[LOGO][logo]")
    expected = expected.replace("[gato.png]", "[GATO.PNG]").replace("![logo]\n", "![LOGO][logo]\n")
    expected = raised(expected, "um cão;[dois];uma vaca;três;e ![")
    assert upper_case("a.md", ALONE.replace("\n", ends)) == expected.replace("\n", ends)


def test_no_description_becomes_markdown() -> None:
    for source in ("![um](b)", "![um][c]\n\n[c]: /c", "|a|\n|-|\n|![um](b)|"):
        hostile = "](x \"y') `a | <b> ![z](w) \\\\"
        document = read("a.md", source)
        texts = [*document.texts[:-1], [(hostile, document.texts[-1][0][1])]]
        assert read("a.md", document.with_texts(texts)).texts == texts


def test_an_emphasis_that_lost_its_words_is_left_out() -> None:
    document = read("a.md", b"um **dois** [a](b)")
    spans = [("one", ()), ("", (0,)), (" ", ()), ("", (1,))]
    assert document.with_texts([spans]).decode() == "one [](b)"


VTT = """WEBVTT - legendas

NOTE
uma nota

STYLE
::cue { color: red }

1
00:01.000 --> 00:04.000 align:start position:10%
<v Maria>o gato bebe
leite <i>quente</i></v>

00:00:05.000 --> 00:00:07.000
- olá!
- tudo <00:00:06.000>bem?
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_of_web_vtt_only_speech_is_translated(ends: str) -> None:
    expected = raised(VTT, "o gato bebe\nleite;quente;olá!;tudo;bem?")
    assert upper_case("a.vtt", VTT.replace("\n", ends)) == expected.replace("\n", ends)
    assert texts_of("a.vtt", VTT) == ["o gato bebe leite quente", "olá!", "tudo bem?"]
    assert translated("a.vtt", VTT, "<b>\n\n--> 2", "a", "b").count("-->") == 2


PO = r"""# comentário
msgid ""
msgstr ""
"Language: pt\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#: src/a.c:10
#, c-format
msgid "o ficheiro %s"
msgstr ""

#, fuzzy
#| msgid "guardar"
msgid "guardar tudo"
msgstr "save"

#, c-format, fuzzy
msgid "vazio"
msgstr ""

msgctxt "menu"
msgid "um gato"
msgid_plural "%d gatos"
msgstr[0] ""
msgstr[1] ""

msgid ""
"a <b>primeira</b>\n"
"e \"outra\"\n"
msgstr ""

#~ msgid "velho"
#~ msgstr ""
"""
PO_IN_CAPITALS = (
    PO.replace("Language: pt", "Language: en")
    .replace('%s"\nmsgstr ""', '%s"\nmsgstr "O FICHEIRO %S"')
    .replace('msgstr[0] ""', 'msgstr[0] "UM GATO"')
    .replace('msgstr[1] ""', 'msgstr[1] "%D GATOS"')
    .replace('\\n"\nmsgstr ""\n\n#~', '\\n"\nmsgstr ""\n"A <b>PRIMEIRA</b>\\n"\n"E \\"OUTRA\\"\\n"\n\n#~')
)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_of_a_gettext_catalogue_what_is_empty_is_filled(ends: str) -> None:
    assert upper_case("a.po", PO.replace("\n", ends)) == PO_IN_CAPITALS.replace("\n", ends)
    assert texts_of("a.po", PO_IN_CAPITALS) == []


def test_a_template_of_gettext_gets_a_character_set_and_a_rule_for_plurals() -> None:
    header = [r'"Language: \n"', r'"Content-Type: text/plain; charset=CHARSET\n"']
    header += [r'"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\n"']
    template = 'msgid ""\nmsgstr ""\n' + "\n".join(header) + '\n\nmsgid "um gato"\nmsgstr ""\n'
    written = upper_case("a.pot", template)
    assert [line for line in written.split("\n") if line[:1] == '"'] == [
        r'"Language: en\n"',
        r'"Content-Type: text/plain; charset=UTF-8\n"',
        r'"Plural-Forms: nplurals=2; plural=(n != 1);\n"',
    ]
    assert 'msgstr "UM GATO"' in written


@pytest.mark.parametrize(
    "value",
    [
        *("https://a.pt/b %s", "snake_case", ":day", "apps/v1", "/tmp", "no-new:true", "a.b.c"),
        *("{nome}: %d", "10px", "dd/MM/yyyy", "<b>%s</b> $HOME"),
    ],
)
def test_a_string_of_nothing_but_kept_parts_is_not_translated(value: str) -> None:
    sources = {"a.json": f'["{value}"]', "a.yaml": f"- '{value}'\n", "a.po": f'msgid "{value}"\nmsgstr ""\n'}
    for name, source in sources.items():
        assert texts_of(name, source) == []
        assert texts_of(name, source.replace(value, f"{value} olá")) != []


@pytest.mark.parametrize(
    ("source", "read", "translation", "written"),
    [
        ("&Guardar como...", "Guardar como...", "Save as...", "&Save as..."),
        ("Ficheiro &novo", "Ficheiro novo", "New file", "&New file"),
        ("S&ubstituir tudo", "Substituir tudo", "Replace all uses", "&Replace all uses"),
        ("E&xcluir\\tCtrl+X", "Excluir\tCtrl+X", "Delete\tCtrl+X", "&Delete\\tCtrl+X"),
        ("&Sair de %s", "Sair de %s", "%s: leave", "%s: &leave"),
        ("Ver &amp; _abrir", "Ver &amp; abrir", "View &amp; open", "_View &amp; open"),
    ],
)
def test_an_accelerator_mark_is_not_translated_and_stays(
    source: str, read: str, translation: str, written: str
) -> None:
    po = f'msgid "{source}"\nmsgstr ""\n'
    assert texts_of("a.po", po) == [read]
    assert f'msgstr "{written}"' in translated("a.po", po, translation)
    assert texts_of("a.txt", source) == [source]


@pytest.mark.parametrize(
    "source",
    [
        *("A AT&T e a R&D", "{a} e {a}&{b}", "O my_file", "Sim &amp; não", "Veja https://a.pt/?b=1&c=2"),
        *("Ver a.pt?um=dois&lang=pt", "Isto é _muito importante_", "Sim & não", "Um && dois", "Só drag&drop"),
        *("Eixos x&y", "&Um e &dois", "a opção &lang=pt"),
    ],
)
def test_other_ampersands_and_underscores_are_no_accelerator_marks(source: str) -> None:
    assert texts_of("a.po", f'msgid "{source}"\nmsgstr ""\n') == [source]


JSON = r"""{
  "title" : "o gato \"preto\"",
  "nested": {"items": ["um cão", 3, true, null, 1.50, 123456789012345678901234567890]},
  "código": ["https://a.pt/b", "snake_case", "camelCase", "a.b.c", "/usr/bin", "#ff00aa", "foto.png",
    "MAX_LEN", "550e8400-e29b-41d4-a716-446655440000", "{count, plural, one {# gato} other {# gatos}}",
    "", "12"],
  "msg": "tem {{n}} <b>mensagens</b><br/>novas.\n"
}
"""


def test_of_json_strings_are_translated_and_keys_are_not() -> None:
    assert texts_of("a.json", f'["{{n, plural, other {{{"um gato " * 99}}}}}"]') == []
    expected = raised(JSON, 'o gato \\"preto\\";um cão;tem {{n}};mensagens;novas')
    assert upper_case("a.json", JSON) == expected
    assert texts_of("a.json", JSON) == ['o gato "preto"', "um cão", "tem {{n}} mensagensnovas.\n"]
    assert translated("a.json", r'["caf\u00e9"]', "maçã") == r'["ma\u00e7\u00e3"]'
    assert json.loads(translated("a.json", '["um"]', 'a "b"\\\n')) == ['a "b"\\\n']


YAML = """# comentário
pt:
  título: o gato   # fica
  simples: 'não é "bom"'
  duplo: "olá %{nome}\\n"
  lista:
  - um cão
  - &dois dois cães
  - *dois
  - 12
  - 2024-01-02
  - no
  ? {a: chave}
  : valor bom
  bloco: |2
      primeira linha
    segunda linha

  dobrado: >-
    uma frase comprida

    outra
  recurso: !Ref nome
  texto: !!str 'um texto'
  fluxo: {a: sim senhor, b: [um dois]}
---
- outro documento
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_of_yaml_strings_are_translated_and_keys_comments_and_layout_stay(ends: str) -> None:
    expected = raised(
        YAML.replace(
            "|2\n      primeira linha\n    segunda linha\n", r'"  primeira linha\nsegunda linha\n"' + "\n"
        ).replace(">-\n    uma frase comprida\n\n    outra\n", r'"uma frase comprida\noutra"' + "\n"),
        'o gato;não é "bom";olá %{nome};um cão;dois cães;valor bom;primeira linha;segunda linha',
        "uma frase comprida;outra;um texto;sim senhor;um dois;outro documento",
    )
    assert upper_case("a.yaml", YAML.replace("\n", ends)) == expected.replace("\n", ends)


TEXTS = ["a: b", "yes", "12", "- a", "it's", 'a "b"', "#a", "a # b", "{a}", "[a", "*a", " a ", ""]
TEXTS += ["a\nb", "é: x", "null", "2024-99-99", "a,b", "'", "---", "%a", "a\n\nb\n", "  a\nb"]
TEXTS += ["[" * 5_000, "w " * 100 + "w"]


@pytest.mark.parametrize(
    "written", ["um gato", "'um gato'", '"um gato"', "|\n    um\n    gato\n", ">\n  um\n"]
)
def test_every_text_can_stand_in_yaml(written: str) -> None:
    for text, source in itertools.product(TEXTS, (f"- {written}\n", f"a: {written}\n")):
        value = yaml.safe_load(translated("a.yml", source, text))
        value = value[0] if isinstance(value, list) else value["a"]
        assert value == text, source


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("a.vtt", "1\n00:01.000 --> 00:02.000\num", "its first line is not WEBVTT"),
        ("a.po", "", "no messages"),
        ("a.po", 'msgid "a"\nmsgstr "a', "line 2 is none of a gettext catalogue"),
        ("a.json", '{"a": "b",}', "not JSON: "),
        ("a.json", "[" * 100_000, "not JSON: it is nested too deeply"),
        ("a.json", r'{"s": "x \ud800 não"}', r"a string has half of a surrogate pair"),
        ("a.yaml", r's: "x \ud800 não"', "YAML|surrogate"),
        ("a.yaml", "a: 'b", "not YAML: .*line 1"),
        ("a.yaml", "[" * 201, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(name: str, source: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message) as error:
        read(name, source)
    assert "\n" not in str(error.value)


def test_aliases_of_yaml_are_not_expanded() -> None:
    laughs = ["a0: &a0 um gato"]
    laughs += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20)]
    assert texts_of("a.yaml", "\n".join(laughs)) == ["um gato"]
