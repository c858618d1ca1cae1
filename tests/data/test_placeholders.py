"""Entities are masked and put back; a pair is masked alike on both sides."""

import subprocess
import sys
from random import Random

import pytest

from ptenmt.data.placeholders import PLACEHOLDERS, in_notation, mask, mask_pair, unmask


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("Vê HTTPS://A.PT/B ou WWW.a.pt.", ["HTTPS://A.PT/B", "WWW.a.pt"]),
        ("Vê https://example.org/a?b=c (às 10:30).", ["https://example.org/a?b=c", "10:30"]),
        ("www.example.org, foo.bar@example.org.", ["www.example.org", "foo.bar@example.org"]),
        (
            "Olá {name}, {{user}}, ${x}: %s, %1$s, %(n)d, %.2f",
            ["{name}", "{{user}}", "${x}", "%s", "%1$s", "%(n)d", "%.2f"],
        ),
        ("#PRS_ORG# e #tag de @user", ["#PRS_ORG#", "#tag", "@user"]),
        ("1.000,5 em 12/03/2024, 7 a 8, 10–12 e -5.", ["1.000,5", "12/03/2024", "7", "8", "10–12", "-5"]),
        ("O 1.º, o 3D, mp3, 2,5kg, 18h30 e H2O", ["1.º", "3D", "mp3", "2,5kg", "18h30", "H2O"]),
        ("R$ 5.000, 20 €, US$ 7; COVID-19", ["R$ 5.000", "20 €", "US$ 7", "COVID-19"]),
        ("PT50 0002 0123 e a b1.2.3.", ["PT50 0002 0123", "b1.2.3"]),
        ("os 1990s, the 42nd, a@b, AT&T não", []),
        ("&nbsp; e &#39; ou &#x27;", ["&nbsp;", "&#39;", "&#x27;"]),
        ("`ls -la /tmp`, {{ n }}, {{n}}, ${ a.b }", ["`ls -la /tmp`", "{{ n }}", "{{n}}", "${ a.b }"]),
        ("{% if a == 3 %}x{% endif %} {a} { b }", ["{% if a == 3 %}", "{% endif %}", "{a}"]),
        ("50% de 100 % (10%), 5 %s", ["50%", "100 %", "10%", "5", "%s"]),
        ("(%1$d%%), 50%%, 5 %%: %d %% e %(n)s%%.", ["%1$d%%", "50%%", "5 %%", "%d", "%%", "%(n)s%%"]),
        ("A x L x P, AxL, C × L × A. 85 x 60 cm", ["A x L x P", "AxL", "C × L × A", "85 x 60"]),
        ("1,38x1,88m, 1 x 7 e 3 x 4 = 12; 0x1F, 3 x por dia", ["1,38x1,88m", "1 x 7", "3 x 4 = 12", "3"]),
        (
            "Lê contrato.pdf e (docs/ação_2.DOCX). ~/a/b.tar.gz",
            ["contrato.pdf", "docs/ação_2.DOCX", "~/a/b.tar.gz"],
        ),
        ("Foi o fim.Depois, fim.docência, a.pdf.é, x.pdf/", []),
        ("Dá 6 x 1 + 2 x 8 + 3 x 3 = 31, 15x15+3.", ["6 x 1 + 2 x 8 + 3 x 3 = 31", "15x15+3"]),
        ("O EXAME, Max e A xx", []),
        (r"a.pt/b, c.com. C:\d\e.txt: fim.Ele, d.C.", ["a.pt/b", "c.com", r"C:\d\e.txt"]),
        (r"Abre C:\dir agora.", [r"C:\dir"]),
        (r"Abre \\nas\dir\a_b.txt, \\1.2.3.4\d.", [r"\\nas\dir\a_b.txt", r"\\1.2.3.4\d"]),
        ("Vê ~/nota, ../a/b e /usr/bin; e/ou /x", ["~/nota", "../a/b", "/usr/bin"]),
        ("ls --all --sort=size, -- sim, A--b", ["--all", "--sort=size"]),
        ("um_nome, obterNome, o iPhone e o YouTube", ["um_nome", "obterNome", "iPhone", "YouTube"]),
        ("O R$ e o US$; Preço (R$): R$ 5, A$", ["R$", "US$", "R$ 5"]),
        ("Tem 6 x 10^24 kg, 2 × 10^-3; 90′, 32″ e A & B", ["6 x 10^24", "2 × 10^-3", "90′", "32″", "A & B"]),
        (
            "{n, plural, one {# um} other {{x} #}} e ~~a b~~",
            ["{n, plural, one {# um} other {{x} #}}", "~~"],
        ),
        ("Dá $$x^2$$ a && b || c", ["$$x^2$$", "&&", "||"]),
        ("exemplo.pt/caminhão agora, no fim.eu vou na 2ª-feira, os 10os", ["exemplo.pt/caminhão"]),
        ("<b>x</b> & 5 < 6", ["<b>", "</b>", "&", "5", "<", "6"]),
        ("👍🏽 ❤️ 👩‍👩‍👧 🇵🇹", ["👍🏽", "❤️", "👩‍👩‍👧", "🇵🇹"]),
        ("1️⃣ ou #️⃣, *⃣", ["1️⃣", "#️⃣", "*⃣"]),
        (
            "2 500 ou 12\u00a0345\u202f678,5; 10 2000, 2019 500.",
            ["2 500", "12\u00a0345\u202f678,5", "10", "2000", "2019", "500"],
        ),
        (
            "(http://a.pt/L_(c)), http://a.pt/L_(c)/d_(e). www.a.pt/(b [x](http://b.pt)",
            ["http://a.pt/L_(c)", "http://a.pt/L_(c)/d_(e)", "www.a.pt/(b", "[", "](http://b.pt)"],
        ),
        ("1." * 100_000 + "1é", []),  # in linear time
        ("sem nada", []),
        ("Vê a.com. ou x-1.b.pt.", ["a.com", "x-1.b.pt"]),
        ("a.pt.x, a.com.é, a.pt-b, a.com_a", []),  # no part of a name is taken for one
        ("a.x.com.pt/b c.com:80", ["a.x.com.pt/b", "c.com", "80"]),
        ("1,5é 1 000é 12.3.4_a 7–8ção", []),  # nor is a part of a number
        ("1.5 000, 1 000.5, 1 234 567 89", ["1.5", "000", "1 000.5", "1 234 567", "89"]),
        ("http://a.pt/(b)(c. www.a.pt/(b)", ["http://a.pt/(b)(c", "www.a.pt/(b)"]),
        ("a.b+c@d.pt, @a.b@c.pt.", ["a.b+c@d.pt", "@a"]),
        (r"Seja $\alpha$, $E=mc^2$ e \(a_1\).", [r"$\alpha$", "$E=mc^2$", r"\(a_1\)"]),
        ("Vê #Mu\u0301sica e @Jo\u0303o.", ["#Mu\u0301sica", "@Jo\u0303o"]),  # as macOS writes accents
        ("De $5 a R$ 6: US$ 7.", ["$5", "R$ 6", "US$ 7"]),
        ("5 * 3 * 2, 2+2 = 4, 1 + 2 - 3 e 10 / 2.", ["5 * 3 * 2", "2+2 = 4", "1 + 2 - 3", "10 / 2"]),
        ("Em 2010 - 3 anos, a + 2, 5 * x", ["2010", "3", "2", "5", "*"]),
        ("Um *x*, __y z__! ***w***, m*l e a_b.", ["*", "__", "***", "a_b"]),
        ("O [a b](c.html) e o [d] (e) e f](g)", ["[", "](c.html)", "](g)"]),
        ("foo_bar(x, f(y)), os.path.join(a, b).", ["foo_bar(x, f(y))", "os.path.join(a, b)"]),
        ("print(\"olá\"), f('x') e x.append(1)", ['print("olá")', "f('x')", "x.append(1)"]),
        ("J. R. R. Tolkien e A. B. Costa, vitamina C. A Ou E.U.A. S", ["J. R. R. Tolkien", "A. B. Costa"]),
        ("aluno(a), os(as), Dr.(a), caro.a(s), S.A.(Lisboa), foo(x", []),  # no calls
        ("Chegou.Depois(o homem) saiu. E. U. A. Depois S. A. Agora", []),
        ("São Paulo é de S. João e são do São Tomé.", ["São Paulo", "S. João", "São Tomé"]),
        ("O método __init__ de **A**", ["__init__", "**"]),
    ],
)
def test_entities_are_found(text: str, entities: list[str]) -> None:
    masked, found = mask(text)
    assert found == entities
    symbols = dict.fromkeys(sign for sign in masked if sign in PLACEHOLDERS)
    assert list(symbols) == list(PLACEHOLDERS[: len(entities)])
    assert unmask(masked, found) == text


def test_emphasis_may_end_after_a_colon_or_a_sign() -> None:
    assert mask("**Nota:** um *dois;* três: *") == ("❶Nota:❶ um ❷dois;❷ três: ❷", ["**", "*"])
    assert mask("**15 %** ou *3 €*") == ("❶❷❶ ou ❸❹❸", ["**", "15 %", "*", "3 €"])


def test_a_number_is_written_as_in_the_target_language() -> None:
    for source, target in [
        ("1.234.567,89", "1,234,567.89"),
        ("R$ 12.500", "R$ 12,500"),
        ("-3,75%", "-3.75%"),
        ("2 500,5", "2 500.5"),
        ("2,5-3,5", "2.5-3.5"),
        ("2,5 * 2 = 1.005", "2.5 * 2 = 1,005"),
        ("18h30", "18:30"),
        ("1,5 x 2,5m", "1.5 x 2.5m"),
    ]:
        assert in_notation(source, ("pt", "en")) == target
        assert in_notation(target, ("en", "pt")) == source.replace("h", ":")
    for same in (
        "12/03/2024",
        "1.2.2024",
        "10.30",
        "1,2,3",
        "0.125",
        "912 345 678",
        "https://a.pt/1.000",
        "v1.000",
    ):
        assert in_notation(same, ("pt", "en")) == same
    for identifier in ("192.168.100.200", "123.456.789-09", "12.345.678/0001-95", "12.345-6", "12.345/2020"):
        assert in_notation(identifier, ("pt", "en")) == identifier
    assert in_notation("1.000-2.000", ("pt", "en")) == "1,000-2,000"
    assert in_notation("1.000,5", ("pt", "es")) == "1.000,5"
    ordinals = [in_notation(each, ("pt", "en")) for each in ("1.º", "42.ª", "3º", "13.º", "111º")]
    assert ordinals == ["1st", "42nd", "3rd", "13th", "111th"]


def test_a_text_reads_like_this() -> None:
    assert mask("5 e 7, depois 5.") == ("❶ e ❷, depois ❶.", ["5", "7"])
    assert unmask("7: ❷, 5: ❶, ❸", ["five", "seven"]) == "7: seven, 5: five, ❸"


def test_any_text_is_restored() -> None:
    random = Random(1)
    signs = [*"ab 1.,:/-{}%$s#@", *PLACEHOLDERS, "😀", "\u200d", "\ufe0f", "http://", "12", "é"]
    for _ in range(5_000):
        text = "".join(random.choices(signs, k=random.randint(0, 30)))
        assert unmask(*mask(text)) == text


@pytest.mark.parametrize(
    "part", [" 000", " + 1", " - 1", " x 1", ".a", "a/", "_a", "a_b(", "('", "[a](", "*a", "J. S. "]
)
def test_long_rows_take_linear_time(part: str) -> None:
    text = "1" + part * 200_000 + "x"  # a quadratic pattern takes hours
    assert unmask(*mask(text)) == text


def test_of_more_than_ten_entities_ten_are_masked_and_placeholders_first() -> None:
    text = ", ".join(map(str, range(100, 115))) + " ❸"
    masked, found = mask(text)
    assert found == ["❸", *map(str, range(100, 109))]
    assert unmask(masked, found) == text


def test_a_pair_has_the_same_placeholders_on_both_sides() -> None:
    assert mask_pair("O 5 e o 7 de 5", "5 of 7, and 5") == ("O ❶ e o ❷ de ❶", "❶ of ❷, and ❶")
    assert mask_pair("5 😀", "😀 5", PLACEHOLDERS[::-1]) == ("❿ ❾", "❾ ❿")
    # 3.5 is written 3,5 in Portuguese, and a 2 is missing: they stay.
    assert mask_pair("2 e 2 são 3,5 #A#", "2 is 3.5 #A#") == ("2 e 2 são 3,5 ❶", "2 is 3.5 ❶")
    # A placeholder of the text that cannot be masked would be taken for another one.
    assert mask_pair("5 ❶", "5") == ("5 ❶", "5")
    assert mask_pair("5 ❷", "❷ 5") == ("❷ ❶", "❶ ❷")


def test_importing_the_module_loads_no_numpy() -> None:
    program = "import sys, ptenmt.data.placeholders; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
