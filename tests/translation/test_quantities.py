import pytest

from ptenmt.translation.safeguards.quantities import quantities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dívida é de 300 mil milhões.", ["300 billion"]),
        ("O PIB cresceu 2,3 mil milhões de euros.", ["2.3 billion euros"]),
        ("São 5 milhões de pessoas e 300 mil carros.", ["5 million", "300,000"]),
        ("Custa R$ 2,5 mil ou R$ 2,5 bi.", ["R$ 2,500", "R$ 2.5 billion"]),
        ("Um bilião de euros, 2 biliões, 3 trilhões.", ["One trillion euros", "2 trillion", "3 trillion"]),
        ("Tem 2 m de comprimento, 1,80 m e 30 cm.", ["2 m", "1.80 m", "30 cm"]),
        ("Mede 85 x 60 cm, 1,5x2 m e 3 x 4.", ["85 x 60 cm", "1.5x2 m"]),
        ("Estavam 20 ºC a 90 km/h.", ["20 °C", "90 km/h"]),
        ("Abre às 14h, das 8h às 9h; demora 8h.", ["14:00", "8:00", "9:00"]),
        ("Para as 16h, entre as 13h e as 14h. Até às 22h.", ["16:00", "13:00", "14:00", "22:00"]),
        ("A Lei n.º 12.965 e o nº 3.", ["No. 12,965", "No. 3"]),
        ("No século XVIII e no séc. XI.", ["18th", "11th century"]),
        (
            "O século 18, o século V a.C. e o séc. II d.C.",
            ["18th century", "5th century BC", "2nd century AD"],
        ),
        ("Século XXI: um mundo novo", ["21st century"]),
        (
            "“Século XX”. Séc. V, século III d.C., e o século XIX.",
            ["20th century", "5th century", "3rd century AD", "19th"],
        ),
        ("Sécs. XV e XVI. Nos sécs. IX-XI.", ["15th", "16th", "9th", "11th"]),
        ("Um milhão e meio de euros, dois mil milhões.", ["One and a half million euros", "two billion"]),
        ("Abre às 14 h, 2 h antes.", ["14:00"]),
        ("Nos séculos XV, XVI e XXI.", ["15th", "16th", "21st"]),
        ("Luís XIV, D. Pedro I e João XXIII.", ["XIV", "I", "XXIII"]),
        ("São 2 a 3 e 5 a cada dia, 3 mais 4 gatos.", []),
        ("Mil obrigados! Ele civil, o Vi e a IC.", []),
        ("O SÉCULO XX ACABOU.", ["20TH CENTURY"]),
        ("A festa foi no 25 de dezembro, no 5.º andar, no 1º lugar. No 3 e no 2.", ["25 December"]),
        ("A Lei N.º 7, o n° 8 e os n.os 9.", ["No. 7", "No. 8"]),
        ("Espere até 48 h, até 12 h. Às 25 h, às 99h; das 24 h.", []),
        ("Aberto até 20h, às 9 h e às 23h.", ["20:00", "9:00", "23:00"]),
        ("São 2 milhões e meio de euros, R$ 3 mil e meio.", ["2.5 million euros", "R$ 3,500"]),
        ("Dois mil milhões e meio e 1.500 milhões e meio.", ["Two and a half billion", "1,500.5 million"]),
        ("São 3 milhões e meia dúzia, 2,3 milhões e meio.", ["3 million"]),
        ("São 10 mil e 500 euros, 10 mil e 20 mil.", ["500 euros", "10,000", "20,000"]),
        ("CAPÍTULO XVIII, DO SÉCULO V.", ["XVIII", "5TH CENTURY"]),
        ("VI MIL GATOS, X MIL E A IC CIVIL.", []),
        ("PESA 5 KG A 90 KM/H E 3 A.", ["5 KG", "90 KM/H"]),
        ("DÍVIDA CHEGA A 3 BILIÕES DE EUROS", ["3 TRILLION EUROS"]),
        ("PREÇO: 2,3 MIL MILHÕES DE EUROS, 5 MIL", ["2.3 BILLION EUROS", "5,000"]),
        ("FECHA ÀS 19H30 OU ÀS 20H NA SALA N.º 3.", ["19:30", "20:00", "NO. 3"]),
        ("Governo Investe 3 Mil Milhões De Euros", ["3 Billion Euros"]),
        ("São 1200 euros, 1 euro, 50 centavos.", ["1200 euros", "1 euro", "50 cents"]),
        ("São 16 mil milhões de dólares, 32 mil reais.", ["16 billion dollars", "32,000 reais"]),
        ("São 5 milhões de dólares canadianos, 5 libras turcas.", ["5 million"]),
        ("De 3 a 5 por mil; 3 por mil euros.", ["5 per thousand"]),
        ("A 05 de março de 2025, 3 de Junho e 32 de maio.", ["5 March 2025", "3 June"]),
        ("Em 3 de junho, no dia 5 de maio.", ["On 3 June", "on 5 May"]),
        (
            "Na 4ª feira. A 3ª feira, 6.ª feira e 2.ª-feira. A segunda-feira.",
            ["On Wednesday", "Tuesday", "Friday", "Monday"],
        ),
        ("A 3.ª Feira do Livro, a 7.ª feira.", []),
        (
            "Nos anos 80 e 90, nos anos 1980, nos anos 2020 e 2021, nos anos 2010.",
            ["In the 80s", "90s", "in the 1980s", "in the 2010s"],
        ),
        ("Tem 80 anos; há 20 anos 30 pessoas.", []),
        ("Nos últimos anos 50 pessoas, todos os anos 50 crianças, muitos anos 30 homens.", []),
        ("Todos os anos 20 mil pessoas.", ["20,000"]),
        ("Os anos 80 e o fim dos anos 90.", ["80s", "90s"]),
        ("Às 10h da manhã seguinte.", ["10:00"]),
        ("No século XVI, D. João reinou.", ["16th"]),
        ("9h00-12h30, 8h da manhã, 3h.", ["9:00", "12:30", "8:00 in the morning"]),
    ],
)
def test_quantities_are_written_as_in_english(text: str, expected: list[str]) -> None:
    assert [quantity.target for quantity in quantities(text, ("pt", "en"))] == expected
    assert quantities(text, ("en", "pt")) == quantities(text, ("pt", "es")) == []
