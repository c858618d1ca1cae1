"""Patterns of simple statements. Each picks its words and returns a draft in both languages."""

from dataclasses import replace

from tools.demo_corpus import expressions, portuguese, verbs
from tools.demo_corpus.features import NOTHING, Pair, Tense, words
from tools.demo_corpus.grammar import (
    NounPhrase,
    Picker,
    doing,
    join,
    name,
    past_event,
    person,
    phrase,
    pronoun,
    someone,
    statement,
    wanting,
)
from tools.demo_corpus.lexicon import NAMES, Noun
from tools.demo_corpus.verbs import Predicate, predicate


def habit(pick: Picker) -> Pair:
    """Compose `Ouço música todos os dias`."""
    activity = statement(someone(pick), pick.one(verbs.ACTIVITIES), negative=pick.chance(0.2))
    return join(activity, pick.one(expressions.HABITS))


def past(pick: Picker) -> Pair:
    """Compose `Vi um filme ontem à noite`."""
    return past_event(pick, someone(pick), pick.one(verbs.ACTIVITIES))


def future(pick: Picker) -> Pair:
    """Compose `Vamos jogar futebol amanhã` or `Jogaremos …`."""
    tense: Tense = "going" if pick.chance(0.6) else "future"
    activity = statement(someone(pick), pick.one(verbs.ACTIVITIES), tense, negative=pick.chance(0.2))
    return join(activity, pick.one(expressions.FUTURE_TIMES))


def progressive(pick: Picker) -> Pair:
    """Compose `A Ana está a ler o jornal`."""
    activity = statement(someone(pick), pick.one(verbs.ACTIVITIES), "progressive", negative=pick.chance(0.15))
    return join(activity, pick.one((NOTHING, NOTHING, Pair("agora", "now"))))


def frequency(pick: Picker) -> Pair:
    """Compose `Bebo sempre café`."""
    return statement(someone(pick), pick.one(verbs.ACTIVITIES), adverb=pick.one(expressions.FREQUENCIES))


def perfect(pick: Picker) -> Pair:
    """Compose `Ainda não lavei a loiça`, `Já lavei a loiça`."""
    subject, activity = someone(pick), pick.one(verbs.ACTIVITIES)
    if pick.chance(0.5):
        return statement(subject, activity, "perfect", adverb=Pair("já", "already"))
    done = statement(subject, activity, "perfect", negative=True)
    return Pair(done.pt.replace("não ", "ainda não ", 1), f"{done.en} yet")


def attitude(pick: Picker) -> Pair:
    """Compose `Quero ler um livro`."""
    who, activity = someone(pick), pick.one(verbs.ACTIVITIES)
    if pick.chance(0.15):
        return statement(who, wanting(verbs.LIKING, activity), negative=pick.chance(0.25))
    wish = statement(who, wanting(pick.one(verbs.ATTITUDES), activity), negative=pick.chance(0.25))
    return join(wish, pick.one((NOTHING, NOTHING, Pair("hoje", "today"), Pair("agora", "now"))))


def polite_wish(pick: Picker) -> Pair:
    """Compose `Eu gostaria de aprender português`."""
    wish = wanting(verbs.LIKING, pick.one(verbs.ACTIVITIES))
    return statement(someone(pick), wish, "conditional")


def thing_done(pick: Picker) -> Pair:
    """Compose `O meu pai vai reparar aquela bicicleta`."""
    frame = pick.one(verbs.PROCESSES)
    thing = phrase(pick.noun(*frame.kinds), pick.one(("the", "the", "this", "that")))
    act = doing(frame.verb, thing.both)
    if pick.chance(0.35):
        return statement(
            someone(pick), wanting(pick.one(verbs.ATTITUDES[:5]), act), negative=pick.chance(0.2)
        )
    if pick.chance(0.4):
        return past_event(pick, someone(pick), act)
    tense: Tense = pick.one(("progressive", "going", "future"))
    return statement(someone(pick), act, tense, negative=pick.chance(0.2))


def event(pick: Picker) -> Pair:
    """Compose `A Ana perdeu a chave ontem`."""
    frame = pick.one(verbs.EVENTS)
    thing = phrase(pick.noun(*frame.kinds), pick.one(("the", "the", "that")), plural=pick.chance(0.2))
    return past_event(pick, someone(pick), doing(frame.verb, thing.both))


def meeting(pick: Picker) -> Pair:
    """Compose `Visitámos a minha avó ontem`."""
    return past_event(pick, pronoun(pick), doing(pick.one(verbs.ENCOUNTERS), person(pick).both))


def purchase(pick: Picker) -> Pair:
    """Compose `Comprei um casaco vermelho ontem`."""
    kind, look = ("clothes", "color") if pick.chance(0.5) else (pick.one(("furniture", "vehicle")), "goods")
    thing = phrase(pick.noun(kind), "a", adjective=pick.adjective(look)).both
    if pick.chance(0.5):
        wish = pick.one(expressions.HAVING)
        return statement(someone(pick), doing(wish, thing), negative=pick.chance(0.2))
    return past_event(pick, someone(pick), doing(pick.one(expressions.DEALING[:2]), thing))


def gift(pick: Picker) -> Pair:
    """Compose `O Pedro deu um livro à irmã dele ontem`."""
    receiver = person(pick)
    thing = join(phrase(pick.noun("gift"), "a").both, Pair("a", "to"), receiver.both)
    tense: Tense = pick.one(("past", "going"))
    when = pick.one(expressions.PAST_TIMES if tense == "past" else expressions.FUTURE_TIMES)
    return join(statement(pronoun(pick), doing(pick.one(verbs.GIVING), thing), tense), when)


def object_pronoun(pick: Picker) -> Pair:
    """Compose `O João viu-me ontem`, `O João não me viu ontem`."""
    subject, verb = person(pick), pick.one(verbs.ENCOUNTERS)
    clitic = pick.one(expressions.CLITICS)
    negative = pick.chance(0.4)
    act = statement(subject, doing(verb, Pair("", clitic.en)), "past", negative=negative)
    verb_pt = portuguese.verb_group(verb.pt, "past", subject.person)
    placed = f"{clitic.pt} {verb_pt}" if negative else f"{verb_pt}-{clitic.pt}"
    moved = words(subject.pt, "não" if negative else "", placed)
    return join(Pair(moved, act.en), pick.one(expressions.PAST_TIMES))


def wish_with_pronoun(pick: Picker) -> Pair:
    """Compose `A Ana quer ver-te amanhã`."""
    verb, clitic = pick.one(verbs.ENCOUNTERS), pick.one(expressions.CLITICS)
    base = predicate(verb)
    act = Predicate(Pair(f"{verb.pt}-{clitic.pt}", base.verb.en), Pair("", words(base.rest.en, clitic.en)))
    wish = wanting(pick.one(verbs.ATTITUDES[:3]), act)
    when = pick.one((NOTHING, *expressions.FUTURE_TIMES))
    return join(statement(person(pick), wish, negative=pick.chance(0.25)), when)


def topic(pick: Picker) -> Pair:
    """Compose `O livro? Comprei-o ontem`."""
    thing = phrase(pick.noun("book", "clothes"), "the", plural=pick.chance(0.3))
    subject = pick.one((NounPhrase("", "I", "m", "1s"), name(pick.one(NAMES))))
    verb = pick.one(expressions.DEALING)
    clitic = portuguese.agree(("o", "a"), thing.gender, thing.person)
    act = Pair(
        words(subject.pt, f"{portuguese.conjugate(verb.pt, 'past', subject.person)}-{clitic}"),
        statement(subject, doing(verb, Pair("", "them" if thing.person == "3p" else "it")), "past").en,
    )
    told = join(act, pick.one(expressions.PAST_TIMES))
    return join(Pair(f"{thing.pt}?", f"{thing.en}?"), told)


def travel(pick: Picker) -> Pair:
    """Compose `Vou à praia de comboio`."""
    going = join(pick.one(expressions.GOALS), pick.one((NOTHING, *expressions.MEANS)))
    trip = doing(Pair("ir", "go"), going)
    if pick.chance(0.5):
        return join(statement(someone(pick), trip, "past"), pick.one(expressions.PAST_TIMES))
    if pick.chance(0.5):
        return join(statement(someone(pick), trip), pick.one(expressions.HABITS[:4]))
    return statement(someone(pick), wanting(pick.one(verbs.ATTITUDES[:5]), trip), negative=pick.chance(0.2))


def liking(pick: Picker) -> Pair:
    """Compose `Gosto de café, mas não gosto de chá`."""
    subject = someone(pick)
    things = pick.one(expressions.LIKED)
    first, second = pick.one(things), pick.one(things)
    negative = pick.chance(0.3)
    like = statement(subject, doing(Pair("gostar de", "like"), first), negative=negative)
    if first == second or negative or pick.chance(0.4):
        return like
    silent = replace(subject, pt="", en=subject.pronoun)
    other = statement(silent, doing(Pair("gostar de", "like"), second), negative=True)
    return join(Pair(f"{like.pt}, mas", f"{like.en}, but"), other)


def need(pick: Picker) -> Pair:
    """Compose `Precisamos de ajuda`."""
    needed = doing(Pair("precisar de", "need"), pick.one(expressions.NEEDS))
    return statement(
        someone(pick), needed, pick.one(("present", "present", "future")), negative=pick.chance(0.3)
    )


def language(pick: Picker) -> Pair:
    """Compose `Falo português e inglês`."""
    spoken, other = pick.one(expressions.LANGUAGES), pick.one(expressions.LANGUAGES)
    verb = pick.one(expressions.LEARNING)
    if spoken == other:
        return statement(someone(pick), doing(verb, spoken), negative=pick.chance(0.5))
    return statement(someone(pick), doing(verb, join(spoken, Pair("e", "and"), other)))


def animal(pick: Picker) -> Pair:
    """Compose `O cão está a dormir no jardim`."""
    beast = phrase(
        pick.noun("pet", "beast"), pick.one(("the", "the", "this", "that")), plural=pick.chance(0.3)
    )
    tense: Tense = pick.one(("progressive", "progressive", "past"))
    told = statement(beast, pick.one(verbs.ANIMAL_ACTIVITIES), tense, negative=pick.chance(0.15))
    return join(told, pick.one(expressions.PAST_TIMES)) if tense == "past" else told


def nobody(pick: Picker) -> Pair:
    """Compose `Não vi ninguém ontem`, `A Ana não comeu nada`."""
    seen, found = doing(Pair("ver", "see"), Pair("ninguém", "anyone")), pick.one(expressions.NOTHINGS)
    act = seen if pick.chance(0.3) else doing(found, Pair("nada", "anything"))
    return join(statement(someone(pick), act, "past", negative=True), pick.one(expressions.PAST_TIMES))


def order(pick: Picker) -> Pair:
    """Compose `Fecha a porta, por favor`, `Não feches a porta`."""
    errand = predicate(pick.one(expressions.ERRANDS))
    if pick.chance(0.4):
        return join(Pair(f"não {portuguese.forbid(errand.verb.pt)}", f"don't {errand.verb.en}"), errand.rest)
    told = join(Pair(portuguese.conjugate(errand.verb.pt, "present", "3s"), errand.verb.en), errand.rest)
    return told if pick.chance(0.5) else Pair(f"{told.pt}, por favor", f"{told.en}, please")


def duty(pick: Picker) -> Pair:
    """Compose `Esta é uma carta que tenho que escrever`."""
    frame = pick.one(verbs.DUTIES)
    noun = pick.noun(*frame.kinds)
    head = phrase(noun, pick.one(("a", "a", "the")))
    demonstrative = pick.one(("this", "this", "that"))
    pointer = phrase(Noun(noun.gender, NOTHING, NOTHING), demonstrative)
    act = Predicate(frame.verb, NOTHING)
    attitude = pick.one(expressions.OBLIGATIONS)
    needed = statement(pronoun(pick), wanting(attitude, act))
    return join(pointer.both, Pair("é", "is"), head.both, Pair("que", "that"), needed)


def seeming(pick: Picker) -> Pair:
    """Compose `Este computador parece funcionar mal`."""
    talent, manner, plain = _talent(pick)
    determiner = pick.one(("this", "this", "that", "the"))
    doer = phrase(pick.noun(*talent.kinds), determiner, plural=pick.chance(0.15))
    seem = predicate(Pair(f"parecer {talent.verb.pt} {manner.pt}", f"seem to {talent.verb.en} {manner.en}"))
    return statement(doer, seem, negative=plain and pick.chance(0.3))


def skill(pick: Picker) -> Pair:
    """Compose `O modelo aprende depressa`."""
    talent, manner, plain = _talent(pick)
    doer = phrase(pick.noun(*talent.kinds), pick.one(("the", "this", "that")), plural=pick.chance(0.3))
    tense: Tense = pick.one(("present", "present", "future"))
    return statement(doer, doing(talent.verb, manner), tense, negative=plain and pick.chance(0.4))


def _talent(pick: Picker) -> tuple[verbs.Skill, Pair, bool]:
    """Pick a skill, a manner that suits it, and whether one would also deny it: `não … bem`."""
    talent = pick.one(verbs.SKILLS)
    manners = verbs.MANNERS[pick.one(talent.manners)]
    manner = pick.one(manners)
    return talent, manner, manner == manners[0]
