"""Patterns that describe: how people and things are, where they are, whose, how many; weather and time."""

from dataclasses import replace

from tools.demo_corpus import english, expressions, lexicon, portuguese, verbs
from tools.demo_corpus.features import NOTHING, Pair, Tense
from tools.demo_corpus.grammar import (
    NounPhrase,
    Picker,
    copula,
    doing,
    join,
    name,
    person,
    phrase,
    pronoun,
    someone,
    statement,
)
from tools.demo_corpus.lexicon import Noun
from tools.demo_corpus.verbs import Predicate, predicate

# kinds of noun, the kinds of adjective that suit them, and the verb that joins them
_QUALITIES = (
    (("furniture", "clothes", "vehicle"), ("goods", "color"), "ser"),
    (("device", "learner"), ("tech",), "ser"),
    (("problem", "problem", "idea", "language", "project"), ("mental",), "ser"),
    (("pet", "beast", "critter"), ("nature",), "ser"),
    (("place", "sight", "room"), ("size",), "ser"),
    (("book", "text", "show"), ("story",), "ser"),
    (("meal", "drink"), ("taste",), "estar"),
    (("fruit",), ("ripe",), "estar"),
    (("room", "kitchenware", "clothes"), ("tidy",), "estar"),
    (("opening", "shop"), ("shut",), "estar"),
    (("breakable",), ("cracked",), "estar"),
    (("device",), ("broken",), "estar"),
    (("room",), ("filled",), "estar"),
)
_VERB_BE = Pair("ser", "be")


def trait(pick: Picker) -> Pair:
    """Compose `A minha irmã é muito simpática`."""
    who = someone(pick)
    be = copula("ser", who, pick.adjective("trait"), pick.one(expressions.DEGREES))
    return statement(who, be, negative=pick.chance(0.2))


def mood(pick: Picker) -> Pair:
    """Compose `Estamos cansados hoje`."""
    who = someone(pick)
    be = copula("estar", who, pick.adjective("mood", "condition"))
    tense: Tense = pick.one(("present", "present", "past"))
    when = pick.one(expressions.PAST_TIMES) if tense == "past" else pick.one(expressions.MOMENTS)
    return join(statement(who, be, tense, negative=pick.chance(0.25)), when)


def quality(pick: Picker) -> Pair:
    """Compose `Esta casa é muito grande`, `A porta está fechada`."""
    kinds, looks, verb = pick.one(_QUALITIES)
    thing = phrase(pick.noun(*kinds), pick.one(("the", "the", "this", "that")), plural=pick.chance(0.2))
    adjective = pick.adjective(*looks)
    graded = looks[0] not in ("shut", "cracked", "broken", "filled", "taste")
    degree = pick.one(expressions.DEGREES) if graded else NOTHING
    return statement(thing, copula(verb, thing, adjective, degree), negative=pick.chance(0.25))


def feeling(pick: Picker) -> Pair:
    """Compose `Temos fome`."""
    who, state = someone(pick), predicate(pick.one(expressions.STATES))
    return join(statement(who, state, negative=pick.chance(0.25)), pick.one(expressions.MOMENTS))


def pain(pick: Picker) -> Pair:
    """Compose `Dói-me a cabeça`, `Doem-me os pés`."""
    kind, plural = pick.one((("organ", False), ("limb", False), ("limb", True)))
    part = pick.noun(kind)
    aching = phrase(part, "the", plural=plural)
    whose, clitic = pick.one(expressions.SUFFERERS)
    number = part.plural if plural else part.singular
    hurt = f"{whose} {number.en} {'hurt' if plural else 'hurts'}"
    return join(
        Pair(f"{'doem' if plural else 'dói'}-{clitic} {aching.pt}", hurt), pick.one(expressions.MOMENTS)
    )


def age(pick: Picker) -> Pair:
    """Compose `O meu irmão tem dez anos`."""
    years = pick.one(expressions.AGES)
    old = Predicate(Pair("ter", "be"), Pair(f"{years.pt} anos", f"{years.en} years old"))
    child = phrase(pick.noun("youth"), pick.one(("my", "your", "his", "her")))
    return statement(pick.one((child, name(pick.one(lexicon.NAMES)), pronoun(pick))), old)


def job(pick: Picker) -> Pair:
    """Compose `A minha mãe é médica`."""
    who, work = someone(pick), pick.noun("worker")
    title = portuguese.agree(
        (work.singular.pt, portuguese.feminine(work.singular.pt)), who.gender, who.person
    )
    en = work.plural.en if who.person in ("1p", "3p") else f"a {work.singular.en}"
    return statement(who, Predicate(_VERB_BE, Pair(title, en)), negative=pick.chance(0.15))


def location(pick: Picker) -> Pair:
    """Compose `As chaves estão em cima da mesa`."""
    tense: Tense = pick.one(("present", "present", "past"))
    if pick.chance(0.5):
        who, spot = someone(pick), pick.one(expressions.SPOTS)
    else:
        who = phrase(
            pick.noun("small", "book"), pick.one(("the", "the", "my", "your")), plural=pick.chance(0.3)
        )
        spot, tense = pick.one(expressions.SURFACES), "present"
    where = statement(who, Predicate(Pair("estar", "be"), spot), tense, negative=pick.chance(0.2))
    return join(where, pick.one(expressions.PAST_TIMES)) if tense == "past" else where


def existence(pick: Picker) -> Pair:
    """Compose `Há três cadeiras na cozinha`, `Não há leite`."""
    if pick.chance(0.2):
        none = pick.one(expressions.MASS)
        return join(Pair("não há", "there is no"), none, pick.one((NOTHING, Pair("em casa", "at home"))))
    kind, places = pick.one(expressions.POPULATIONS)
    noun, place = pick.noun(*kind), pick.one(places)
    if pick.chance(0.4):
        one = phrase(noun, "a")
        return join(Pair("há", "there is"), one.both, place)
    return join(Pair("há", "there are"), counted(pick, noun), place)


def counted(pick: Picker, noun: Noun) -> Pair:
    """Pick a number of things: `duas cadeiras`."""
    number = pick.one(expressions.NUMBERS)
    pt = "duas" if number.pt == "dois" and noun.gender == "f" else number.pt
    return join(Pair(pt, number.en), noun.plural)


def weather(pick: Picker) -> Pair:
    """Compose `Está frio em Lisboa hoje`."""
    where = pick.one((NOTHING, *expressions.CITIES))
    sky, times = pick.one(
        (
            (expressions.WEATHER, expressions.MOMENTS),
            (expressions.PAST_WEATHER, expressions.PAST_TIMES),
            (expressions.NEXT_WEATHER, expressions.FUTURE_TIMES),
        )
    )
    return join(pick.one(sky), where, pick.one(times))


def timed_event(pick: Picker) -> tuple[NounPhrase, Pair]:
    """Pick something that happens by the clock, and what it does."""
    kind, act = pick.one(expressions.TIMETABLE)
    return phrase(pick.noun(kind), pick.one(("the", "the", "this"))), act


def schedule(pick: Picker) -> Pair:
    """Compose `O comboio chega às oito`."""
    what, act = timed_event(pick)
    hour = pick.one(expressions.HOURS)
    at = Pair(f"a as {hour.pt}", f"at {hour.en} o'clock")
    return statement(
        what, doing(act, at), pick.one(("present", "present", "future")), negative=pick.chance(0.15)
    )


def belonging(pick: Picker) -> Pair:
    """Compose `Este livro é meu`, `Esta caneta é da Ana`."""
    noun = pick.noun("book", "small", "clothes", "vehicle", "pet")
    thing = phrase(noun, pick.one(("this", "that")), plural=pick.chance(0.2))
    if pick.chance(0.4):
        masculine, feminine, en = pick.one(
            (("meu", "minha", "mine"), ("teu", "tua", "yours"), ("nosso", "nossa", "ours"))
        )
        whose = Pair(portuguese.agree((masculine, feminine), thing.gender, thing.person), en)
    else:
        owner = name(pick.one(lexicon.NAMES))
        whose = Pair(f"de {owner.pt}", f"{owner.en}'s")
    return statement(thing, Predicate(_VERB_BE, whose), negative=pick.chance(0.2))


def possession(pick: Picker) -> Pair:
    """Compose `O carro da Ana é azul`."""
    noun = pick.noun("clothes", "vehicle", "furniture")
    owner = name(pick.one(lexicon.NAMES))
    bare = phrase(noun, "the")
    thing = NounPhrase(f"{bare.pt} de {owner.pt}", f"{owner.en}'s {noun.singular.en}", noun.gender)
    return statement(
        thing, copula("ser", thing, pick.adjective("color", "goods")), negative=pick.chance(0.15)
    )


def comparison(pick: Picker) -> Pair:
    """Compose `A Ana é mais alta do que o Pedro`, `Este carro é mais caro do que aquele`."""
    if pick.chance(0.5):
        relative = phrase(pick.noun("relative"), pick.one(("my", "your", "our", "his", "her")))
        first, second = pick.one((relative, pronoun(pick))), name(pick.one(lexicon.NAMES))
        adjective = pick.adjective("trait")
        other = Pair(second.pt, second.en)
    else:
        kinds, looks, _ = pick.one(_QUALITIES[:4])
        first, adjective = phrase(pick.noun(*kinds), "this"), pick.adjective(looks[0])
        pointer = phrase(Noun(first.gender, NOTHING, NOTHING), "that")
        other = join(pointer.both, Pair("", "one"))
    pt = "mais " + portuguese.agree(adjective.pt, first.gender, first.person)
    more = {"bom": "melhor", "mau": "pior", "grande": "maior"}.get(adjective.pt[0], pt)
    rest = Pair(f"{more} do que {other.pt}", f"{adjective.comparative} than {other.en}")
    return statement(first, Predicate(_VERB_BE, rest))


def author(pick: Picker) -> Pair:
    """Compose `Esta carta foi escrita pela minha mãe`."""
    frame = pick.one(verbs.WORKS)
    thing = phrase(pick.noun(*frame.kinds), pick.one(("this", "the", "that")), plural=pick.chance(0.2))
    done = portuguese.agree((frame.verb.pt, portuguese.feminine(frame.verb.pt)), thing.gender, thing.person)
    maker = person(pick)
    rest = Pair(f"{done} por {maker.pt}", f"{english.participle(frame.verb.en)} by {maker.en}")
    return statement(thing, Predicate(_VERB_BE, rest), "past", negative=pick.chance(0.15))


def appearance(pick: Picker) -> Pair:
    """Compose `Este problema parece difícil`, `A Ana parece cansada`."""
    if pick.chance(0.4):
        thing, looks = person(pick), ("mood",)
    else:
        kinds, looks, _ = pick.one(_QUALITIES[1:7])
        thing = phrase(pick.noun(*kinds), pick.one(("this", "that", "the")), plural=pick.chance(0.15))
    seem = copula("parecer", thing, pick.adjective(*looks), pick.one(expressions.DEGREES))
    return statement(thing, replace(seem, verb=Pair("parecer", "seem")), negative=pick.chance(0.15))


def kind_of_thing(pick: Picker) -> Pair:
    """Compose `Este é um problema difícil`, `Aquela é uma cidade muito bonita`."""
    kinds, looks, _ = pick.one(_QUALITIES[:5])
    noun = pick.noun(*kinds)
    determiner = pick.one(("this", "this", "that"))
    pointer = phrase(Noun(noun.gender, NOTHING, NOTHING), determiner)
    what = phrase(noun, "a", adjective=pick.adjective(looks[-1]))
    return statement(pointer, Predicate(_VERB_BE, what.both), negative=pick.chance(0.15))


def greeting(pick: Picker) -> Pair:
    """Compose `Bom dia, Ana!`."""
    hello, who = pick.one(expressions.GREETINGS), pick.one(lexicon.NAMES).singular.pt
    return Pair(f"{hello.pt}, {who}!", f"{hello.en}, {who}!")
