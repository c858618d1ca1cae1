"""Kept parts are found by general rules, masked and put back; a pair is masked alike on both sides."""

from random import Random

import pytest

from ptenmt.data.kept_parts import PLACEHOLDERS, find_kept_parts, mask, mask_pair, unmask


def parts(text: str) -> list[str]:
    return [part[0] for part in find_kept_parts(text)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("commit 3f2aaaabbb, id 5f43a000bbbb1111cccc.", ["3f2aaaabbb", "5f43a000bbbb1111cccc"]),
        ("cartão 0000 0000 0000 0000.", ["0000 0000 0000 0000"]),
        ("Chave de acesso: 3524 0100 0000", ["3524 0100 0000"]),
        ("matrícula 00-AA-00", ["00-AA-00"]),
        ("Olá ###T01###, [[campo]], @@nome@@", ["###T01###", "[[campo]]", "@@nome@@"]),
        ("$nome$, %pedido%, %%CIDADE%%.", ["$nome$", "%pedido%", "%%CIDADE%%"]),
        ("o $t(chave) é $arguments", ["$t(chave)", "$arguments"]),
        ("⟦0⟧aqui⟦1⟧", ["⟦0⟧", "⟦1⟧"]),
        ("o __NOME__ e _MENU_", ["__NOME__", "_MENU_"]),
        ("_START_ até _END_ de _TOTAL_", ["_START_", "_END_", "_TOTAL_"]),
        ("versão ^1.0.0, 1.2.3.", ["^1.0.0", "1.2.3"]),
        ("inclua <Python.h> e NetworkLed.Http", ["<Python.h>", "NetworkLed.Http"]),
        ("ficheiro IMG_*.jpg, Cmd+Shift+3.", ["IMG_*.jpg", "Cmd+Shift+3"]),
        ("[quote=Joana]olá[/quote] [b]sim[/b]", ["[quote=Joana]", "[/quote]", "[b]", "[/b]"]),
        ("dd/MM/yyyy HH:mm:ss", ["dd/MM/yyyy", "HH:mm:ss"]),
        ("use ^[a-z]+$ ou en-US,en;q=0.9 aqui", ["^[a-z]+$", "en-US,en;q=0.9"]),
        ("A H2O, a COVID-19, o iPhone em C++ ou C#", ["H2O", "COVID-19", "iPhone", "C++", "C#"]),
        ("um_nome, os.path, a[0], x^2", ["um_nome", "os.path", "a[0]", "x^2"]),
        ("CPF 123.456.789-09, IP 192.168.0.1, n.º 1234567", ["123.456.789-09", "192.168.0.1", "1234567"]),
        ("ligue +351 912 345 678 ou (11) 91234-5678", ["+351 912 345 678", "(11) 91234-5678"]),
        ("ligue 21 123 45 67 ou 21 000 00 00.", ["21 123 45 67", "21 000 00 00"]),
        (f"chave {'aB3+' * 20}==, {'x' * 60}", ["aB3+" * 20 + "==", "x" * 60]),
        ("2 500 000 pessoas, 1 234 567,89 €, de 12 a 15", []),
        ("Olá {name}, {{ n }}, ${x.y}, {% if x %}", ["{name}", "{{ n }}", "${x.y}", "{% if x %}"]),
        ("{n, plural, one {# um} other {{x} #}}", ["{n, plural, one {# um} other {{x} #}}"]),
        ("%1$s de %d, %(n)s", ["%1$s", "%d", "%(n)s"]),
        ("um <b>olá</b>&nbsp;<!-- nota -->", ["<b>", "</b>", "&nbsp;", "<!-- nota -->"]),
        ("[aqui](https://a.pt)", ["](https://a.pt)"]),
        ("em /usr/bin, ~/x, ../y, src/main/java", ["/usr/bin", "~/x", "../y", "src/main/java"]),
        (r"C:\dir\a.txt e contrato.pdf", [r"C:\dir\a.txt", "contrato.pdf"]),
        ("use --option=1 com `git add`", ["--option=1", "`git add`"]),
        ("Vê https://a.pt/b?c=1 (ana@a.pt).", ["https://a.pt/b?c=1", "ana@a.pt"]),
        ("$$x^2$$ #tema ---- ____ => 😀", ["$$x^2$$", "#tema", "----", "____", "=>", "😀"]),
        ("\ue900 Guardar 👩‍👩‍👧 🇵🇹 1️⃣", ["\ue900", "👩‍👩‍👧", "🇵🇹", "1️⃣"]),
        ("os.path.join('a', b) e print('x')", ["os.path.join('a', b)", "print('x')"]),
        # Quantities, which the model reads itself.
        ("às 19h30, das 9h às 18h, 9h–19h, 1h20min, 10:30", []),
        ("5kg, 100km/h, 50m², 20ml, 12x, R$80, R$80mi, US$ 5", []),
        ("1.234.567,89 €, 12.500 euros, 2 500 pessoas, 12,5 % e 100%", []),
        ("a 1.ª vez, 3.º andar, 42.º, 2ª feira, 25 ºC, 25º C, 45º, 38º 42′ N", []),
        ("pré-2000 e sub-20, 3–1, 5-10 dias, 1/2, 5 de outubro de 1910", []),
        # Words.
        ("E.U.A., a.C. e d.C., p.m., Sr.ª Ana, n.º 5, fim.Depois veio", []),
        ("e/ou, sim/não, bem-vindo, d'água, guarda-chuva, aluno(a)", []),
        ("não! Sim?... e!!! [risos] **muito** *bom*", []),
        ("Seg | Ter | Qua: a) sim; b) não (entre 0 (maior) e 10)", []),
    ],
)
def test_what_is_no_word_is_kept(text: str, kept: list[str]) -> None:
    assert parts(text) == kept
    assert unmask(*mask(text)) == text


def test_a_part_that_occurs_twice_has_one_placeholder() -> None:
    assert mask("<b>um</b> e <b>dois</b>") == ("❶um❷ e ❶dois❷", ["<b>", "</b>"])


def test_more_than_ten_parts_leave_the_rest_and_placeholders_come_first() -> None:
    text = " ".join([*(f"a{n}b" for n in range(11)), "❸"])
    masked, kept = mask(text)
    assert (kept[0], len(kept), masked.split()[-3:]) == ("❸", 10, ["a9b", "a10b", "❶"])
    assert unmask(masked, kept) == text


def test_any_text_is_restored() -> None:
    random = Random(1)
    signs = [*"ab 1.,:/-{}%$s#@", *PLACEHOLDERS, "😀", "\u200d", "\ufe0f", "http://", "12", "é"]
    for _ in range(5_000):
        text = "".join(random.choices(signs, k=random.randint(0, 30)))
        assert unmask(*mask(text)) == text


def test_a_pair_is_masked_where_both_sides_agree() -> None:
    assert mask_pair("Abre a.txt e b.txt", "Open a.txt", PLACEHOLDERS[3:]) == ("Abre ❹ e b.txt", "Open ❹")
    assert mask_pair("Vê ❶ em a.txt", "See a.txt") == ("Vê ❶ em a.txt", "See a.txt")


@pytest.mark.parametrize(
    "text", ["a" * 5000, "{" * 3000, "a/" * 2000, "<" * 3000, "1." * 2000, "a_" * 2000, "`" * 3000]
)
def test_long_runs_take_no_time(text: str) -> None:
    find_kept_parts(text)  # a pattern that backtracks would not end
    assert unmask(*mask(text)) == text
