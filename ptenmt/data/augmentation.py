"""Noise for pairs, for a model that copes with capitals, typos, missing full stops, emoji, kept parts.

Each noise is a function of a pair and a ``random.Random``; its name is its option in ``data.augment``. Where
a noise changes both sides, the target shows what the translation of such a source should look like.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random

from ptenmt.config import AugmentConfig, DataConfig
from ptenmt.data.kept_parts import PLACEHOLDERS, mask, mask_pair, unmask
from ptenmt.data.quantities import redraw_quantities, replace_names
from ptenmt.data.readers import SentencePair
from ptenmt.tokenizers.words import capitalized

CASES = ("upper_case", "title_case", "lower_case")
"""At most one of them changes a pair."""
SYMBOLS = tuple("😀😂😊😉😍😘😎😢😭😡🤔🙄👍👎👏🙏💪🎉🔥✨❤★☺♪✓✗→•§©®™")
"""Emoji and other symbols that stand in every language; ``symbols`` puts them into both sides."""
QUOTATION_MARKS = ("«»", "“”", '""', "‘’", "„“", "()", "[]", "**")
"""Pairs of marks, in which ``symbols`` encloses both sides or an aligned part of them."""

_MEASURED_PAIRS = 2_000
_INSERTED_SHARE = 0.2
_ENCLOSING_SHARE = 0.3
_QUOTED_SHARE = 0.7
_QUOTATION_MARK = re.compile(rf"[{re.escape(''.join(QUOTATION_MARKS))}]")
_NAME_OR_MARK = re.compile(r"\d+(?:[.,:]\d+)*|[A-ZÀ-Þ]\w+|\w{5,}|[,;:]")
_TYPO_SHARE = 0.1
_NO_ACCENTS_SHARE = 0.2
_WORD = re.compile(rf"[^\W\d_{''.join(PLACEHOLDERS)}]{{3,}}")
_KEYBOARD = ("qwertyuiop", "asdfghjklç", "zxcvbnm")
"""The letters of the Portuguese keyboard; each row is shifted to the right by less than a key."""
_KEYS = {key: (row, column) for row, keys in enumerate(_KEYBOARD) for column, key in enumerate(keys)}
_STEPS = {(0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0)}
"""From a key to the next ones, in rows and columns."""
_NEIGHBOURS = {
    key: "".join(near for near, (below, right) in _KEYS.items() if (below - row, right - column) in _STEPS)
    for key, (row, column) in _KEYS.items()
}


def add_typos(source: str, target: str, random: Random) -> SentencePair:
    """Mistype at least one word of the source, and about a tenth of the others.

    A letter is replaced by its neighbour on the keyboard, left out, doubled, swapped with the next one, or
    loses its accent. A fifth of the sentences with accents lose all of them instead, as in quick messages.
    """
    masked, parts = mask(source)
    if random.random() < _NO_ACCENTS_SHARE and (bare := without_accents(masked)) != masked:
        return unmask(bare, parts), target
    words = list(_WORD.finditer(masked))
    if not words:
        return source, target
    certain = random.choice(words)
    for word in reversed(words):
        if word is certain or random.random() < _TYPO_SHARE:
            masked = masked[: word.start()] + _mistyped(word[0], random) + masked[word.end() :]
    return unmask(masked, parts), target


def drop_end_punctuation(source: str, target: str, _random: Random) -> SentencePair:
    """Remove the full stop, question or exclamation mark at the end of both sides, if both have one."""
    shorter = [text.rstrip(".!?…") for text in (source, target)]
    if shorter[0] == source or shorter[1] == target or not (shorter[0].strip() and shorter[1].strip()):
        return source, target
    return shorter[0].rstrip(), shorter[1].rstrip()


def change_case(change: Callable[[str], str], source: str, target: str, _random: Random) -> SentencePair:
    """Change the case of both sides, except for kept parts such as URLs."""
    (source, sources), (target, targets) = mask(source), mask(target)
    return unmask(change(source), sources), unmask(change(target), targets)


def add_symbols(source: str, target: str, random: Random) -> SentencePair:
    """Enclose an aligned part of both sides in quotation marks or brackets, or add emoji to both.

    One to three of ``SYMBOLS`` are appended, or, more rarely, prepended.
    """
    if random.random() < _QUOTED_SHARE and not _QUOTATION_MARK.search(source + target):
        (source, sources), (target, targets) = mask(source), mask(target)
        source, target = _with_enclosed_part(source, target, random.choice(QUOTATION_MARKS), random)
        return unmask(source, sources), unmask(target, targets)
    symbols = "".join(random.choices(SYMBOLS, k=random.choice((1, 1, 2, 3))))
    if random.random() < 0.25:
        return f"{symbols} {source}", f"{symbols} {target}"
    return f"{source} {symbols}", f"{target} {symbols}"


def add_placeholders(source: str, target: str, random: Random) -> SentencePair:
    """Replace the kept parts that both sides have by placeholders, numbered from a random one on.

    Into some of the pairs without any, one to three placeholders are inserted at gaps that are aligned, so
    that a kept part anywhere leaves the rest of a translation as it is; now and then two enclose what stands
    between two gaps, as tags do.
    """
    first = random.randrange(len(PLACEHOLDERS))
    signs = PLACEHOLDERS[first:] + PLACEHOLDERS[:first]
    masked = mask_pair(source, target, signs)
    if masked != (source, target) or random.random() >= _INSERTED_SHARE or set(signs) & {*source, *target}:
        return masked
    if " " not in source or " " not in target:  # such as Chinese
        return masked
    if random.random() < _ENCLOSING_SHARE:
        return _with_enclosed_part(source, target, signs, random)
    gaps = _aligned_gaps(source, target)
    chosen = sorted(random.sample(gaps, min(len(gaps), random.choice((1, 1, 2, 3)))))
    for sign, (in_source, in_target) in reversed([*zip(signs, chosen, strict=False)]):
        source, target = _with_word(source, in_source, sign), _with_word(target, in_target, sign)
    return source, target


def _aligned_gaps(source: str, target: str) -> list[tuple[int, int]]:
    """Places of both sides of a pair that surely correspond, in order.

    They are the beginning, the end before the final punctuation, and those around names, numbers, long words
    and marks that both sides have once, if these have the same order.
    """
    once: list[dict[str, tuple[int, int]]] = []
    for text in (source, target):
        tokens = list(_NAME_OR_MARK.finditer(text))
        counts = Counter(token[0] for token in tokens)
        once.append({token[0]: token.span() for token in tokens if counts[token[0]] == 1})
    shared = sorted((once[0][token], once[1][token]) for token in once[0].keys() & once[1].keys())
    ends = [len(text.rstrip(".!?… ")) for text in (source, target)]
    inner = [gap for in_source, in_target in shared for gap in zip(in_source, in_target, strict=True)]
    is_in_order = all(before[1] <= after[1] for before, after in pairwise(inner))
    gaps = [(0, 0), *(inner if is_in_order else []), (ends[0], ends[1])]
    return list(dict.fromkeys(gaps))


def _with_enclosed_part(source: str, target: str, signs: Sequence[str], random: Random) -> SentencePair:
    """Enclose what stands between two aligned gaps in the first two signs."""
    gaps = _aligned_gaps(source, target)
    begin, end = sorted(random.sample(gaps, 2)) if len(gaps) > 1 else (gaps[0], gaps[0])
    if not (source[begin[0] : end[0]].strip(" ,;:") and target[begin[1] : end[1]].strip(" ,;:")):
        return source, target
    return _enclosed(source, begin[0], end[0], signs), _enclosed(target, begin[1], end[1], signs)


def _with_word(text: str, place: int, word: str) -> str:
    """Insert a word into a text, with the spaces that it needs."""
    before, after = text[:place].rstrip(), text[place:].lstrip()
    left = f"{before} " if before else ""
    return f"{left}{word} {after}" if after[:1].isalnum() else f"{left}{word}{after}"


def _enclosed(text: str, begin: int, end: int, signs: Sequence[str]) -> str:
    """Put the first two signs around a part of a text, without the white space and commas around it."""
    inner = text[begin:end].strip(" ,;:")
    begin = text.index(inner, begin)
    return f"{text[:begin]}{signs[0]}{inner}{signs[1]}{text[begin + len(inner) :]}"


NOISES: Mapping[str, Callable[[str, str, Random], SentencePair]] = {
    "typos": add_typos,
    "drop_end_punctuation": drop_end_punctuation,
    "upper_case": partial(change_case, str.upper),
    "title_case": partial(change_case, capitalized),
    "lower_case": partial(change_case, str.lower),
    "symbols": add_symbols,
    "placeholders": add_placeholders,
}
"""By option, in the order in which they are applied."""


OF_LANGUAGES: Mapping[str, Callable[[str, str, Random, DataConfig], SentencePair]] = {
    "quantities": redraw_quantities,
    "names": replace_names,
}
"""Those that depend on the languages, by option; they are applied before the others."""


def draw_noises(options: AugmentConfig, random: Random) -> list[str]:
    """Draw the noises of one pair, each with the probability that is its option, in their order.

    Those of ``NOISES`` are drawn whatever their shares; a later one only where it is used, so that a run
    from before it draws as before.
    """
    shares = vars(options)
    drawn = {name for name in NOISES if name not in CASES and random.random() < shares[name]}
    number = random.random()
    for name in CASES:
        if 0 <= number < shares[name]:
            drawn.add(name)
        number -= shares[name]
    drawn |= {name for name in OF_LANGUAGES if shares[name] and random.random() < shares[name]}
    return [name for name in (*OF_LANGUAGES, *NOISES) if name in drawn]


def noisy_pair(names: Sequence[str], pair: SentencePair, random: Random, data: DataConfig) -> SentencePair:
    """Apply the noises with these names to a pair; the tag of its file stays in front."""
    source, target = pair
    tag = _tag_of(source, data)
    source = source.removeprefix(tag)
    for name in names:
        if name in OF_LANGUAGES:
            source, target = OF_LANGUAGES[name](source, target, random, data)
        else:
            source, target = NOISES[name](source, target, random)
    return tag + source, target


@dataclass(frozen=True)
class NoisyTexts(Sequence[SentencePair]):
    """Training pairs with the noise of a config, for tokenizers, which need its capitals and symbols."""

    pairs: Sequence[SentencePair]
    data: DataConfig

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, row: int) -> SentencePair:  # type: ignore[override]  # no slices
        random = Random(row)
        names = draw_noises(self.data.augment, random)
        return noisy_pair(names, self.pairs[row], random, self.data)


def share_with_quantities(pairs: Sequence[SentencePair], data: DataConfig) -> float:
    """The share of pairs that ``quantities`` changes if it is drawn, measured on evenly spaced ones."""
    rows = range(0, len(pairs), max(1, len(pairs) // _MEASURED_PAIRS))
    changed = [noisy_pair(["quantities"], pairs[row], Random(row), data) != pairs[row] for row in rows]
    return sum(changed) / max(1, len(changed))


def tokenizer_symbols(data: DataConfig) -> list[str]:
    """Return the tokens of their own that a config needs: the tags of its files, emoji and placeholders."""
    signs = sorted({file.tag for file in data.train if file.tag})
    if data.augment.placeholders:
        signs += PLACEHOLDERS
    symbols = [text for sign in signs for text in (f"▁{sign}", sign)]  # with and without a space before it
    return [*symbols, *SYMBOLS] if data.augment.symbols else symbols


def _tag_of(source: str, data: DataConfig) -> str:
    """Return the tag that a training sentence begins with, and the space after it."""
    tags = (f"{file.tag} " for file in data.train if file.tag)
    return next((tag for tag in tags if source.startswith(tag)), "")


def without_accents(text: str) -> str:
    """Remove all accents and cedillas."""
    letters = (sign for sign in unicodedata.normalize("NFD", text) if unicodedata.category(sign) != "Mn")
    return unicodedata.normalize("NFC", "".join(letters))


def _mistyped(word: str, random: Random) -> str:
    place = random.randrange(len(word))
    letter, before, after = word[place], word[:place], word[place + 1 :]
    bare = without_accents(letter)
    changes = [before + after, before + letter + letter + after]
    if after and after[0] != letter:
        changes.append(before + after[0] + letter + after[1:])
    if bare != letter:
        changes.append(before + bare + after)
    if near := _NEIGHBOURS.get(letter.lower()) or _NEIGHBOURS.get(bare.lower()):
        typed = random.choice(near)
        changes.append(before + (typed.upper() if letter.isupper() else typed) + after)
    return random.choice(changes)
