import pytest

from ptenmt.translation.safeguards.quantities import quantities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dívida é de 300 mil milhões.", ["300 billion"]),
        ("O PIB cresceu 2,3 mil milhões de euros.", ["2.3 billion"]),
        ("São 5 milhões de pessoas e 300 mil carros.", ["5 million", "300,000"]),
        ("Custa R$ 2,5 mil ou R$ 2,5 bi.", ["R$ 2,500", "R$ 2.5 billion"]),
        ("Um bilião de euros, 2 biliões, 3 trilhões.", ["One trillion", "2 trillion", "3 trillion"]),
        ("Tem 2 m de comprimento, 1,80 m e 30 cm.", ["2 m", "1.80 m", "30 cm"]),
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
        ("Um milhão e meio de euros, dois mil milhões.", ["One and a half million", "two billion"]),
        ("Abre às 14 h, 2 h antes.", ["14:00"]),
        ("Nos séculos XV, XVI e XXI.", ["15th", "16th", "21st"]),
        ("Luís XIV, D. Pedro I e João XXIII.", ["XIV", "I", "XXIII"]),
        ("São 2 a 3 e 5 a cada dia, 3 mais 4 gatos.", []),
        ("Mil obrigados! Ele civil, o Vi e a IC.", []),
        ("O SÉCULO XX ACABOU.", []),
        ("A festa foi no 25 de dezembro, no 5.º andar, no 1º lugar. No 3 e no 2.", []),
        ("A Lei N.º 7, o n° 8 e os n.os 9.", ["No. 7", "No. 8"]),
        ("Espere até 48 h, até 12 h. Às 25 h, às 99h; das 24 h.", []),
        ("Aberto até 20h, às 9 h e às 23h.", ["20:00", "9:00", "23:00"]),
        ("São 2 milhões e meio de euros, R$ 3 mil e meio.", ["2.5 million", "R$ 3,500"]),
        ("Dois mil milhões e meio e 1.500 milhões e meio.", ["Two and a half billion", "1,500.5 million"]),
        ("São 3 milhões e meia dúzia, 2,3 milhões e meio.", ["3 million"]),
        ("São 10 mil e 500 euros, 10 mil e 20 mil.", ["10,000", "20,000"]),
    ],
)
def test_quantities_are_written_as_in_english(text: str, expected: list[str]) -> None:
    assert [quantity.target for quantity in quantities(text, ("pt", "en"))] == expected
    assert quantities(text, ("en", "pt")) == quantities(text, ("pt", "es")) == []
