"""European Portuguese word forms: plurals, feminines, verbs, contractions."""

import re
from functools import cache

from tools.demo_corpus.features import PERSONS, Gender, Person, Tense, words

_ACCENTED = frozenset("áéíóúâêôãõ")

# Endings in the order of PERSONS: eu, tu, ele/ela, nós, eles/elas.
_ENDINGS = {
    ("ar", "present"): "o as a amos am",
    ("er", "present"): "o es e emos em",
    ("ir", "present"): "o es e imos em",
    ("ar", "past"): "ei aste ou ámos aram",
    ("er", "past"): "i este eu emos eram",
    ("ir", "past"): "i iste iu imos iram",
}
_FUTURE = ["ei", "ás", "á", "emos", "ão"]
_CONDITIONAL = ["ia", "ias", "ia", "íamos", "iam"]
_SHORT_FUTURE_STEMS = {"fazer": "far", "trazer": "trar", "dizer": "dir", "pôr": "por"}

_IRREGULAR = """
ser present: sou és é somos são
ser past: fui foste foi fomos foram
estar present: estou estás está estamos estão
estar past: estive estiveste esteve estivemos estiveram
estar imperfect: estava estavas estava estávamos estavam
ter present: tenho tens tem temos têm
ir present: vou vais vai vamos vão
ir past: fui foste foi fomos foram
fazer present: faço fazes faz fazemos fazem
fazer past: fiz fizeste fez fizemos fizeram
trazer present: trago trazes traz trazemos trazem
trazer past: trouxe trouxeste trouxe trouxemos trouxeram
dizer past: disse disseste disse dissemos disseram
ver present: vejo vês vê vemos veem
ver past: vi viste viu vimos viram
ler present: leio lês lê lemos leem
dar past: dei deste deu demos deram
querer present: quero queres quer queremos querem
poder present: posso podes pode podemos podem
saber present: sei sabes sabe sabemos sabem
pôr present: ponho pões põe pomos põem
pôr past: pus puseste pôs pusemos puseram
passear present: passeio passeias passeia passeamos passeiam
traduzir present: traduzo traduzes traduz traduzimos traduzem
conduzir present: conduzo conduzes conduz conduzimos conduzem
"""
_IRREGULAR_FIRST_PERSON = {
    "dormir": "durmo",
    "ouvir": "ouço",
}

_ARTICLES = ("o", "a", "os", "as")
_DEMONSTRATIVES = [stem + ending for stem in ("est", "ess", "aquel") for ending in ("e", "a", "es", "as")]
_PRONOUNS = ("ele", "ela", "eles", "elas")
_CONTRACTIONS = {
    **{f"em {word}": f"n{word}" for word in (*_ARTICLES, "um", "uma", *_DEMONSTRATIVES, *_PRONOUNS)},
    **{f"de {word}": f"d{word}" for word in (*_ARTICLES, *_DEMONSTRATIVES, *_PRONOUNS)},
    **{f"por {article}": f"pel{article}" for article in _ARTICLES},
    **{
        f"a {article}": contracted
        for article, contracted in zip(_ARTICLES, ["ao", "à", "aos", "às"], strict=True)
    },
    **{f"a {word}": f"à{word[1:]}" for word in _DEMONSTRATIVES if word.startswith("aquel")},
}
_UNCONTRACTED = re.compile(rf"\b({'|'.join(sorted(_CONTRACTIONS, key=len, reverse=True))})\b")


@cache
def plural(word: str) -> str:
    """Give the regular plural of a noun or adjective."""
    accented = not _ACCENTED.isdisjoint(word)
    if word.endswith("ão"):
        return word[:-2] + "ões"
    if word.endswith("m"):
        return word[:-1] + "ns"
    if word.endswith(("el", "il")):
        stressed = "éis" if word.endswith("el") else "is"
        return word[:-2] + ("eis" if accented else stressed)
    if word.endswith("l"):
        return word[:-1] + "is"
    if word.endswith(("r", "z")):
        return word + "es"
    return word if word.endswith("s") else word + "s"


@cache
def feminine(adjective: str) -> str:
    """Give the regular feminine of an adjective or participle."""
    if adjective.endswith("o"):
        return adjective[:-1] + "a"
    return adjective + "a" if adjective.endswith("or") else adjective


def agree(adjective: tuple[str, str], gender: Gender, person: Person) -> str:
    """Inflect an adjective, given as (masculine, feminine), for gender and number."""
    singular = adjective[gender == "f"]
    return plural(singular) if person in ("1p", "3p") else singular


def _parse_irregular() -> dict[tuple[str, str], list[str]]:
    rows = (line.split(": ") for line in _IRREGULAR.strip().splitlines())
    return {(key.split()[0], key.split()[1]): forms.split() for key, forms in rows}


_IRREGULAR_FORMS = _parse_irregular()


def _before_e(stem: str) -> str:
    """Keep the sound of a stem's last consonant before an e: tocar, toquei."""
    for ending, spelling in (("ç", "c"), ("c", "qu"), ("g", "gu")):
        if stem.endswith(ending):
            return stem[: -len(ending)] + spelling
    return stem


def _before_o(stem: str) -> str:
    """Keep the sound of an -er or -ir stem's last consonant before an o: conhecer, conheço."""
    return stem[:-1] + "ç" if stem.endswith("c") else stem


@cache
def conjugate(infinitive: str, tense: str, person: Person) -> str:
    """Give one simple form of a verb.

    Args:
        infinitive: The verb.
        tense: `present`, `past`, `future`, `conditional` or, of estar only, `imperfect`.
        person: The subject's person and number.
    """
    index = PERSONS.index(person)
    if (infinitive, tense) in _IRREGULAR_FORMS:
        return _IRREGULAR_FORMS[infinitive, tense][index]
    if tense in ("future", "conditional"):
        endings = _FUTURE if tense == "future" else _CONDITIONAL
        return _SHORT_FUTURE_STEMS.get(infinitive, infinitive) + endings[index]
    if person == "1s" and tense == "present" and infinitive in _IRREGULAR_FIRST_PERSON:
        return _IRREGULAR_FIRST_PERSON[infinitive]
    stem, kind = infinitive[:-2], infinitive[-2:]
    ending = _ENDINGS[kind, tense].split()[index]
    if kind == "ar" and ending.startswith("e"):
        stem = _before_e(stem)
    elif kind != "ar" and ending == "o":
        stem = _before_o(stem)
    return stem + ending


@cache
def verb_group(infinitive: str, tense: Tense, person: Person) -> str:
    """Give the verb with its auxiliary: `está a ler`, `vai ler`, `lerá`."""
    if tense == "progressive":
        return words(conjugate("estar", "present", person), "a", infinitive)
    if tense == "was_progressive":
        return words(conjugate("estar", "imperfect", person), "a", infinitive)
    if tense == "going":
        return words(conjugate("ir", "present", person), infinitive)
    return conjugate(infinitive, "past" if tense == "perfect" else tense, person)


def forbid(infinitive: str) -> str:
    """Give the form that follows não in an order to tu: `não feches`."""
    stem = conjugate(infinitive, "present", "1s")[:-1]
    return _before_e(stem) + "es" if infinitive.endswith("ar") else stem + "as"


def contract(sentence: str) -> str:
    """Join prepositions with the determiners after them: `em a casa de o João`, `na casa do João`."""
    return _UNCONTRACTED.sub(lambda match: _CONTRACTIONS[match[0]], sentence)
