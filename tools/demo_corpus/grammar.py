"""How phrases and clauses are put together in both languages at once."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tools.demo_corpus import english, expressions, lexicon, portuguese, verbs
from tools.demo_corpus.features import NOTHING, Gender, Pair, Person, Tense, words
from tools.demo_corpus.lexicon import Adjective, Noun
from tools.demo_corpus.verbs import Predicate

T = TypeVar("T")

# Masculine, feminine, masculine plural, feminine plural; English singular, plural.
_DETERMINERS = {
    "the": ("o", "a", "os", "as", "the", "the"),
    "a": ("um", "uma", "", "", "a", ""),
    "this": ("este", "esta", "estes", "estas", "this", "these"),
    "that": ("aquele", "aquela", "aqueles", "aquelas", "that", "those"),
    "my": ("o meu", "a minha", "os meus", "as minhas", "my", "my"),
    "your": ("o teu", "a tua", "os teus", "as tuas", "your", "your"),
    "our": ("o nosso", "a nossa", "os nossos", "as nossas", "our", "our"),
    "his": ("o", "a", "os", "as", "his", "his"),
    "her": ("o", "a", "os", "as", "her", "her"),
    "their": ("o", "a", "os", "as", "their", "their"),
}
_POSSESSORS = {"his": "dele", "her": "dela", "their": "deles"}
_BEFORE_NOUN = ("bom", "mau")
_BEFORE_VERB = ("nunca", "raramente", "já")


class Picker:
    """Seeded choices that come out the same on every Python version.

    Args:
        seed: Decides all choices.
    """

    def __init__(self, seed: int) -> None:
        self._next = random.Random(seed).random

    def one(self, options: Sequence[T]) -> T:
        """Pick one of the options."""
        return options[int(self._next() * len(options))]

    def chance(self, probability: float) -> bool:
        """Say yes with a probability."""
        return self._next() < probability

    def noun(self, *kinds: str) -> Noun:
        """Pick a noun of one of the kinds."""
        return self.one(lexicon.NOUNS[self.one(kinds)])

    def adjective(self, *kinds: str) -> Adjective:
        """Pick an adjective of one of the kinds."""
        return self.one(lexicon.ADJECTIVES[self.one(kinds)])


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase in both languages.

    Attributes:
        pt: The Portuguese phrase.
        en: The English phrase.
        gender: Its Portuguese gender.
        person: Its person and number; English `you` counts as plural only with Portuguese vocês.
        silent: Whether Portuguese leaves it out where it is the subject and the verb shows it.
    """

    pt: str
    en: str
    gender: Gender
    person: Person = "3s"
    silent: bool = False

    @property
    def both(self) -> Pair:
        """The phrase without its grammar, as an object or after a preposition."""
        return Pair(self.pt, self.en)

    @property
    def pronoun(self) -> str:
        """The English pronoun that takes up the phrase as a subject, for people."""
        if self.person == "3s":
            return "he" if self.gender == "m" else "she"
        return "they" if self.person == "3p" and self.en != "you" else self.en


def phrase(
    noun: Noun, determiner: str, *, plural: bool = False, adjective: Adjective | None = None
) -> NounPhrase:
    """Build a noun phrase: `aquela casa verde`, `that green house`."""
    forms = _DETERMINERS[determiner]
    person: Person = "3p" if plural else "3s"
    number = noun.plural if plural else noun.singular
    pt = number.pt
    if adjective:
        agreed = portuguese.agree(adjective.pt, noun.gender, person)
        pt = f"{agreed} {pt}" if adjective.pt[0] in _BEFORE_NOUN else f"{pt} {agreed}"
    return NounPhrase(
        pt=words(forms[2 * plural + (noun.gender == "f")], pt, _POSSESSORS.get(determiner, "")),
        en=words(forms[4 + plural], adjective.en if adjective else "", number.en),
        gender=noun.gender,
        person=person,
    )


def name(noun: Noun) -> NounPhrase:
    """Give a first name, which takes an article in Portuguese."""
    return NounPhrase(
        words("a" if noun.gender == "f" else "o", noun.singular.pt), noun.singular.en, noun.gender
    )


def person(pick: Picker) -> NounPhrase:
    """Pick somebody who is not there: a name, a relative or anybody else."""
    if pick.chance(0.45):
        return name(pick.one(lexicon.NAMES))
    if pick.chance(0.6):
        return phrase(pick.noun("relative"), pick.one(("my", "my", "your", "our", "his", "her")))
    return phrase(pick.noun("person"), pick.one(("the", "the", "that", "this")), plural=pick.chance(0.25))


def pronoun(pick: Picker) -> NounPhrase:
    """Pick a personal pronoun as the subject; of eu and tu only the verb form is seen as a rule."""
    gender: Gender = "f" if pick.chance(0.5) else "m"
    feminine = gender == "f"
    return pick.one(
        (
            NounPhrase("eu", "I", gender, "1s", silent=True),
            NounPhrase("eu", "I", gender, "1s", silent=pick.chance(0.6)),
            NounPhrase("tu", "you", gender, "2s", silent=True),
            NounPhrase("nós", "we", gender, "1p", silent=pick.chance(0.7)),
            NounPhrase("ela" if feminine else "ele", "she" if feminine else "he", gender),
            NounPhrase("elas" if feminine else "eles", "they", gender, "3p"),
        )
    )


def someone(pick: Picker) -> NounPhrase:
    """Pick a person as the subject of a clause."""
    return person(pick) if pick.chance(0.5) else pronoun(pick)


def _spoken(subject: NounPhrase, verb: str, tense: Tense) -> str:
    """Give the Portuguese subject, empty if it is left out; eu is said where ele has the same verb form."""
    forms = {portuguese.verb_group(verb, tense, person) for person in (subject.person, "3s")}
    return "" if subject.silent and len(forms) == 2 else subject.pt


def statement(
    subject: NounPhrase,
    action: Predicate,
    tense: Tense = "present",
    *,
    negative: bool = False,
    adverb: Pair = NOTHING,
) -> Pair:
    """Build a statement, without its full stop.

    Args:
        subject: Who does it.
        action: What is done.
        tense: When it is done.
        negative: Whether it is denied.
        adverb: An adverb of frequency: before the English verb, in Portuguese mostly after it.
    """
    verb_pt = portuguese.verb_group(action.verb.pt, tense, subject.person)
    verb_en = english.verb_group(action.verb.en, tense, subject.person, negative, adverb.en)
    around = (adverb.pt, verb_pt) if adverb.pt in _BEFORE_VERB else (verb_pt, adverb.pt)
    return Pair(
        words(_spoken(subject, action.verb.pt, tense), "não" if negative else "", *around, action.rest.pt),
        words(subject.en, verb_en, action.rest.en),
    )


def past_event(pick: Picker, subject: NounPhrase, action: Predicate) -> Pair:
    """Tell or deny what somebody did, and when."""
    negative = pick.chance(0.2)
    times = expressions.PAST_TIMES[:3] if negative else expressions.PAST_TIMES
    return join(statement(subject, action, "past", negative=negative), pick.one(times))


def question(subject: NounPhrase, action: Predicate, tense: Tense = "present") -> Pair:
    """Build a yes-or-no question, without its question mark; Portuguese keeps the order of a statement."""
    helper, verb_en = english.auxiliary(action.verb.en, tense, subject.person)
    return Pair(statement(subject, action, tense).pt, words(helper, subject.en, verb_en, action.rest.en))


def copula(verb: str, subject: NounPhrase, adjective: Adjective, degree: Pair = NOTHING) -> Predicate:
    """Build `estar cansada`, `be tired`, agreeing with the subject."""
    pt = portuguese.agree(adjective.pt, subject.gender, subject.person)
    return Predicate(Pair(verb, "be"), Pair(words(degree.pt, pt), words(degree.en, adjective.en)))


def doing(verb: Pair, thing: Pair) -> Predicate:
    """Build the predicate of a transitive verb and its object."""
    base = verbs.predicate(verb)
    return Predicate(base.verb, Pair(words(base.rest.pt, thing.pt), words(base.rest.en, thing.en)))


def wanting(attitude: Pair, activity: Predicate) -> Predicate:
    """Put a modal verb before an activity: `querer ler`, `want to read`."""
    infinitive = activity.infinitive
    return verbs.predicate(Pair(f"{attitude.pt} {infinitive.pt}", f"{attitude.en} {infinitive.en}"))


def join(*parts: Pair | str) -> Pair:
    """Join phrases with spaces; a string counts for both languages."""
    both = [Pair(part, part) if isinstance(part, str) else part for part in parts]
    return Pair(words(*(part.pt for part in both)), words(*(part.en for part in both)))


def finish(draft: Pair) -> Pair:
    """Contract, capitalise and punctuate a draft; one that ends in `?` or `!` keeps its mark."""
    return Pair(_punctuate(portuguese.contract(draft.pt)), _punctuate(english.fix_articles(draft.en)))


def _punctuate(text: str) -> str:
    text = text.replace(" ?", "?")
    capitalised = re.sub(r"(^|\? )(\w)", lambda match: match[1] + match[2].upper(), text)
    return capitalised if capitalised.endswith(("?", "!")) else f"{capitalised}."
