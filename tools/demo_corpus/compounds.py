"""Patterns of two clauses: because, but, when, if, that, while, and relative clauses."""

from dataclasses import replace

from tools.demo_corpus import english, expressions, lexicon, verbs
from tools.demo_corpus.features import NOTHING, Pair, Tense, words
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
    wanting,
)
from tools.demo_corpus.verbs import Predicate, predicate

_CONTRASTS = (
    (("furniture", "clothes", "vehicle"), "goods"),
    (("device", "learner"), "tech"),
    (("problem", "idea", "project", "book"), "mental"),
)


def _again(subject: NounPhrase) -> NounPhrase:
    """Take up a subject in the next clause: left out in Portuguese, a pronoun in English."""
    return replace(subject, pt="", en=subject.pronoun)


def _adjective(masculine: str) -> lexicon.Adjective:
    return next(
        mood
        for mood in (*lexicon.ADJECTIVES["mood"], *lexicon.ADJECTIVES["condition"])
        if mood.pt[0] == masculine
    )


def because_of_past(pick: Picker) -> Pair:
    """Compose `A Ana está cansada porque trabalhou muito`."""
    who, cause = someone(pick), pick.one(tuple(expressions.REASONS))
    be = copula("estar", who, _adjective(cause))
    reason = statement(_again(who), predicate(pick.one(expressions.REASONS[cause])), "past")
    return join(statement(who, be), Pair("porque", "because"), reason)


def obstacle(pick: Picker) -> Pair:
    """Compose `Não posso jogar futebol porque tenho que trabalhar`, `Quero …, mas …`."""
    who, activity = someone(pick), pick.one(verbs.ACTIVITIES)
    hurdle = pick.one(expressions.OBSTACLES)
    negative = hurdle.pt.startswith("não ")
    reason = statement(
        _again(who),
        predicate(Pair(hurdle.pt.removeprefix("não "), hurdle.en.removeprefix("not "))),
        negative=negative,
    )
    if pick.chance(0.5):
        cannot = statement(who, wanting(Pair("poder", "can"), activity), negative=True)
        return join(cannot, Pair("porque", "because"), reason)
    wish = statement(who, wanting(Pair("querer", "want to"), activity))
    return join(Pair(f"{wish.pt}, mas", f"{wish.en}, but"), reason)


def contrast(pick: Picker) -> Pair:
    """Compose `O carro é bonito, mas é caro`."""
    kinds, topic = pick.one(_CONTRASTS)
    thing = phrase(pick.noun(*kinds), pick.one(("the", "this", "that")))
    first = statement(thing, copula("ser", thing, pick.adjective(f"good {topic}")))
    again = replace(thing, pt="", en="it")
    second = statement(again, copula("ser", thing, pick.adjective(f"bad {topic}")))
    return join(Pair(f"{first.pt}, mas", f"{first.en}, but"), second)


def when_arriving(pick: Picker) -> Pair:
    """Compose `Quando cheguei a casa, a Ana estava a ler um livro`."""
    arrival = statement(pronoun(pick), predicate(pick.one(expressions.ARRIVALS)), "past")
    scene = statement(person(pick), pick.one(verbs.HOME_ACTIVITIES), "was_progressive")
    return join(Pair(f"quando {arrival.pt},", f"when {arrival.en},"), scene)


def when_habit(pick: Picker) -> Pair:
    """Compose `Quando está frio, tomo o pequeno-almoço em casa`."""
    occasions, activities = pick.one(expressions.OCCASIONS)
    occasion, adverb = pick.one(occasions), pick.one((NOTHING, expressions.FREQUENCIES[0]))
    habit = statement(someone(pick), pick.one(activities), adverb=adverb)
    return join(Pair(f"quando {occasion.pt},", f"when {occasion.en},"), habit)


def condition(pick: Picker) -> Pair:
    """Compose `Se chover, vou ficar em casa`."""
    cases, activities = pick.one(expressions.CONDITIONS)
    case = pick.one(cases)
    tense: Tense = pick.one(("going", "going", "future"))
    result = statement(someone(pick), pick.one(activities), tense)
    if pick.chance(0.3):
        return join(result, case)
    return join(Pair(f"{case.pt},", f"{case.en},"), result)


def meanwhile(pick: Picker) -> Pair:
    """Compose `A Ana está a ler e o Pedro está a dormir`."""
    first = statement(pronoun(pick), pick.one(verbs.ACTIVITIES), "progressive")
    second = statement(person(pick), pick.one(verbs.ACTIVITIES), "progressive")
    return join(first, pick.one(verbs.pairs("e = and; enquanto = while")), second)


def opinion(pick: Picker) -> Pair:
    """Compose `Acho que a Ana está cansada`, `Sabes que o João não come peixe?`."""
    thinker, thought = someone(pick), pick.one(expressions.OPINIONS)
    lead = statement(thinker, Predicate(thought, Pair("que", "that")))
    return join(lead, _fact(pick))


def report(pick: Picker) -> Pair:
    """Compose `A Ana disse que o carro é novo`."""
    lead = statement(someone(pick), doing(Pair("dizer", "say"), Pair("que", "that")), "past")
    return join(lead, _fact(pick))


def _fact(pick: Picker) -> Pair:
    """Pick what one can think or say."""
    who = person(pick)
    if pick.chance(0.4):
        return statement(
            who, copula("estar", who, pick.adjective("mood", "condition")), negative=pick.chance(0.2)
        )
    if pick.chance(0.5):
        kinds, topic = pick.one(_CONTRASTS)
        thing = phrase(pick.noun(*kinds), pick.one(("this", "the")))
        tone = pick.one(("good", "bad"))
        return statement(
            thing, copula("ser", thing, pick.adjective(f"{tone} {topic}")), negative=pick.chance(0.2)
        )
    tense: Tense = pick.one(("progressive", "going"))
    return statement(who, pick.one(verbs.ACTIVITIES), tense, negative=pick.chance(0.2))


def relative_clause(pick: Picker) -> Pair:
    """Compose `O livro que comprei ontem é interessante`."""
    kind, topic = pick.one(
        (("clothes", "goods"), ("vehicle", "goods"), ("furniture", "goods"), ("device", "tech"))
    )
    noun = pick.noun(kind)
    bought = doing(pick.one(expressions.DEALING[:2]), NOTHING)
    clause = join(statement(pronoun(pick), bought, "past"), pick.one(expressions.PAST_TIMES))
    thing = phrase(noun, "the")
    head = replace(thing, pt=f"{thing.pt} que {clause.pt}", en=f"{thing.en} that {clause.en}")
    tone = pick.one(("good", "bad"))
    return statement(
        head, copula("ser", thing, pick.adjective(f"{tone} {topic}")), negative=pick.chance(0.15)
    )


def person_seen(pick: Picker) -> Pair:
    """Compose `A mulher que está na cozinha é médica`, `Conheço o homem que está no jardim`."""
    who = phrase(pick.noun("person"), "the")
    spot = pick.one(expressions.SPOTS)
    head = join(who.both, Pair("que está", "who is"), spot)
    if pick.chance(0.5):
        verb = pick.one(verbs.pairs("conhecer = know; ouvir = hear; ajudar = help"))
        return statement(pronoun(pick), doing(verb, head), negative=pick.chance(0.3))
    subject = replace(who, pt=head.pt, en=head.en)
    return statement(subject, copula("ser", who, pick.adjective("trait")), negative=pick.chance(0.15))


def sequence(pick: Picker) -> Pair:
    """Compose `Vou estudar para o exame depois de fazer o jantar`."""
    first = pick.one((*verbs.OUTDOOR_ACTIVITIES, *verbs.OTHER_ACTIVITIES))
    second = pick.one(verbs.HOME_ACTIVITIES)
    order = pick.one(verbs.pairs("antes de = before; depois de = after"))
    tense: Tense = pick.one(("going", "present"))
    gerund = Pair(second.infinitive.pt, words(english.gerund(second.verb.en), second.rest.en))
    return join(statement(someone(pick), first, tense), order, gerund)


def visit_and_gift(pick: Picker) -> Pair:
    """Compose `Vi a Ana ontem e dei-lhe um livro`."""
    friend = name(pick.one(lexicon.NAMES))
    met = statement(NounPhrase("", "I", "m", "1s"), doing(Pair("ver", "see"), friend.both), "past")
    verb_pt, verb_en = pick.one(
        (("dei", "gave"), ("mostrei", "showed"), ("emprestei", "lent"), ("vendi", "sold"))
    )
    whom = "him" if friend.gender == "m" else "her"
    thing = phrase(pick.noun("gift"), "a")
    given = Pair(f"e {verb_pt}-lhe {thing.pt}", f"and I {verb_en} {whom} {thing.en}")
    return join(met, pick.one(expressions.PAST_TIMES), given)
