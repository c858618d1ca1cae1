"""The words: nouns by what they name, adjectives by what they describe.

Add a word by adding it to a row. `portuguese gender = english`, with irregular plurals after a slash
(`pão/pães m = bread`); adjectives as `masculine = english`, with an irregular feminine after a slash and a
comparative that is not `more …` after the English.
"""

from dataclasses import dataclass

from tools.demo_corpus import english, portuguese
from tools.demo_corpus.features import NOTHING, Gender, Pair

_NOUNS = """
fruit: maçã f = apple, laranja f = orange, banana f = banana, pera f = pear, tomate m = tomato/tomatoes
meal: bolo m = cake, sopa f = soup, salada f = salad, pizza f = pizza
provision: pão/pães m = bread, queijo m = cheese, arroz m = rice, carne f = meat, fruta f = fruit
ingredient: arroz m = rice, carne f = meat, peixe m = fish, frango m = chicken, massa f = pasta
drink: água f = water, leite m = milk, café m = coffee, chá m = tea, sumo m = juice
clothes: casaco m = coat, camisa f = shirt, vestido m = dress, chapéu m = hat, saia f = skirt
furniture: mesa f = table, cadeira f = chair, cama f = bed, espelho m = mirror, armário m = closet
device: computador m = computer, telemóvel m = phone, relógio m = clock, câmara f = camera
device: impressora f = printer
device: televisão f = television, frigorífico m = fridge, máquina f = machine, motor m = engine
device: rádio m = radio
learner: modelo m = model, programa m = program, sistema m = system, robô m = robot
learner: algoritmo m = algorithm
vehicle: carro m = car, bicicleta f = bicycle, barco m = boat, camião m = truck, mota f = motorcycle
trip: comboio m = train, autocarro m = bus, avião m = plane, táxi m = taxi
small: chave f = key, carteira f = wallet, mala f = suitcase, caneta f = pen, mapa m = map
small: bilhete m = ticket, passaporte m = passport, guarda-chuva m = umbrella, lápis m = pencil
small: caderno m = notebook
kitchenware: prato m = plate, copo m = glass, garfo m = fork, faca f = knife/knives, colher f = spoon
breakable: prato m = plate, copo m = glass, janela f = window, espelho m = mirror, câmara f = camera
opening: porta f = door, janela f = window, gaveta f = drawer, caixa f = box
book: livro m = book, revista f = magazine, jornal m = newspaper, dicionário m = dictionary
text: carta f = letter, mensagem f = message, relatório m = report, artigo m = article, poema m = poem
text: história f = story
show: filme m = movie, concerto m = concert, jogo m = game
project: projeto m = project, trabalho m = job, curso m = course, viagem f = trip
problem: problema m = problem, exercício m = exercise, mistério m = mystery
idea: ideia f = idea, regra f = rule, plano m = plan, pergunta f = question, resposta f = answer
idea: teoria f = theory
language: língua f = language, canção f = song, lição f = lesson
bill: conta f = bill, renda f = rent, multa f = fine
pet: cão/cães m = dog, gato m = cat, cavalo m = horse, coelho m = rabbit, pássaro m = bird
beast: vaca f = cow, ovelha f = sheep/sheep, macaco m = monkey, elefante m = elephant, leão m = lion
beast: urso m = bear, rato m = mouse/mice
critter: pato m = duck, galinha f = chicken, tartaruga f = turtle, borboleta f = butterfly
room: cozinha f = kitchen, quarto m = bedroom, sala f = living room
room: casa de banho/casas de banho f = bathroom
room: escritório m = office, garagem f = garage
place: casa f = house, escola f = school, hospital m = hospital, loja f = store, hotel m = hotel
place: museu m = museum
place: biblioteca f = library, restaurante m = restaurant, igreja f = church, apartamento m = apartment
sight: cidade f = city, museu m = museum, praia f = beach, aldeia f = village, parque m = park
sight: ilha f = island
sight: jardim m = garden, rua f = street, montanha f = mountain, ponte f = bridge
shop: banco m = bank, museu m = museum, mercado m = market, biblioteca f = library, loja f = store
shop: restaurante m = restaurant, farmácia f = pharmacy, padaria f = bakery, piscina f = pool
gift: livro m = book, anel/anéis m = ring, bicicleta f = bicycle, caneta f = pen, presente m = gift
gift: bola f = ball
gift: chapéu m = hat, camisa f = shirt, fotografia f = photo, brinquedo m = toy, flor f = flower
person: médico m = doctor, médica f = doctor, professor m = teacher, professora f = teacher
person: aluno m = student
person: aluna f = student, vizinho m = neighbor, vizinha f = neighbor, enfermeira f = nurse
person: advogado m = lawyer
person: homem m = man/men, mulher f = woman/women, rapaz m = boy, rapariga f = girl
person: criança f = child/children
person: engenheira f = engineer, cozinheiro m = cook, diretora f = director
worker: médico m = doctor, professor m = teacher, enfermeiro m = nurse, advogado m = lawyer
worker: cozinheiro m = cook
worker: engenheiro m = engineer, diretor m = director, pintor m = painter, escritor m = writer
worker: cantor m = singer
relative: pai m = father, mãe f = mother, irmão/irmãos m = brother, irmã f = sister, avô m = grandfather
relative: avó f = grandmother, tio m = uncle, tia f = aunt, filho m = son, filha f = daughter
relative: primo m = cousin
youth: irmão/irmãos m = brother, irmã f = sister, filho m = son, filha f = daughter, primo m = cousin
relative: prima f = cousin, amigo m = friend, amiga f = friend, colega m = colleague
organ: cabeça f = head, barriga f = stomach, garganta f = throat
limb: perna f = leg, mão/mãos f = hand, braço m = arm, pé m = foot/feet, dente m = tooth/teeth
limb: joelho m = knee, olho m = eye
"""

_ADJECTIVES = """
trait: alto = tall/taller, baixo = short/shorter, simpático = nice/nicer, inteligente = smart/smarter
trait: jovem = young/younger, forte = strong/stronger, famoso = famous, calmo = calm/calmer
trait: tímido = shy/shyer
trait: honesto = honest, rico = rich/richer, pobre = poor/poorer, paciente = patient, teimoso = stubborn
mood: cansado = tired, contente = happy, triste = sad, doente = sick, ocupado = busy, nervoso = nervous
mood: preocupado = worried, zangado = angry, confuso = confused
condition: sozinho = alone, pronto = ready, atrasado = late
nature: grande = big/bigger, pequeno = small/smaller, bonito = beautiful, rápido = fast/faster
nature: velho = old/older
goods: novo = new/newer, velho = old/older, caro = expensive, barato = cheap/cheaper, bonito = beautiful
goods: grande = big/bigger, pequeno = small/smaller, feio = ugly/uglier, bom/boa = good/better
size: grande = big/bigger, pequeno = small/smaller, bonito = beautiful, moderno = modern, antigo = ancient
color: vermelho = red, azul = blue, verde = green, branco = white, preto = black, amarelo = yellow
color: castanho = brown
color: cinzento = gray
tech: novo = new/newer, rápido = fast/faster, lento = slow/slower, útil = useful, moderno = modern
tech: caro = expensive
tech: simples/simples = simple/simpler, bom/boa = good/better, mau/má = bad/worse
tech: complicado = complicated
mental: difícil = difficult, fácil = easy/easier, interessante = interesting, importante = important
mental: simples/simples = simple/simpler, complicado = complicated, estranho = strange/stranger
mental: longo = long/longer, curto = short/shorter, aborrecido = boring, divertido = fun
story: interessante = interesting, longo = long/longer, curto = short/shorter, aborrecido = boring
story: divertido = fun, bonito = beautiful
taste: delicioso = delicious, frio = cold, quente = hot, bom/boa = good/better
ripe: maduro = ripe, doce = sweet/sweeter, bom/boa = good/better
tidy: limpo = clean, sujo = dirty
filled: vazio = empty, cheio = full
shut: aberto = open, fechado = closed
cracked: partido = broken
broken: avariado = broken, ligado = on, desligado = off
good goods: bonito = beautiful, bom/boa = good, novo = new
bad goods: caro = expensive, pequeno = small
good tech: rápido = fast, útil = useful, moderno = modern, bom/boa = good
bad tech: caro = expensive, complicado = complicated
good mental: interessante = interesting, importante = important, divertido = fun
bad mental: difícil = difficult, longo = long, complicado = complicated, estranho = strange
"""

_NAMES: dict[Gender, str] = {
    "m": "João Pedro Rui Paulo Tiago Miguel Manuel Daniel",
    "f": "Ana Maria Sofia Marta Joana Catarina Helena Rita",
}


@dataclass(frozen=True)
class Noun:
    """A noun in both languages.

    Attributes:
        gender: Its Portuguese gender.
        singular: Both singulars.
        plural: Both plurals.
    """

    gender: Gender
    singular: Pair
    plural: Pair


@dataclass(frozen=True)
class Adjective:
    """An adjective in both languages.

    Attributes:
        pt: The Portuguese masculine and feminine singular.
        en: The English adjective.
        comparative: The English comparative, `more …` if it has no form of its own.
    """

    pt: tuple[str, str]
    en: str
    comparative: str


def _noun(entry: str) -> Noun:
    left, en = entry.split(" = ")
    pt, gender = left.rsplit(" ", 1)
    pt_singular, _, pt_plural = pt.partition("/")
    en_singular, _, en_plural = en.partition("/")
    return Noun(
        gender="f" if gender == "f" else "m",
        singular=Pair(pt_singular, en_singular),
        plural=Pair(pt_plural or portuguese.plural(pt_singular), en_plural or english.add_s(en_singular)),
    )


def _adjective(entry: str) -> Adjective:
    pt, en = entry.split(" = ")
    masculine, _, feminine = pt.partition("/")
    positive, _, comparative = en.partition("/")
    forms = (masculine, feminine or portuguese.feminine(masculine))
    return Adjective(forms, positive, comparative or f"more {positive}")


def _rows(table: str) -> dict[str, list[str]]:
    """Gather the entries of a table by the word before the colon."""
    rows: dict[str, list[str]] = {}
    for line in table.strip().splitlines():
        kind, entries = line.split(": ")
        rows.setdefault(kind, []).extend(entries.split(", "))
    return rows


NOUNS = {kind: tuple(map(_noun, entries)) for kind, entries in _rows(_NOUNS).items()}
ADJECTIVES = {kind: tuple(map(_adjective, entries)) for kind, entries in _rows(_ADJECTIVES).items()}
NAMES = tuple(Noun(gender, Pair(name, name), NOTHING) for gender in _NAMES for name in _NAMES[gender].split())
