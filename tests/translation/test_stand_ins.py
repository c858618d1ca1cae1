"""Weekdays and numbers in words: what the model reads in their place, and what they become."""

from dataclasses import replace

import pytest

from ptenmt.config import Config, DataConfig, DecodingConfig
from ptenmt.tokenizers import UNK
from ptenmt.translation.safeguards.numerals import numbers_in_words
from ptenmt.translation.safeguards.quantities import quantities
from ptenmt.translation.safeguards.stand_ins import StandIns
from ptenmt.translation.sentence import Search, Sentence
from ptenmt.translation.spans import Span, placed, source_text


class Known:
    """A tokenizer of words that knows all but one."""

    def encode(self, words: list[str]) -> list[list[int]]:
        return [[UNK] if word == "sete" else [5] for word in words]


def read(text: str, config: Config | None = None) -> tuple[str, list[str | None]]:
    """What the model reads of a sentence, and what stands in the translation for the words it reads."""
    sentence = Sentence(original=text, search=Search(DecodingConfig()))
    StandIns(Known(), config or Config()).before(sentence)
    return source_text(text, sentence.spans)[0], [span.target for span in sentence.spans if span.target]


@pytest.mark.parametrize(
    ("text", "source", "targets"),
    [
        ("Fecha às segundas-feiras.", "Fecha aos domingos.", ["Mondays"]),
        ("Na quinta-feira passada, sim.", "No domingo passado, sim.", ["Thursday"]),
        ("A QUARTA-FEIRA", "O DOMINGO", ["WEDNESDAY"]),
        ("Quarta-feira é hoje.", "Domingo é hoje.", ["Wednesday"]),
        ("Às terças e quintas-feiras.", "Aos domingos e sábados.", ["Tuesdays", "Thursdays"]),
        ("Na quarta-feira ou no domingo.", "No sábado ou no domingo.", ["Wednesday"]),
        ("Na segunda, terça e quarta-feira.", "Na segunda, domingo e sábado.", ["Tuesday", "Wednesday"]),
        ("Vemo-nos na próxima quinta.", "Vemo-nos no próximo domingo.", ["Thursday"]),
        ("Às quintas há música.", "Aos domingos há música.", ["Thursdays"]),
        ("Da terça-feira, pela sexta-feira.", "Do domingo, pelo sábado.", ["Tuesday", "Friday"]),
        ("Ficou em quarta, na quinta posição.", "Ficou em quarta, na quinta posição.", []),
        ("A segunda parte, a terça parte.", "A segunda parte, a terça parte.", []),
        ("Vive numa quinta, na quinta da avó.", "Vive numa quinta, na quinta da avó.", []),
        ("Tenho trinta e cinco anos.", "Tenho oito anos.", ["thirty-five"]),
        ("Oito gatos e vinte e dois reis.", "Oito gatos e seis reis.", ["twenty-two"]),
        ("Mil e duzentas pessoas.", "Oito pessoas.", ["1,200"]),
        ("VINTE E DOIS ANOS", "OITO ANOS", ["TWENTY-TWO"]),
        ("Dezassete gatos e cem reis.", "Oito gatos e seis reis.", ["Seventeen", "100"]),
        (
            "Milhares de gatos, meia dúzia de ovos.",
            "Oito gatos, seis ovos.",
            ["Thousands of", "half a dozen"],
        ),
        ("A décima segunda casa.", "A terceira casa.", ["12th"]),
        ("Três quartos dos alunos, três quartos.", "Três terços dos alunos, três quartos.", ["quarters"]),
        ("Segunda feira, a segunda feira do livro.", "Domingo, a segunda feira do livro.", ["Monday"]),
        ("A aula de terça é até quinta!", "A aula de domingo é até sábado!", ["Tuesday", "Thursday"]),
        ("Vou na sexta; na quarta de manhã.", "Vou no sábado; no domingo de manhã.", ["Friday", "Wednesday"]),
        ("Terça – Português", "Domingo – Português", ["Tuesday"]),
        ("A sexta vez, a terça parte, na quinta.", "A sexta vez, a terça parte, na quinta.", []),
        ("Falei com Rui P. Matos e Ana Sá.", "Falei com Tom e Mary.", ["Rui P. Matos", "Ana Sá"]),
        ("Tom viu o José da Silva em Braga.", "Tom viu o John em Boston.", ["José da Silva", "Braga"]),
        (
            "O São Paulo Futebol Clube, Santa Maria da Feira",
            "O São Paulo Futebol Clube, Santa Maria da Feira",
            [],
        ),
        ("O porto, o Porto de Leixões; José foi.", "O porto, o Porto de Leixões; José foi.", []),
        ("Maria Vai Às Compras De Manhã", "Maria Vai Às Compras De Manhã", []),
        (
            "Às segundas, quartas e sextas.",
            "Aos sábados, domingos e sextas-feiras.",
            ["Mondays", "Wednesdays"],
        ),
        (
            "Na noite de sexta fomos; na quarta; na sexta e hoje.",
            "Na noite de sábado fomos; no domingo; na sexta-feira e hoje.",
            ["Friday", "Wednesday"],
        ),
        ("No 3.º trimestre, no 4.º.", "No terceiro trimestre, no 4.º.", ["3rd"]),
        ("Um milhão e meio de gatos.", "Oito gatos.", ["one and a half million"]),
        (
            "As aulas de terça e quinta começam.",
            "As aulas de domingo e sábado começam.",
            ["Tuesday", "Thursday"],
        ),
        (
            "Consulta: quinta, 14h30 (sexta, 20 de maio)",
            "Consulta: domingo, 14h30 (sábado, 20 de maio)",
            ["Thursday", "Friday"],
        ),
        ("Vinte e dois reais", "Oito euros", ["Twenty-two", "reais"]),
        ("Chega ao meio-dia, até ao meio-dia.", "Chega às dez, até às dez.", ["noon", "noon"]),
        ("O meio-dia e meia.", "O meio-dia e meia.", []),
        ("Em a/c/d, https://a.b/c/ e Máximo.", "Em a/c/d, https://a.b/c/ e Máximo.", []),
        ("Uma colher de chá quente.", "Uma colher de chá quente.", []),
    ],
)
def test_the_model_reads_words_that_it_knows(text: str, source: str, targets: list[str]) -> None:
    assert read(text) == (source, targets)


def test_there_are_stand_ins_in_portuguese_only_and_not_over_entities() -> None:
    text = "Na quinta-feira, 5 c/ vista."
    assert read(text, Config(data=DataConfig(reverse=True))) == (text, [])
    sentence = Sentence(original="De segunda a sexta-feira.", search=Search(DecodingConfig()))
    taken = replace(_span_of_all(sentence), kind="number")
    sentence.spans = (taken,)
    StandIns(Known(), Config()).before(sentence)
    assert sentence.spans == (taken,)


def _span_of_all(sentence: Sentence):

    return Span(0, len(sentence.original) - 1, "number", "", "Monday to Friday")


@pytest.mark.parametrize(
    ("text", "counting", "others"),
    [
        ("Entre vinte e três e trinta e dois gatos.", ["thirty-two"], ["twenty-three"]),
        ("Em mil novecentos e oitenta e quatro.", [], ["1984"]),
        ("Desde dois mil e vinte e seis não chove.", ["2,026"], []),
        ("Desde dois mil e vinte e seis foi assim.", [], ["2026"]),
        ("São duzentos e cinquenta horas, (vinte e quatro) meses.", [], ["250", "twenty-four"]),
        ("Dois milhões e trezentos mil euros", ["2,300,000"], []),
        ("Catorze gatos, cem mil gatos", ["Fourteen", "100,000"], []),
        ("Doze, vinte, mil, duzentos, um e dois, seis e sete gatos", [], []),
        ("São 2 mil e quinhentas pessoas; um milhão e meio de gatos.", [], []),
        ("O vigésimo primeiro gato, cento e tal, trinta e poucos; 5 dezoito avos.", [], []),
        ("Vinte e sete por cento, cem por cento de lã", [], ["Twenty-seven percent", "100 percent"]),
    ],
)
def test_numbers_of_several_words(text: str, counting: list[str], others: list[str]) -> None:
    assert [number.target for number in numbers_in_words(text, counting=True)] == counting
    assert [number.target for number in numbers_in_words(text, counting=False)] == others


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Às três e meia da tarde, das nove e um quarto.", ["3:30 in the afternoon", "9:15"]),
        ("Às dezoito horas; às oito horas. São dez e vinte e cinco.", ["18:00", "10:25"]),
        ("Eram dez para as oito.", ["It was ten to eight"]),
        ("Faltam vinte e cinco para a uma da manhã.", ["It is twenty-five to one in the morning"]),
        ("Chega às um quarto para o meio-dia.", ["at a quarter to noon"]),
        ("À meia-noite e meia, ao meio-dia e meia.", ["half past midnight", "half past noon"]),
        ("À uma e meia, às duas e três pessoas.", ["1:30"]),
        (
            "De seg. a sex.; sáb. até às 13h, dom. e feriados.",
            ["From Monday to Friday", "Saturday", "13:00", "Sunday"],
        ),
        ("Às sete menos um quarto, às onze menos dez.", ["a quarter to seven", "ten to eleven"]),
        ("Sai às quinze para as seis, às 8 e meia.", ["at a quarter to six", "8:30"]),
        ("Das oito da manhã às dez da noite.", ["From eight in the morning to ten at night"]),
        ("Entre as nove e as cinco; à meia-noite e quinze.", ["Between nine and five", "0:15"]),
        ("No dia 20, até ao dia 7; no dia 5 de maio.", ["On the 20th", "the 7th", "on 5 May"]),
        ("Dia 12/05 (dom.)", ["Sunday"]),
        ("Às duas da tarde; 9h–19h; 2h-3h; quinta, 10h.", ["At two in the afternoon", "9:00–19:00", "10:00"]),
        ("Três anos e meio, uma hora e um quarto.", ["three and a half years", "an hour and a quarter"]),
        ("Um mês e meio, dez meses e meio.", ["a month and a half", "ten and a half months"]),
        (
            "O Papa Pio XII, o papa Francisco e João Paulo II.",
            ["Pope Pius XII", "Pope Francis", "John Paul II"],
        ),
        ("A II Guerra Mundial; a ata n.º 7 da Associação.", ["World War II", "No. 7 of the"]),
        ("Tem de ser. Ter. Sex. Dom. Pedro.", []),
    ],
)
def test_times_in_words(text: str, expected: list[str]) -> None:
    assert [quantity.target for quantity in quantities(text, ("pt", "en"))] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R$ 2.350,00 (dois mil, trezentos e cinquenta reais)", ["2,350 reais"]),
        ("800,00 € (oitocentos euros e dez cêntimos)", ["800 euros and ten cents"]),
        ("2% (dois por cento) em 90 (noventa) dias e 3 (três) meses", ["two percent", "ninety", "three"]),
        ("3,5% (três vírgula cinco por cento)", ["3.5 percent"]),
        ("5 (só cinco) e 3 (três gatos)", []),
    ],
)
def test_amounts_in_words_after_their_digits(text: str, expected: list[str]) -> None:
    found = [quantity.target for quantity in quantities(text, ("pt", "en"))]
    assert [target for target in found if not target.startswith("R$")] == expected


def test_what_a_model_surely_writes_for_a_stand_in_gives_the_place() -> None:
    words, source = ["The", " Boston", " Hospital"], ["O", " Hospital", " de", " Boston"]
    attention = [[0.1, 0.3, 0.3, 0.3], [0.1, 0.8, 0.0, 0.1], [0.0, 0.1, 0.0, 0.9]]
    sentence = Sentence(original="O Hospital de Braga", search=Search(DecodingConfig()))
    StandIns(Known(), Config()).before(sentence)
    text, aligned = source_text(sentence.original, sentence.spans)
    assert text == "".join(source)
    assert placed(words, source, attention, aligned) == "The Braga Hospital"
    words[1] = " Boston's"
    assert placed(words, source, attention, aligned) == "The Braga's Hospital"
