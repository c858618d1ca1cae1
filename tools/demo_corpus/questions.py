"""Patterns of questions: in the order of a statement, or with the verb first after a question word."""

from tools.demo_corpus import english, expressions, portuguese, verbs
from tools.demo_corpus.descriptions import timed_event
from tools.demo_corpus.features import NOTHING, Pair, Tense, words
from tools.demo_corpus.grammar import (
    NounPhrase,
    Picker,
    copula,
    doing,
    join,
    person,
    phrase,
    question,
    statement,
    wanting,
)
from tools.demo_corpus.verbs import predicate


def _you(pick: Picker) -> NounPhrase:
    """Pick whom one asks about: mostly the listener."""
    return NounPhrase("tu", "you", "m", "2s", silent=True) if pick.chance(0.5) else person(pick)


def _ask(draft: Pair) -> Pair:
    return join(draft, "?")


def yes_or_no(pick: Picker) -> Pair:
    """Compose `Queres ouvir música?`, `A Ana está a dormir?`."""
    activity = pick.one(verbs.ACTIVITIES)
    if pick.chance(0.4):
        return _ask(question(_you(pick), wanting(pick.one((verbs.LIKING, *verbs.ATTITUDES)), activity)))
    tense: Tense = pick.one(("past", "progressive", "going", "present"))
    when = {"past": expressions.PAST_TIMES, "going": expressions.FUTURE_TIMES, "present": expressions.HABITS}
    asked = question(_you(pick), activity, tense)
    return _ask(join(asked, pick.one(when[tense])) if tense in when else asked)


def yes_or_no_be(pick: Picker) -> Pair:
    """Compose `Estás cansada?`, `A Ana tem fome?`."""
    who = person(pick)
    if pick.chance(0.5):
        return _ask(question(who, copula("estar", who, pick.adjective("mood", "condition"))))
    return _ask(question(_you(pick), predicate(pick.one(expressions.STATES))))


def yes_or_no_thing(pick: Picker) -> Pair:
    """Compose `Vendeste o carro?`."""
    frame = pick.one((*verbs.PROCESSES, *verbs.EVENTS))
    thing = phrase(pick.noun(*frame.kinds), pick.one(("the", "this", "that")), plural=pick.chance(0.2))
    return _ask(question(_you(pick), doing(frame.verb, thing.both), "past"))


def where(pick: Picker) -> Pair:
    """Compose `Onde estão as chaves?`."""
    if pick.chance(0.4):
        who = person(pick)
    else:
        kinds = ("small", "book", "pet", "clothes", "kitchenware")
        who = phrase(
            pick.noun(*kinds), pick.one(("the", "the", "my", "your", "our")), plural=pick.chance(0.35)
        )
    if pick.chance(0.2):
        return _ask(join(Pair("onde fica", "where is"), phrase(pick.noun("shop"), "the").both))
    past = pick.chance(0.3)
    pt = portuguese.conjugate("estar", "imperfect" if past else "present", who.person)
    en = english.auxiliary("be", "past" if past else "present", who.person)[0]
    return _ask(Pair(f"onde {pt} {who.pt}", f"where {en} {who.en}"))


def question_word(pick: Picker) -> Pair:
    """Compose `Porque é que estás a ler o jornal?`, `Quando é que o João viu um filme?`."""
    word, tenses = pick.one(expressions.QUESTION_WORDS)
    asked = question(_you(pick), pick.one(verbs.ACTIVITIES), pick.one(tenses))
    return _ask(join(word, asked))


def what(pick: Picker) -> Pair:
    """Compose `O que está a Ana a comer?`, `O que compraste ontem?`."""
    who = _you(pick)
    spoken = "" if who.silent else who.pt
    if pick.chance(0.5):
        verb = pick.one(expressions.NOTHINGS[:-1])
        is_pt = portuguese.conjugate("estar", "present", who.person)
        is_en = english.auxiliary("be", "present", who.person)[0]
        doing_en = english.gerund(verb.en)
        return _ask(Pair(words("o que", is_pt, spoken, "a", verb.pt), f"what {is_en} {who.en} {doing_en}"))
    verb = pick.one(expressions.NOTHINGS)
    asked = question(who, doing(verb, NOTHING), "past").en
    pt = words("o que", portuguese.conjugate(verb.pt, "past", who.person), spoken)
    return _ask(join(Pair(pt, f"what {asked}"), pick.one(expressions.PAST_TIMES)))


def who_did(pick: Picker) -> Pair:
    """Compose `Quem comprou o pão?`."""
    tense: Tense = pick.one(("past", "past", "going"))
    frame = pick.one((*verbs.PROCESSES, *verbs.EVENTS) if tense == "past" else verbs.PROCESSES)
    thing = phrase(pick.noun(*frame.kinds), pick.one(("the", "the", "this")), plural=pick.chance(0.2))
    return _ask(statement(NounPhrase("quem", "who", "m"), doing(frame.verb, thing.both), tense))


def how_much(pick: Picker) -> Pair:
    """Compose `Quanto custam estes sapatos?`, `Quantas maçãs compraste?`."""
    if pick.chance(0.5):
        noun = pick.noun("clothes", "furniture", "vehicle", "book", "device", "meal")
        plural = pick.chance(0.3)
        thing = phrase(noun, pick.one(("this", "this", "that", "the")), plural=plural)
        cost = Pair("quanto custam", "how much do") if plural else Pair("quanto custa", "how much does")
        return _ask(join(cost, thing.both, Pair("", "cost")))
    noun = pick.noun("fruit", "book", "clothes", "pet", "kitchenware")
    many = portuguese.agree(("quanto", "quanta"), noun.gender, "3p")
    who, verb = _you(pick), pick.one(expressions.QUANTITIES)
    tense: Tense = "present" if verb.pt == "ter" else "past"
    pt = words(portuguese.conjugate(verb.pt, tense, who.person), "" if who.silent else who.pt)
    asked = Pair(pt, question(who, doing(verb, NOTHING), tense).en)
    return _ask(join(Pair(many, "how many"), noun.plural, asked))


def how_is(pick: Picker) -> Pair:
    """Compose `Como está a tua mãe?`, `Como foi o filme?`."""
    if pick.chance(0.6):
        who = person(pick)
        verb = Pair(
            f"como {portuguese.conjugate('estar', 'present', who.person)}",
            "how are" if who.person == "3p" else "how is",
        )
        return _ask(join(verb, who.both))
    return _ask(
        join(
            Pair("como foi", "how was"), phrase(pick.noun("show", "project"), pick.one(("the", "your"))).both
        )
    )


def whose(pick: Picker) -> Pair:
    """Compose `De quem é este chapéu?`, `De quem são estas chaves?`."""
    noun = pick.noun("small", "clothes", "book", "vehicle", "pet")
    plural = pick.chance(0.4)
    thing = phrase(noun, pick.one(("this", "that")), plural=plural)
    pointer = thing.en.split()[0]
    number = noun.plural if plural else noun.singular
    return _ask(
        Pair(
            f"de quem {'são' if plural else 'é'} {thing.pt}",
            f"whose {number.en} {'are' if plural else 'is'} {pointer}",
        )
    )


def what_time(pick: Picker) -> Pair:
    """Compose `A que horas abre o banco?`."""
    thing, act = timed_event(pick)
    pt = portuguese.conjugate(act.pt, "present", "3s")
    return _ask(Pair(f"a que horas {pt} {thing.pt}", f"what time does {thing.en} {act.en}"))


def request(pick: Picker) -> Pair:
    """Compose `Podes fechar a porta, por favor?`, `Podes ajudar-me?`."""
    errand = predicate(pick.one(expressions.ERRANDS))
    who = NounPhrase("tu", "you", "m", "2s", silent=True)
    asked = question(who, wanting(Pair("poder", "can"), errand))
    polite = Pair(f"{asked.pt}, por favor", f"{asked.en}, please")
    return _ask(asked if pick.chance(0.4) else polite)
