"""What people, animals and things do: verb phrases, and verbs by their subjects or objects.

Rows read `portuguese = english`; in a verb phrase the first word of each side is the infinitive.
"""

from dataclasses import dataclass

from tools.demo_corpus.features import Pair, words


@dataclass(frozen=True)
class Predicate:
    """A verb phrase in both languages: an infinitive and what follows it.

    Attributes:
        verb: Both infinitives.
        rest: What follows the verb, possibly nothing.
    """

    verb: Pair
    rest: Pair

    @property
    def infinitive(self) -> Pair:
        """The whole phrase with its verb in the infinitive."""
        return Pair(words(self.verb.pt, self.rest.pt), words(self.verb.en, self.rest.en))


def pairs(table: str) -> tuple[Pair, ...]:
    """Read rows of `portuguese = english`, one a line or several with semicolons between them."""
    entries = table.strip().replace("\n", ";").split(";")
    return tuple(Pair(*entry.strip().split(" = ")) for entry in entries)


def predicate(pair: Pair) -> Predicate:
    """Split a verb phrase after its verb."""
    pt_verb, _, pt_rest = pair.pt.partition(" ")
    en_verb, _, en_rest = pair.en.partition(" ")
    return Predicate(Pair(pt_verb, en_verb), Pair(pt_rest, en_rest))


def _predicates(table: str) -> tuple[Predicate, ...]:
    return tuple(map(predicate, pairs(table)))


HOME_ACTIVITIES = _predicates("""
lavar a loiça = wash the dishes; limpar a cozinha = clean the kitchen
arrumar o quarto = tidy up the bedroom
fazer o jantar = make dinner; pôr a mesa = set the table; lavar a roupa = do the laundry
descansar no sofá = rest on the couch; dormir no sofá = sleep on the couch; beber café = drink coffee
beber água = drink water; comer fruta = eat fruit; comer peixe = eat fish
jantar em casa = have dinner at home
tomar o pequeno-almoço = have breakfast; cozinhar para a família = cook for the family
estudar matemática = study math; estudar para o exame = study for the exam
aprender inglês = learn English
aprender português = learn Portuguese; fazer os trabalhos de casa = do the homework
ler o jornal = read the newspaper; ler um livro = read a book; ouvir música = listen to music
ver televisão = watch TV; ver um filme = watch a movie; jogar xadrez = play chess
tocar piano = play the piano
tocar guitarra = play the guitar; pintar quadros = paint pictures; escrever cartas = write letters
escrever mensagens = write messages; trabalhar em casa = work at home
usar o computador = use the computer
""")
OUTDOOR_ACTIVITIES = _predicates("""
regar as plantas = water the plants; almoçar no restaurante = have lunch at the restaurant
falar com os vizinhos = talk to the neighbors; jogar futebol = play soccer
andar de bicicleta = ride a bike
nadar na piscina = swim in the pool; nadar no mar = swim in the sea; correr no parque = run in the park
passear na praia = walk on the beach; tirar fotografias = take photos
brincar com o cão = play with the dog
brincar no jardim = play in the garden; comprar fruta no mercado = buy fruit at the market
""")
OTHER_ACTIVITIES = _predicates("""
trabalhar no escritório = work at the office; falar com os clientes = talk to the customers
preparar a reunião = prepare the meeting; cantar no coro = sing in the choir; comprar pão = buy bread
dançar com os amigos = dance with friends; viajar de comboio = travel by train; fazer exercício = exercise
esperar pelo autocarro = wait for the bus; treinar o modelo = train the model
testar o programa = test the program
""")
ACTIVITIES = (*HOME_ACTIVITIES, *OUTDOOR_ACTIVITIES, *OTHER_ACTIVITIES)

ANIMAL_ACTIVITIES = _predicates("""
dormir debaixo da árvore = sleep under the tree; beber água = drink water; comer a maçã = eat the apple
correr no campo = run in the field; descansar ao sol = rest in the sun
olhar para a porta = look at the door; fugir do rapaz = escape from the boy
""")

# What may stand before an activity, up to its infinitive.
LIKING = Pair("gostar de", "like to")
ATTITUDES = pairs("""
querer = want to; poder = can; dever = should; precisar de = need to; ter que = have to
querer = want to; ter que = have to
""")


@dataclass(frozen=True)
class Frame:
    """A transitive verb and the kinds of nouns that make sense as its object.

    Attributes:
        verb: Both infinitives, the English one with its preposition.
        kinds: The keys of `lexicon.NOUNS`.
    """

    verb: Pair
    kinds: tuple[str, ...]


def _frames(table: str) -> tuple[Frame, ...]:
    rows = (line.split(": ") for line in table.strip().splitlines())
    return tuple(Frame(verb, tuple(kinds.split())) for kinds, verbs in rows for verb in pairs(verbs))


# Verbs whose action takes time.
PROCESSES = _frames("""
fruit meal: comer = eat; comprar = buy
fruit: cortar = cut
drink: beber = drink; trazer = bring; pedir = order
clothes furniture device vehicle book: comprar = buy
furniture vehicle device: vender = sell
furniture: pintar = paint
book text: ler = read
text: escrever = write; traduzir = translate; corrigir = correct
small pet: procurar = look for
clothes kitchenware vehicle: lavar = wash
room furniture: limpar = clean
device vehicle: reparar = fix; usar = use
problem: resolver = solve; discutir = discuss
problem idea: explicar = explain
problem idea learner: estudar = study
learner: testar = test; melhorar = improve; usar = use
meal ingredient: preparar = prepare
ingredient: cozinhar = cook
sight: visitar = visit
person: ajudar = help
bill: pagar = pay
show: ver = watch
pet: alimentar = feed
pet beast critter: desenhar = draw
project: terminar = finish; preparar = prepare
""")

# Verbs whose action happens at once; they are told in the past.
EVENTS = _frames("""
small clothes: perder = lose; encontrar = find; esquecer = forget
breakable: partir = break
opening: abrir = open; fechar = close
text gift: receber = receive
pet person: ver = see; ouvir = hear
idea problem: compreender = understand
trip: perder = miss; esperar por = wait for
person: conhecer = meet
""")
# How a thing goes to another person.
GIVING = pairs("""
dar = give; mostrar = show; emprestar = lend; vender = sell; trazer = bring
""")

# What one does to people, with me, you, us as the object.
ENCOUNTERS = pairs("""
ver = see; ajudar = help; ouvir = hear; chamar = call; convidar = invite; visitar = visit
compreender = understand
""")

# How things are done.
MANNERS = {
    "quality": pairs(
        "bem = well; mal = badly; muito bem = very well; muito mal = very badly; melhor = better"
    ),
    "speed": pairs(
        "depressa = fast; devagar = slowly; muito depressa = very fast; muito devagar = very slowly"
    ),
    "smooth": pairs("sem problemas = without problems; sem erros = without mistakes"),
    "rest": pairs("bem = well; mal = badly; muito = a lot; pouco = little"),
}


@dataclass(frozen=True)
class Skill:
    """What nouns of some kinds can do in a manner.

    Attributes:
        kinds: The keys of `lexicon.NOUNS` that can do it.
        verb: Both infinitives.
        manners: The keys of `MANNERS` that suit it.
    """

    kinds: tuple[str, ...]
    verb: Pair
    manners: tuple[str, ...]


def _skills(table: str) -> tuple[Skill, ...]:
    rows = (line.split(": ") for line in table.strip().splitlines())
    return tuple(
        Skill(tuple(kinds.split()), Pair(*verb.split(" = ")), tuple(manners.split()))
        for kinds, verb, manners in rows
    )


SKILLS = _skills("""
device: funcionar = work: quality
device learner: funcionar = work: quality smooth
learner: funcionar = work: quality smooth
learner: aprender = learn: quality speed
learner: traduzir = translate: quality speed smooth
learner: responder = answer: quality speed smooth
person: aprender = learn: quality speed
person: trabalhar = work: quality speed rest
person: conduzir = drive: quality speed
person: cantar = sing: quality
person: cozinhar = cook: quality
pet: correr = run: speed
pet person: dormir = sleep: rest
pet: comer = eat: rest
vehicle: andar = go: speed
""")

# What one has to (or can, or wants to) do with something. A verb that stands twice is picked twice as often.
DUTIES = _frames("""
problem: resolver = solve; resolver = solve; discutir = discuss; compreender = understand; explicar = explain
book: ler = read; comprar = buy
text: ler = read; escrever = write; corrigir = correct; traduzir = translate
idea: explicar = explain; discutir = discuss; compreender = understand
project: terminar = finish; preparar = prepare
language: aprender = learn
learner: testar = test; melhorar = improve; usar = use
device vehicle: reparar = fix; vender = sell; comprar = buy
bill: pagar = pay
show: ver = watch
sight: visitar = visit
""")

# Participle of what has been done by somebody, and the English verb.
WORKS = _frames("""
text book: escrito = write
text: traduzido = translate; corrigido = correct
bill: pago = pay
furniture device: vendido = sell; comprado = buy
vehicle device: reparado = fix
meal: feito = make
breakable: partido = break
problem: resolvido = solve
learner: testado = test; melhorado = improve
opening: aberto = open
""")
