"""Pairs of sentences with quantities, names and signs: python tools/quantities.py NUMBER OUT.tsv[.gz].

Real text seldom shows weekdays, times in words, centuries, prices, ordinals or rare characters often enough
for a small model. This grammar writes them, in European and Brazilian Portuguese, with one English rendering
for each meaning. The files of tools/quantities/ hold its sentences, phrases and words:

    [kind or list]                        a section; with * an open list, a tenth of which is held out
    O {veículo} parte às {hora}.⇥The {veículo} leaves at {hora}.⇥features

- ``{list}`` is a row of another section or a value of VALUES, ``{value:range}``; the English side names it
  without its range. ``{list#2}`` is another one of the same list.
- ``{^list}`` has a capital letter, ``{!list}`` has capital letters only.
- ``{o:list}``, ``{no:list}``: with an article of its gender and number; ``{a:list}`` in English: *a* or *an*.
- ``{list?aberto|aberta}`` agrees with it (or four forms: plurals); ``{n?dia|dias}`` with a number.
- ``(a|b)`` is one of them; ``(a//b)`` is *a* in European and *b* in Brazilian Portuguese.
- ``=`` as English is the Portuguese text. Features: m, f, mp, fp; PT, BR; x3 for thrice as often.

The output is a function of the arguments alone. With --held-out each sentence has what is held out otherwise:
a tenth of the names, towns and nouns and an eleventh of the numbers from MIN_HELD_OUT on.
"""

import argparse
import gzip
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_suffix("")
HELD_OUT_SHARE = 10
"""One row of so many is held out, in open lists."""
HELD_OUT_MODULUS, HELD_OUT_RESIDUE = 11, 8
"""Of the numbers that are held out."""
MIN_HELD_OUT = 32
"""Days, hours and centuries are shown all."""
PORTUGUESE, ENGLISH = 0, 1


def read_table(name: str) -> dict[str, list[str]]:
    """The rows of a table by their first cell."""
    lines = (FOLDER / "tables" / f"{name}.tsv").read_text("utf-8").splitlines()
    return {key: cells for key, *cells in (line.split("\t") for line in lines)}


ARTICLES = read_table("articles")
"""Articles, also with a preposition, by gender and number."""
PREPOSITIONS = ("em", "de", "a", "por", "para")
"""They stand before names without an article, too."""
GENDERS = ("m", "f", "mp", "fp")

NUMERALS = {int(number): words for number, words in read_table("numerals").items()}
"""Portuguese masculine and feminine, English, English ordinal; of the numbers that are one word."""
_ROMAN = "1000 M 900 CM 500 D 400 CD 100 C 90 XC 50 L 40 XL 10 X 9 IX 5 V 4 IV 1 I".split()  # noqa: SIM905


def in_words(number: int, is_feminine: bool = False) -> str:
    """A number below a million as European Portuguese says it."""
    thousands, rest = divmod(number, 1000)
    if thousands:
        word = "mil" if thousands == 1 else f"{in_words(thousands, is_feminine)} mil"
        conjunction = " e " if rest < 100 or rest % 100 == 0 else " "
        return word + (conjunction + in_words(rest, is_feminine) if rest else "")
    largest = max(value for value in NUMERALS if value <= number)
    word, rest = NUMERALS[largest][is_feminine], number - largest
    if not rest:
        return word
    return f"{'cento' if largest == 100 else word} e {in_words(rest, is_feminine)}"


def in_english_words(number: int, column: int = 2) -> str:
    """A number as English text has it: in words up to a hundred, then in digits; an ordinal of column 3."""
    if number > 100:
        return f"{number:,}"
    if number in NUMERALS:
        return NUMERALS[number][column]
    return f"{NUMERALS[number - number % 10][2]}-{NUMERALS[number % 10][column]}"


def roman(number: int) -> str:
    """A number in Roman numerals."""
    numeral = ""
    for value, sign in zip(_ROMAN[::2], _ROMAN[1::2], strict=True):
        count, number = divmod(number, int(value))
        numeral += sign * count
    return numeral


def english_ordinal(number: int) -> str:
    """1st, 2nd, 11th."""
    if number % 100 in (11, 12, 13):
        return f"{number:,}th"
    return f"{number:,}" + {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def is_held_out(number: int) -> bool:
    """Whether a number is kept for the held-out sentences."""
    return number >= MIN_HELD_OUT and number % HELD_OUT_MODULUS == HELD_OUT_RESIDUE


class Filler(NamedTuple):
    """What stands in a slot."""

    portuguese: str
    english: str
    form: str = ""
    """Of ``GENDERS``; of a number "m" for one and "f" for more, the singular and the plural."""


class Slot(NamedTuple):
    """A place for a filler: ``{!o:list#2}``."""

    key: str
    """What both sides call it."""
    name: str
    argument: str
    article: str
    case: str
    """``^``, ``!`` or nothing."""
    forms: tuple[str, ...]
    """Words of which one agrees with the filler; it stands instead of the filler."""


class Choice(NamedTuple):
    """Alternatives; two of them by variety, if they are of the two varieties."""

    alternatives: tuple["Template", ...]
    is_variety: bool


Template = tuple[str | Slot | Choice, ...]


class Row(NamedTuple):
    """A line of a section."""

    portuguese: Template
    english: Template
    form: str
    variety: str
    weight: int
    is_held_out: bool
    """If its list is open."""


_CHOICE = re.compile(r"\((?:[^(){}|/]|/(?!/)|\{[^{}]*\})*(?:\||//)(?:[^(){}]|\{[^{}]*\})*\)")
_PART = re.compile(rf"\{{[^{{}}]*\}}|{_CHOICE.pattern}")
_ALTERNATIVE = re.compile(r"((?:[^|{}]|\{[^{}]*\})*)(?:\||$)")


def parse(text: str) -> Template:
    """The parts of a template."""
    parts: list[str | Slot | Choice] = []
    position = 0
    for match in _PART.finditer(text):
        parts.append(text[position : match.start()])
        inner = match[0][1:-1]
        parts.append(_slot(inner) if match[0][0] == "{" else _choice(inner))
        position = match.end()
    parts.append(text[position:])
    return tuple(part for part in parts if part)


def _slot(text: str) -> Slot:
    text, _, forms = text.partition("?")
    text, _, number = text.partition("#")
    case = text[0] if text[0] in "^!" else ""
    name, _, argument = text.removeprefix(case).partition(":")
    article = ""
    if name.lower() in ARTICLES:
        article, (name, _, argument) = name, argument.partition(":")
    key = f"{name}#{number}" if number else name
    return Slot(key, name, argument, article, case, tuple(forms.split("|")) if forms else ())


def _choice(text: str) -> Choice:
    if "//" in text:
        return Choice(tuple(parse(part) for part in text.split("//")), is_variety=True)
    found = [match[1] for match in _ALTERNATIVE.finditer(text)]
    alternatives = found if text.endswith("|") else found[:-1]
    return Choice(tuple(parse(part) for part in alternatives), is_variety=False)


class Grammar:
    """The sections of the files of a folder."""

    def __init__(self, folder: Path = FOLDER) -> None:
        sections: dict[str, list[Row]] = {}
        self.open_lists: set[str] = set()
        for path in sorted(folder.glob("*.tsv")):
            rows: list[Row] = []
            for line in path.read_text("utf-8").splitlines():
                if header := re.fullmatch(r"\[(\S+?)( \*)?\]", line):
                    rows = sections.setdefault(header[1], [])
                    if header[2]:
                        self.open_lists.add(header[1])
                elif line and not line.startswith("#!"):
                    rows.append(_row(line))
        self.kinds = {str(row.portuguese[0]): int(str(row.english[0])) for row in sections["kinds"]}
        self._pools: dict[tuple[str, str, bool], list[Row]] = {}
        for name, rows in sections.items():
            _check(name, rows, sections)
            for variety in ("PT", "BR"):
                pool = [row for row in rows for _ in range(row.weight) if row.variety in ("", variety)]
                for held_out in (False, True):
                    split = [row for row in pool if row.is_held_out == held_out]
                    is_split = name in self.open_lists and split
                    self._pools[name, variety, held_out] = split if is_split else pool

    def rows(self, name: str, variety: str, held_out: bool) -> list[Row]:
        """The rows of a section that a variety has, each as often as its weight says."""
        return self._pools[name, variety, held_out]


def _check(name: str, rows: list[Row], sections: Collection[str]) -> None:
    for row in rows:
        portuguese = {slot.key: slot.name for slot in _slots(row.portuguese)}
        unknown = {slot for slot in portuguese.values() if slot not in sections and slot not in VALUES}
        unknown |= {slot.key for slot in _slots(row.english) if slot.key not in portuguese}
        if unknown:
            raise ValueError(f"[{name}] {row.portuguese}: no {' and '.join(unknown)}")


def _row(line: str) -> Row:
    portuguese, english, *features = line.split("\t")
    found = features[0].split() if features else []
    form = next((feature for feature in found if feature in GENDERS), "")
    variety = next((feature for feature in found if feature in ("PT", "BR")), "")
    weight = next((int(feature[1:]) for feature in found if feature[0] == "x"), 1)
    template = parse(portuguese)
    other = template if english == "=" else parse(english)
    return Row(template, other, form, variety, weight, _is_held_out(portuguese))


def _is_held_out(text: str) -> bool:
    """Whether a word of an open list is held out, in whichever list it is."""
    return zlib.crc32(text.encode()) % HELD_OUT_SHARE == 0


def _slots(template: Template) -> Iterator[Slot]:
    for part in template:
        if isinstance(part, Slot):
            yield part
        elif isinstance(part, Choice):
            for alternative in part.alternatives:
                yield from _slots(alternative)


class Writer:
    """Writes pairs of a grammar."""

    def __init__(self, grammar: Grammar, seed: int, held_out: bool = False) -> None:
        self.random = random.Random(seed)
        self.held_out = held_out
        self.variety = "PT"
        self.kept: list[str] = []
        """Names and Roman numerals of the sentence."""
        self.num_held_out = 0
        """Fillers of the sentence that are held out."""
        self._grammar = grammar

    def pairs(self) -> Iterator[tuple[str, str, str]]:
        """Kinds and pairs without end, none twice."""
        kinds = list(self._grammar.kinds)
        weights = list(self._grammar.kinds.values())
        seen: set[str] = set()
        while True:
            kind = self.random.choices(kinds, weights)[0]
            self.variety = self.random.choice(("PT", "BR"))
            self.kept, self.num_held_out = [], 0
            filler = self.filler(kind)
            portuguese = _CONTRACTION.sub(_contracted, filler.portuguese)
            portuguese, english = (_TWO_POINTS.sub(".", text) for text in (portuguese, filler.english))
            if portuguese not in seen and (self.num_held_out or not self.held_out):
                seen.add(portuguese)
                yield kind, portuguese, english

    def filler(self, name: str) -> Filler:
        """A row of a section with its slots filled."""
        row = self.random.choice(self._grammar.rows(name, self.variety, self.held_out))
        scope: dict[str, Filler] = {}
        portuguese = self._render(row.portuguese, scope, PORTUGUESE)
        english = self._render(row.english, scope, ENGLISH)
        if name in self._grammar.open_lists and row.english == row.portuguese:
            self.num_held_out += row.is_held_out
            self.kept.append(english)
        form = row.form or next((filler.form for filler in scope.values() if filler.form), "")
        return Filler(portuguese, english, form)

    def number(self, low: int, high: int) -> int:
        """A number, small ones as often as large ones, held out or not as the sentence wants it."""
        for _ in range(200):
            if high > 20 * max(low, 1):  # as many of each length
                digits = self.random.randint(len(str(low)), len(str(high)))
                first, last = max(low, 10 ** (digits - 1) if digits > 1 else 0), min(high, 10**digits - 1)
                number = self.random.randint(first, last)
                if number > 1000 and self.random.random() < 0.4:
                    number -= number % 100 if number < 10_000 else number % 1000
            else:
                number = self.random.randint(low, high)
            if low <= number <= high and is_held_out(number) == self.held_out:
                self.num_held_out += self.held_out
                return number
            if high < MIN_HELD_OUT:
                return number
        return number

    def _render(self, template: Template, scope: dict[str, Filler], side: int) -> str:
        texts = []
        for part in template:
            if isinstance(part, Choice):
                chance = self.random.randrange(len(part.alternatives))
                alternative = part.alternatives[self.variety == "BR" if part.is_variety else chance]
                texts.append(self._render(alternative, scope, side))
            else:
                texts.append(part if isinstance(part, str) else self._in_slot(part, scope, side))
        return "".join(texts)

    def _in_slot(self, slot: Slot, scope: dict[str, Filler], side: int) -> str:
        if slot.key not in scope:
            value = VALUES.get(slot.name)
            for _ in range(20):
                filler = value(self, slot.argument) if value else self.filler(slot.name)
                if filler not in scope.values():  # {cidade} and {cidade#2} differ
                    break
            scope[slot.key] = filler
        filler = scope[slot.key]
        if slot.forms:
            return slot.forms[GENDERS.index(filler.form or "m") % len(slot.forms)]
        text = filler[side]
        if slot.article:
            text = _article(slot.article, filler, side) + text
        if slot.case:
            text = text.upper() if slot.case == "!" else text[:1].upper() + text[1:]
        return text


_TWO_POINTS = re.compile(r"(?<![.…])\.\.(?![.…])")
"""Of an abbreviation and of a sentence: *44 a.C..*"""
_CONTRACTION = re.compile(r"(?<!\w)(de|em|a|por) ([oa]s?)(?= )", re.I)


def _contracted(match: re.Match[str]) -> str:
    preposition, article = match[1], match[2]
    if preposition.lower() == "a":
        text = f"a{article}" if article[0] in "oO" else f"à{article[1:]}"
    else:
        text = {"d": "d", "e": "n", "p": "pel"}[preposition[0].lower()] + article
    if match[0].isupper():
        return text.upper()
    return text.capitalize() if preposition[0].isupper() else text


_AN = re.compile(r"(?:[aeio]|u(?!ni|se|s ?b)|8|1[18]\b|hour|honest)", re.I)


def _article(article: str, filler: Filler, side: int) -> str:
    """An article with a space; of a filler without gender none, the preposition alone."""
    if side == ENGLISH:
        return f"{article}{'n' * bool(_AN.match(filler.english))} "
    if not filler.form:
        return f"{article} " if article in PREPOSITIONS else ""
    form = ARTICLES[article.lower()][GENDERS.index(filler.form)]
    return f"{form.capitalize() if article[0].isupper() else form} "


Value = Callable[[Writer, str], Filler]


def _bounds(argument: str) -> tuple[int, int]:
    low, high = argument.split("-")
    return int(low), int(high)


def _grouped(writer: Writer, number: int) -> str:
    """A number in digits; its groups have a point, sometimes a space or nothing."""
    text = f"{number:,}"
    chance = writer.random.random()
    if number < 10_000 and chance < 0.2:
        return str(number)
    separator = " " if chance < 0.25 and writer.variety == "PT" else "\u00a0" if chance < 0.28 else "."
    return text.replace(",", separator)


def _n(writer: Writer, argument: str) -> Filler:
    """A count: 1.200, 1,200."""
    number = writer.number(*_bounds(argument))
    return Filler(_grouped(writer, number), f"{number:,}", "m" if number == 1 else "f")


def _id(writer: Writer, argument: str) -> Filler:
    """Digits that both languages write alike."""
    number = writer.number(*_bounds(argument))
    return Filler(str(number), str(number), "m" if number == 1 else "f")


def _digits(writer: Writer, argument: str) -> Filler:
    """So many digits, or as the pattern says: 000-000."""
    pattern = "0" * int(argument) if argument in "123456789" else argument
    text = re.sub("0", lambda _: str(writer.random.randint(0, 9)), pattern)
    return Filler(text, text)


def _decimal(writer: Writer, argument: str) -> Filler:
    """A decimal number: ``1-90,2`` has two places."""
    bounds, _, places = argument.partition(",")
    low, high = _bounds(bounds)
    scale = 10 ** int(places or 1)
    number = writer.number(low * scale + 1, high * scale - 1)
    text = f"{number / scale:,.{len(str(scale)) - 1}f}"
    return Filler(text.translate(str.maketrans(".,", ",.")), text, "f")


def _in_words(is_feminine: bool, english: Callable[[int], str] = in_english_words) -> Value:
    def value(writer: Writer, argument: str) -> Filler:
        """A number in words, in digits in English above a hundred."""
        number = writer.number(*_bounds(argument))
        words = in_words(number, is_feminine)
        if writer.variety == "BR":
            words = re.sub(r"deza(sseis|ssete|nove)", r"deze\1", words)
        return Filler(words, english(number), "m" if number == 1 else "f")

    return value


def _roman(writer: Writer, argument: str) -> Filler:
    """A Roman numeral on both sides."""
    numeral = roman(writer.random.randint(*_bounds(argument)))
    writer.kept.append(numeral)
    return Filler(numeral, numeral)


def _century(writer: Writer, argument: str) -> Filler:
    """XVIII, 18th."""
    number = writer.random.randint(*_bounds(argument))
    return Filler(roman(number), english_ordinal(number))


def _ordinal(suffix: str) -> Value:
    def value(writer: Writer, argument: str) -> Filler:
        """1.º or 1º, 1st."""
        number = writer.number(*_bounds(argument))
        point = "." if writer.random.random() < (0.8 if writer.variety == "PT" else 0.1) else ""
        return Filler(f"{number}{point}{suffix}", english_ordinal(number))

    return value


def _count(writer: Writer, argument: str) -> Filler:
    """A number of things, of a list with singulars and plurals: duas páginas, two pages."""
    thing = writer.filler(argument)
    (one, many), (english_one, english_many) = thing.portuguese.split("/"), thing.english.split("/")
    chance = writer.random.random()
    if chance < 0.4:
        high = writer.random.choice((12, 99, 999, 2500))
        number = VALUES["wf" if thing.form == "f" else "w"](writer, f"1-{high}")
    elif chance < 0.8:
        number = _n(writer, writer.random.choice(("1-99", "100-9999", "10000-990000")))
    else:
        number = writer.filler("muitos")
    if number.form == "m":
        return Filler(f"{number.portuguese} {one}", f"{number.english} {english_one}", thing.form)
    return Filler(f"{number.portuguese} {many}", f"{number.english} {english_many}", f"{thing.form}p")


VALUES: dict[str, Value] = {
    **{"n": _n, "id": _id, "dígitos": _digits, "dec": _decimal, "conta": _count},
    **{"w": _in_words(is_feminine=False), "wf": _in_words(is_feminine=True), "wano": _in_words(False, str)},
    **{"rom": _roman, "séc": _century, "ord": _ordinal("º"), "orda": _ordinal("ª")},
}
"""What a slot may have beside the rows of a section."""


def main(arguments: list[str] | None = None) -> None:
    """Write pairs into a file and show how many there are of each kind."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("number", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--held-out", action="store_true", help="only with what is held out otherwise")
    options = parser.parse_args(arguments)
    writer = Writer(Grammar(), options.seed, options.held_out)
    counts: Counter[str] = Counter()
    lines: list[str] = []
    for kind, portuguese, english in islice(writer.pairs(), options.number):
        counts[kind] += 1
        lines.append(f"{portuguese}\t{english}\n")
    content = "".join(lines).encode()
    options.out.write_bytes(gzip.compress(content, mtime=0) if options.out.suffix == ".gz" else content)
    for kind, count in counts.most_common():
        print(f"{count:8,} {kind}")


if __name__ == "__main__":
    main()
