"""Names of people and of towns in Portuguese text, which stay as they are: *Rui P. Matos*, *Braga*."""

import re
from typing import NamedTuple

_MEN = (
    "Afonso|Alberto|Alexandre|André|Ant[óô]nio|Armando|Artur|Augusto|Bruno|Caio|Carlos|Cláudio|César|Daniel|Davi"
    "|David|Diogo|Duarte|Eduardo|Fábio|F[ei]lipe|Fernando|Flávio|Francisco|Gabriel|Gonçalo|Guilherme|Gustavo"
    "|Heitor|Hélder|Henrique|Hugo|Igor|Joaquim|João|Jorge|José|Júlio|Leonardo|Lucas|Luciano|Luí[sz]|Luiz|Manuel"
    "|Marcelo|Márcio|Marcos|Mário|Mateus|Matheus|Miguel|Murilo|Nuno|Otávio|Paulo|Pedro|Rafael|Raul|Renato|Ricardo"
    "|Roberto|Rodrigo|Rui|Samuel|Sérgio|Simão|T[hi]+ago|Tomás|Vicente|Vinícius|V[ií]c?tor|Wagner|Wilson|Álvaro"
)
_WOMEN = (
    "Adriana|Alice|Aline|Amanda|Ana|Andr[eé]ia|Bárbara|Beatriz|Bruna|Camila|Carla|Carolina|Catarina|Célia|Clara"
    "|Cláudia|Cristina|Daniela|Débora|Diana|Eduarda|Elisa|Eva|Fernanda|Filipa|Francisca|Gabriela|Helena|Inês|Irene"
    "|Isabel|Joana|Juliana|Júlia|Larissa|Laura|Leonor|Letícia|Lúcia|Luí[sz]a|Luiza|Madalena|Manuela|Margarida|Maria"
    "|Mariana|Marta|Matilde|M[óô]nica|Patrícia|Paula|Rafaela|Raquel|Rita|Rosa|Sandra|Sara|Sílvia|Simone|Sofia"
    "|S[óô]nia|Susana|Tânia|Teresa|Vanessa|Vera|Ângela"
)
"""The most common first names of Portugal and Brazil."""
_SURNAME = r"(?:[A-ZÀ-Þ][a-zà-ÿ]{2,}(?:-[A-ZÀ-Þ][a-zà-ÿ]+)?|Sá)"
_PERSON = re.compile(
    rf"(?<!São )(?<!Sant[ao] )(?<!S\. )(?<!Sta\. )\b(?:(?P<man>{_MEN})|{_WOMEN})"
    rf"(?: (?:d[aeo]s? )?(?:{_SURNAME}|[A-Z]\.(?= (?:d[aeo]s? )?[A-ZÀ-Þ])))+(?![\w-])"
)
"""A first name and what follows it, initials included; not of a saint."""
_TOWN = re.compile(
    r"(?<![\w-])(?:Porto(?! (?:Alegre|Seguro|Santo|Novo|Rico|Velho|d[aeo]s? [A-ZÀ-Þ]))"
    r"|Braga|Aveiro|Coimbra|Évora|Setúbal|Viseu|Leiria|Cascais|Sintra|Guimarães|Funchal|Matosinhos|Almada|Oeiras"
    r"|Barcelos|Brasília|Recife|Curitiba|Manaus|Campinas|Niterói|Florianópolis|Goiânia|Cuiabá|Maceió|Aracaju"
    r"|Londrina|Joinville)(?![\w-])"
)
"""Towns that small models spell otherwise, or take for words."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_HONORIFIC = re.compile(r"Exm[oa]s?|Senhora?e?s?|Prof\w*|Dout\w+|Atte?|Eng\w*")


class Name(NamedTuple):
    """A name in a text."""

    begin: int
    end: int
    kind: str
    """``man``, ``woman`` or ``town``."""


def names(text: str) -> list[Name]:
    """The names of a text, in order; none in a title, all words of which have capitals."""
    people = [Name(*match.span(), "man" if match["man"] else "woman") for match in _PERSON.finditer(text)]
    towns = [Name(*match.span(), "town") for match in _TOWN.finditer(text) if not _is_in(match, people)]
    if not people and not towns:
        return []
    around = [word[0] for word in _WORD.finditer(text) if not _is_in(word, [*people, *towns])]
    around = [word for word in around if not _HONORIFIC.fullmatch(word)]
    if len(around) > 1 and not any(word[0].islower() for word in around):
        return []  # a title
    return sorted([*people, *towns])


def _is_in(match: re.Match[str], names: list[Name]) -> bool:
    return any(name.begin <= match.start() < name.end for name in names)
