"""American English word forms: plurals, verbs, auxiliaries, articles."""

import re
from functools import cache

from tools.demo_corpus.features import Person, Tense, words

# base past participle, for verbs that do not just add -ed
_IRREGULAR = """
break broke broken; bring brought brought; buy bought bought; cut cut cut; do did done
draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten; feed fed fed; find found found
forget forgot forgotten; get got gotten; give gave given; go went gone; have had had; hear heard heard
know knew known; learn learned learned; leave left left; lend lent lent; lose lost lost
make made made; meet met met; pay paid paid; read read read; ride rode ridden; run ran run
say said said; see saw seen; sell sold sold; set set set; show showed shown; sing sang sung
sleep slept slept; speak spoke spoken; swim swam swum; take took taken; think thought thought
understand understood understood; win won won; write wrote written
"""
_IRREGULAR_FORMS = {
    base: (past, participle)
    for base, past, participle in (
        row.split() for line in _IRREGULAR.strip().splitlines() for row in line.split("; ")
    )
}
_IRREGULAR_THIRD = {"have": "has", "do": "does", "go": "goes"}
_NEGATIVE = {"am": "am not", "can": "can't", "will": "won't"}
_ARTICLE_BEFORE_VOWEL = re.compile(r"\ba (?=(?!one\b|uni|use)[aeiou]|hour|honest)")
_DOUBLING = re.compile(r"[^aeiou]*[aeiou][bdgmnpt]")


@cache
def add_s(word: str) -> str:
    """Give the regular plural of a noun, which is also the third person of a verb."""
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def _stem(base: str) -> str:
    """Give what -ed and -ing are added to: `stopp-`, `clos-`."""
    if _DOUBLING.fullmatch(base):
        return base + base[-1]
    return base[:-1] if base.endswith("e") and not base.endswith("ee") else base


@cache
def gerund(base: str) -> str:
    """Give the -ing form of a verb."""
    return "being" if base == "be" else _stem(base) + "ing"


def _past(base: str) -> str:
    if base in _IRREGULAR_FORMS:
        return _IRREGULAR_FORMS[base][0]
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return _stem(base) + "ed"


def participle(base: str) -> str:
    """Give the past participle of a verb."""
    return _IRREGULAR_FORMS[base][1] if base in _IRREGULAR_FORMS else _past(base)


def _be(person: Person, *, past: bool = False) -> str:
    if past:
        return "was" if person in ("1s", "3s") else "were"
    return {"1s": "am", "3s": "is"}.get(person, "are")


@cache
def auxiliary(base: str, tense: Tense, person: Person) -> tuple[str, str]:
    """Split a verb into the auxiliary that a question would start with, and the rest.

    Args:
        base: The verb, also `be`, `can` or `should`.
        tense: The tense.
        person: The subject's person and number.

    Returns:
        The auxiliary and the rest: `("does", "read")`, `("is", "reading")`, `("was", "")`.
    """
    third = person == "3s"
    if base == "be" and tense in ("present", "past"):
        return _be(person, past=tense == "past"), ""
    if base in ("can", "should"):
        return base, ""
    return {
        "present": ("does" if third else "do", base),
        "past": ("did", base),
        "perfect": ("has" if third else "have", participle(base)),
        "progressive": (_be(person), gerund(base)),
        "was_progressive": (_be(person, past=True), gerund(base)),
        "going": (_be(person), f"going to {base}"),
        "future": ("will", base),
        "conditional": ("would", base),
    }[tense]


@cache
def verb_group(base: str, tense: Tense, person: Person, negative: bool = False, adverb: str = "") -> str:
    """Give the verb with its auxiliary in a statement: `reads`, `isn't reading`, `has already read`."""
    helper, rest = auxiliary(base, tense, person)
    if negative:
        return words(_NEGATIVE.get(helper, f"{helper}n't"), adverb, rest)
    if helper not in ("do", "does", "did"):
        return words(helper, adverb, rest)
    if helper == "did":
        return words(adverb, _past(base))
    return words(adverb, _IRREGULAR_THIRD.get(base, add_s(base)) if helper == "does" else base)


def fix_articles(sentence: str) -> str:
    """Write `an` for `a` before a vowel sound."""
    return _ARTICLE_BEFORE_VOWEL.sub("an ", sentence)
