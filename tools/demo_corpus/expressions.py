"""Set expressions: times, places, weather, feelings, reasons. Rows read `portuguese = english`.

Prepositions and articles stay apart (`em a mesa`); the grammar contracts them.
"""

from tools.demo_corpus import verbs
from tools.demo_corpus.features import NOTHING, Pair, Tense
from tools.demo_corpus.verbs import pairs

HABITS = pairs("""
todos os dias = every day; à noite = at night; de manhã = in the morning; ao domingo = on Sundays
ao sábado = on Saturdays; todas as semanas = every week; depois do almoço = after lunch
""")
PAST_TIMES = pairs("""
ontem = yesterday; ontem à noite = last night; na semana passada = last week
no domingo passado = last Sunday
há dois dias = two days ago; esta manhã = this morning
""")
FUTURE_TIMES = pairs("""
amanhã = tomorrow; amanhã de manhã = tomorrow morning; na próxima semana = next week; esta noite = tonight
no próximo domingo = next Sunday; no sábado = on Saturday
""")
FREQUENCIES = pairs("sempre = always; nunca = never; muitas vezes = often; raramente = rarely")
DEGREES = (NOTHING, NOTHING, *pairs("muito = very; muito = very"))
MOMENTS = (NOTHING, NOTHING, *pairs("hoje = today; agora = now"))
NUMBERS = pairs(
    "dois = two; três = three; quatro = four; cinco = five; seis = six; sete = seven; oito = eight"
)
AGES = pairs("""
três = three; seis = six; oito = eight; dez = ten; doze = twelve; quinze = fifteen; vinte = twenty
trinta = thirty
""")
HOURS = pairs("""
duas = two; três = three; quatro = four; cinco = five; seis = six; sete = seven; oito = eight
nove = nine; dez = ten
""")
STATES = pairs("""
ter fome = be hungry; ter sede = be thirsty; ter sono = be sleepy; ter pressa = be in a hurry
ter medo = be afraid
ter razão = be right; ter frio = be cold; ter febre = have a fever; ter tempo = have time
ter sorte = be lucky
ter saudades de casa = be homesick
""")
WEATHER = pairs("""
está frio = it is cold; está calor = it is hot; está a chover = it is raining
está a nevar = it is snowing
está vento = it is windy; faz sol = it is sunny; não está frio = it isn't cold
está muito frio = it is very cold
não está a chover = it isn't raining; está nevoeiro = it is foggy; está muito calor = it is very hot
""")
PAST_WEATHER = pairs(
    "choveu = it rained; nevou = it snowed; choveu muito = it rained a lot; não choveu = it didn't rain"
)
NEXT_WEATHER = pairs("""
vai chover = it is going to rain; vai nevar = it is going to snow; não vai chover = it isn't going to rain
vai estar frio = it is going to be cold; vai estar calor = it is going to be hot
""")
CITIES = pairs("""
em Lisboa = in Lisbon; em o Porto = in Porto; em Portugal = in Portugal; em Londres = in London
em a montanha = in the mountains; em a praia = at the beach; em o Brasil = in Brazil; em Paris = in Paris
em a Alemanha = in Germany; em Itália = in Italy
""")
SPOTS = pairs("""
em casa = at home; em a escola = at school; em a praia = at the beach; em o jardim = in the garden
em a cozinha = in the kitchen; em o hospital = at the hospital; em o mercado = at the market
em a biblioteca = at the library; em o escritório = at the office; em a estação = at the station
em o aeroporto = at the airport; em o restaurante = at the restaurant; em o quarto = in the bedroom
""")
SURFACES = pairs("""
em cima de a mesa = on the table; debaixo de a cama = under the bed; em a cozinha = in the kitchen
em o carro = in the car; em a mala = in the suitcase; em a gaveta = in the drawer
ao lado de a porta = next to the door
em cima de a cadeira = on the chair; atrás de o sofá = behind the couch; em a caixa = in the box
""")
GOALS = pairs("""
a a praia = to the beach; a a escola = to school; a o mercado = to the market
a o hospital = to the hospital
a a biblioteca = to the library; a o cinema = to the movies; a a cidade = to the city
a o aeroporto = to the airport
para o trabalho = to work; para casa = home; a o médico = to the doctor; a o banco = to the bank
""")
MEANS = pairs("""
de comboio = by train; de autocarro = by bus; de carro = by car; de bicicleta = by bike; a pé = on foot
de táxi = by taxi; com os amigos = with friends
""")
LIKED = (
    pairs("""
    café = coffee; chá = tea; leite = milk; queijo = cheese; fruta = fruit; peixe = fish; carne = meat
    arroz = rice
    chocolate = chocolate
    """),
    pairs(
        "gatos = cats; cães = dogs; cavalos = horses; pássaros = birds; flores = flowers; animais = animals"
    ),
    pairs("""
    música = music; futebol = soccer; matemática = math; livros = books; filmes = movies
    viajar = to travel
    cozinhar = to cook; museus = museums
    """),
)
MASS = pairs("""
leite = milk; pão = bread; água = water; arroz = rice; queijo = cheese; café = coffee; fruta = fruit
chá = tea
""")
LANGUAGES = pairs("""
português = Portuguese; inglês = English; francês = French; alemão = German; espanhol = Spanish
italiano = Italian
""")

# What may be the case, and what people do then.
CONDITIONS = (
    (
        pairs("""
        se chover = if it rains; se nevar = if it snows; se não fizer sol = if it isn't sunny
        se estiver frio = if it is cold; se o restaurante estiver fechado = if the restaurant is closed
        """),
        verbs.HOME_ACTIVITIES,
    ),
    (
        pairs("""
        se fizer sol = if it is sunny; se o tempo estiver bom = if the weather is good
        se não chover = if it doesn't rain; se estiver calor = if it is hot
        se houver tempo = if there is time
        """),
        verbs.OUTDOOR_ACTIVITIES,
    ),
)
OCCASIONS = (
    (
        pairs("""
        está frio = it is cold; chove = it rains; neva = it snows; a casa está vazia = the house is empty
        a sala está vazia = the living room is empty
        """),
        verbs.HOME_ACTIVITIES,
    ),
    (
        pairs("""
        está calor = it is hot; faz sol = it is sunny; o tempo está bom = the weather is good
        não está frio = it isn't cold; não chove = it doesn't rain
        """),
        verbs.OUTDOOR_ACTIVITIES,
    ),
)
GREETINGS = pairs("""
bom dia = good morning; boa tarde = good afternoon; boa noite = good night; olá = hello
obrigado = thank you
até amanhã = see you tomorrow; até logo = see you later; parabéns = congratulations
boa viagem = have a good trip
boa sorte = good luck; desculpa = sorry; muito obrigado = thank you very much; bem-vindo = welcome
""")
NEEDS = pairs("""
ajuda = help; tempo = time; dinheiro = money; um médico = a doctor; férias = a vacation
um computador = a computer
água = water; uma resposta = an answer; silêncio = silence; um conselho = some advice
mais tempo = more time
""")
ARRIVALS = pairs(
    "chegar a casa = get home; entrar em a sala = enter the living room; abrir a porta = open the door"
)
ERRANDS = pairs("""
fechar a porta = close the door; abrir a janela = open the window; ler este livro = read this book
lavar as mãos = wash your hands; beber água = drink water; trazer o mapa = bring the map
pagar a conta = pay the bill
comprar pão = buy bread; esperar aqui = wait here; falar mais devagar = speak more slowly
comer a sopa = eat the soup
ligar a televisão = turn on the TV; desligar o computador = turn off the computer
usar este programa = use this program
escrever uma carta = write a letter; limpar o quarto = clean the bedroom
ver este filme = watch this movie
trazer as chaves = bring the keys; vender o carro = sell the car
deixar a mala aqui = leave the suitcase here
explicar o problema = explain the problem; resolver este exercício = solve this exercise
olhar para o céu = look at the sky
testar o modelo = test the model; alimentar o gato = feed the cat; brincar em a rua = play in the street
""")
# Why one is in a mood, by the masculine of its adjective.
REASONS = {
    "cansado": pairs("trabalhar muito = work a lot; dormir mal = sleep badly; correr muito = run a lot"),
    "contente": pairs("""
    ganhar o jogo = win the game; passar em o exame = pass the exam; encontrar as chaves = find the keys
    """),
    "triste": pairs("""
    perder o jogo = lose the game; perder a carteira = lose the wallet; partir o copo = break the glass
    """),
    "zangado": pairs("""
    perder o comboio = miss the train; perder o passaporte = lose the passport
    esperar muito = wait a long time
    """),
    "doente": pairs(
        "comer demasiado = eat too much; comer mal = eat badly; beber água suja = drink dirty water"
    ),
    "atrasado": pairs("""
    perder o autocarro = miss the bus; dormir até tarde = sleep late; esquecer o mapa = forget the map
    """),
}
OBSTACLES = pairs("""
não ter tempo = not have time; ter que trabalhar = have to work
ter que estudar = have to study; ter febre = have a fever; ter sono = be sleepy
ter pressa = be in a hurry
""")
HAVING = pairs("ter = have; querer = want")
DEALING = pairs("comprar = buy; vender = sell; encontrar = find; perder = lose")
LEARNING = pairs("falar = speak; aprender = learn; estudar = study; compreender = understand")
NOTHINGS = pairs("""
comer = eat; comprar = buy; dizer = say; beber = drink; vender = sell; ouvir = hear; encontrar = find
""")
CLITICS = pairs("me = me; te = you; nos = us")
# What joins a duty to its verb: `que temos que resolver`.
OBLIGATIONS = pairs("""
ter que = have to; ter que = have to; ter que = have to; ter que = have to; querer = want to
poder = can; dever = should; precisar de = need to
""")
OPINIONS = pairs("achar = think; saber = know; pensar = think; achar = think")
QUANTITIES = pairs("comprar = buy; ter = have; vender = sell; encontrar = find; ver = see")
QUESTION_WORDS: tuple[tuple[Pair, tuple[Tense, ...]], ...] = (
    (Pair("porque é que", "why"), ("progressive", "past", "going")),
    (Pair("quando é que", "when"), ("going", "past", "future")),
)
# English possessor, Portuguese pronoun of the one in pain.
SUFFERERS = (("my", "me"), ("your", "te"))
POPULATIONS = (
    (
        ("furniture",),
        pairs("em a cozinha = in the kitchen; em a sala = in the living room; em o quarto = in the bedroom"),
    ),
    (("pet",), pairs("em o jardim = in the garden; em a rua = in the street; em casa = at home")),
    (
        ("book", "small"),
        pairs("em cima de a mesa = on the table; em a caixa = in the box; em a gaveta = in the drawer"),
    ),
    (("kitchenware", "fruit"), pairs("em cima de a mesa = on the table; em a cozinha = in the kitchen")),
    (
        ("shop",),
        pairs("em esta cidade = in this city; perto de a praia = near the beach; em Lisboa = in Lisbon"),
    ),
    (
        ("device",),
        pairs("em o escritório = at the office; em a escola = at school; em a biblioteca = at the library"),
    ),
    (
        ("problem", "idea"),
        pairs(
            "em este livro = in this book; em o relatório = in the report; em este artigo = in this article"
        ),
    ),
    (("vehicle",), pairs("em a rua = in the street; em a garagem = in the garage")),
)
# kind of noun, and what it does by the clock
TIMETABLE = (
    ("show", Pair("começar", "start")),
    ("shop", Pair("abrir", "open")),
    ("shop", Pair("fechar", "close")),
    ("trip", Pair("chegar", "arrive")),
    ("trip", Pair("partir", "leave")),
)
