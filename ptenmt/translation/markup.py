"""Markup, such as bold words and links, moved to the translation of its text by word alignment.

A marked-up text is a list of fragments. Like spans (placement.py), elements are put at the words that are
aligned to theirs; where an empty element falls, the same vote decides.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

from ptenmt.data.kept_parts import kept_part_pattern
from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation.placement import gap_votes, source_text
from ptenmt.translation.postprocessing import TranslatedSentence, Translation
from ptenmt.translation.translator import Translator
from ptenmt.translation.word_alignment import Alignment, matching_words

Elements = tuple[int, ...]
"""The numbers of the elements around a part of a text, outermost first; they increase in the text."""
Fragment = tuple[str, Elements]
"""A part of a text, and the elements around it; the text of an empty element, such as an image, is empty."""
_SWAPPED = str.maketrans(",.", ".,")
"""Writes the numbers of one language as the other does."""
_MIN_WEIGHT_OF_EQUALS = 0.2
"""Between words such as *kg*; the two articles *a* have less."""


class MarkedSentence(NamedTuple):
    """A sentence of a text, or the white space before one, and its translation."""

    fragments: list[Fragment]
    translation: str
    to_align: TranslatedSentence | None = None
    """The sentence, if its words have to be aligned."""


def move_markup(
    translator: Translator, translations: Sequence[Translation], texts: Sequence[Sequence[Fragment]]
) -> list[list[list[Fragment]]]:
    """Move markup, such as bold words and links, to the translations of texts by word alignment.

    Returns:
        For each text the fragments of its best translation, then those of each alternative.
    """
    marked = [
        [marked_sentences(fragments, ranked) for ranked in (translation, *translation.alternatives)]
        for translation, fragments in zip(translations, texts, strict=True)
    ]
    to_align = [sentence.to_align for sentence in chain(*chain(*marked)) if sentence.to_align]
    sources = [translated.sentence.ids for translated in to_align]
    matrices = translator.engine.attention(sources, [translated.hypothesis.ids for translated in to_align])
    alignments = (
        Alignment(
            source=source_text(sentence.original, sentence.spans, lower=sentence.case is not None)[0],
            translation=hypothesis.generated,
            source_tokens=translator.tokenizers.source.pieces(sentence.ids),
            target_tokens=translator.tokenizers.target.pieces(hypothesis.ids[1:]),
            weights=weights,
        )
        for (sentence, hypothesis, _), weights in zip(to_align, matrices, strict=True)
    )
    return [[moved(sentences, alignments) for sentences in of_text] for of_text in marked]


def text_of(fragments: Sequence[Fragment]) -> str:
    """The text of fragments."""
    return "".join(text for text, _ in fragments)


def marked_sentences(fragments: Sequence[Fragment], translation: Translation) -> list[MarkedSentence]:
    """Divide a text into its sentences and the white space around them, in order."""
    left = list(reversed(fragments))
    marked: list[MarkedSentence] = []
    for translated in translation.sentences:
        before, original = translated.sentence.before, translated.sentence.original
        marked.append(MarkedSentence(_taken(left, len(before), with_empty=False), before))
        own = _taken(left, len(original), with_empty=True)
        is_simple = original == translated.text or len({elements for _, elements in own}) <= 1
        marked.append(MarkedSentence(own, translated.text, None if is_simple else translated))
    return [*marked, MarkedSentence(left[::-1], text_of(left[::-1]))]


def _taken(left: list[Fragment], length: int, *, with_empty: bool) -> list[Fragment]:
    """Remove the first fragments, from the end of a list; ``with_empty``: also the empty ones after them."""
    taken: list[Fragment] = []
    while left and (length or (with_empty and not left[-1][0])):
        text, elements = left.pop()
        if len(text) > length:
            left.append((text[length:], elements))
        taken.append((text[:length], elements))
        length -= len(taken[-1][0])
    return taken


def moved(sentences: Sequence[MarkedSentence], alignments: Iterator[Alignment]) -> list[Fragment]:
    """The fragments of the translation of a text.

    In each sentence an element contains consecutive words, those aligned to its own as far as possible,
    inside the element around it and beside its siblings; each has one, if there are enough. Empty elements,
    and those for which there is no word, stand between words, and beside the kept part that they touched.

    Args:
        sentences: Of the text.
        alignments: The next one is that of the next sentence that needs it; its texts may differ from the
            sentence's in kept parts, terms and capitals.
    """
    fragments: list[Fragment] = []
    for own, translation, to_align in sentences:
        if to_align:
            fragments += _moved(own, translation, next(alignments))
        elif translation == text_of(own):
            fragments += own
        else:
            fragments += [(translation, elements) for _, elements in own[:1]]
    return _joined(fragments)


def _joined(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Fragments with white space in the elements of both its neighbours; empty elements only once."""
    with_words = {element for text, elements in fragments if text.strip() for element in elements}
    seen = set(with_words)
    kept: list[Fragment] = []
    for text, elements in fragments:
        if text or not seen.issuperset(elements[-1:]):
            kept.append((text, elements))
            seen.update(() if text else elements)
    known = [
        None if text.isspace() and with_words.issuperset(elements) else elements for text, elements in kept
    ]
    before = accumulate(known, _last_known, initial=Elements())
    after = list(accumulate(reversed(known), _last_known, initial=Elements()))
    return [
        (text, left[: num_shared(left, right)] if elements is None else elements)
        for (text, _), elements, left, right in zip(kept, known, before, reversed(after[:-1]), strict=False)
    ]


def _last_known(last: Elements, elements: Elements | None) -> Elements:
    return last if elements is None else elements


def _moved(fragments: Sequence[Fragment], text: str, alignment: Alignment) -> list[Fragment]:
    """The fragments of the translation of a sentence; white space has no elements yet."""
    source = text_of(fragments)
    begins = list(accumulate((len(part) for part, _ in fragments), initial=0))
    elements_at = [elements for part, elements in fragments for _ in part]
    inner = _inner_cuts(source, sorted({*begins}))
    source_words, target_words = _split(source, inner), _split(text, inner)
    columns = [source[slice(*word)] for word in source_words]
    rows = [text[slice(*word)] for word in target_words]
    weights = _weights(columns, rows, alignment)
    links = _links(columns, rows, weights)
    words = [(source[begin:end], elements_at[begin]) for begin, end in source_words]
    elements_of_words = _elements_of_words(words, links, weights)

    gaps = _Gaps(elements_of_words, partial(gap_votes, rows, columns, weights))
    placed = {element for elements in elements_of_words for element in elements}
    ends = [end for _, end in source_words]
    ordinary = {word for word in _words(source) if not kept_part_pattern().fullmatch(source[slice(*word)])}
    linked = [(row, source_words[column]) for row, column in enumerate(links) if column is not None]
    others = [(row, *word) for row, word in linked if word not in ordinary]  # kept parts and parts of words
    beside = {begin: row for row, begin, _ in others} | {end: row + 1 for row, _, end in others}
    for (part, elements), begin in zip(fragments, begins, strict=False):
        if not (part and placed.issuperset(elements)):
            place = begin + len(part) - len(part.lstrip())
            num_placed = next((depth for depth, element in enumerate(elements) if element not in placed), 0)
            follows = place > 0 and not source[place - 1].isspace()
            position = bisect_right(ends, place)
            gaps.add(elements, num_placed, position, follows=follows, wanted=beside.get(place))
    in_target: list[Fragment] = []
    last_end = 0
    for row, ((begin, end), elements) in enumerate(zip(target_words, elements_of_words, strict=True)):
        in_target += [*gaps.fragments(row, text[last_end:begin]), (text[begin:end], elements)]
        last_end = end
    in_target += gaps.fragments(len(target_words), text[last_end:])
    return [fragment for fragment in in_target if any(fragment)]


def _inner_cuts(source: str, cuts: Sequence[int]) -> dict[str, list[int]]:
    """Where words with an element's boundary inside, as in H2O, are split, by word.

    They are split on both sides; a number in the translation may be in the other notation.
    """
    inner = {
        source[begin:end]: [cut - begin for cut in cuts[bisect_right(cuts, begin) : bisect_left(cuts, end)]]
        for begin, end in _words(source)
    }
    return {word.translate(_SWAPPED): places for word, places in inner.items()} | inner


def _weights(source: list[str], target: list[str], alignment: Alignment) -> list[list[float]]:
    """How much each target word (row) is aligned to each source word (column)."""
    aligned = alignment.of_words()
    columns, rows = matching_words(source, aligned.source_words), matching_words(target, aligned.target_words)
    return [
        [aligned.weights[row][column] if row >= 0 and column >= 0 else 0.0 for column in columns]
        for row in rows
    ]


def _links(source: list[str], target: list[str], weights: list[list[float]]) -> list[int | None]:
    """The source word of each target word, if any.

    Numbers, signs and clearly aligned words are linked to their equals, numbers in either notation, other
    words by their weights.
    """
    links: list[int | None] = [None] * len(target)
    for row, word in enumerate(target):
        place = row * len(source) / len(target)
        least = _MIN_WEIGHT_OF_EQUALS if word[0].isalpha() and any(weights[row]) else 0
        same = [
            (weights[row][column], -abs(column - place), column)
            for column, source_word in enumerate(source)
            if word in (source_word, source_word.translate(_SWAPPED)) and weights[row][column] >= least
        ]
        links[row] = max(same)[-1] if same else None
    free = [column for column in range(len(source)) if column not in links]
    for row, word in enumerate(target):
        best = max(free, key=weights[row].__getitem__, default=None)
        if links[row] is None and word[0].isalnum() and best is not None and weights[row][best]:
            links[row] = best
    return links


def _elements_of_words(
    words: Sequence[Fragment], links: Sequence[int | None], weights: Sequence[list[float]]
) -> list[Elements]:
    """The elements of each target word, given the source words; elements with aligned words choose first."""
    elements_of_words: list[Elements] = [()] * len(links)

    def assign(columns: Collection[int], rows: Collection[int], depth: int) -> None:
        columns_of: dict[int, dict[int, None]] = defaultdict(dict)
        for column in columns:
            for element in words[column][1][depth : depth + 1]:
                columns_of[element][column] = None
        linked = {links[row] for row in rows}
        free = dict.fromkeys(rows)

        def order(element: int) -> tuple[bool, int]:
            return linked.isdisjoint(columns_of[element]), len(columns_of[element])

        left = {element: _num_innermost(words, own) for element, own in columns_of.items()}
        for element in sorted(columns_of, key=order):
            own, least = columns_of[element], left.pop(element)
            is_whole = len(own) == len(columns)
            run = _best_range([(row, 1 if is_whole or links[row] in own else -1) for row in free])
            if not run and free and any(words[column][0].isalnum() for column in own):
                place = sum(own) / len(own) * len(links) / len(words)
                shares = {row: max(weights[row][column] for column in own) for row in free}
                run = [max(free, key=lambda row: (shares[row], -abs(row - place)))]
            most = max(1, len(free) - sum(left.values()))
            is_first = min(own) < min((min(columns_of[other]) for other in left), default=len(words))
            run = _widened(run[:most] if is_first else run[-most:], free, min(least, most))
            for row in run:
                elements_of_words[row] += (element,)
                del free[row]
            assign(own, run, depth + 1)

    assign(range(len(words)), range(len(links)), 0)
    return elements_of_words


def _num_innermost(words: Sequence[Fragment], columns: Iterable[int]) -> int:
    """How many elements of some words have words and no such element inside; each needs a word."""
    paths = sorted({words[column][1] for column in columns if words[column][0].isalnum()})
    return sum(following[: len(path)] != path for path, following in pairwise([*paths, ()]))


def _widened(run: list[int], free: Collection[int], length: int) -> list[int]:
    """Consecutive rows with free ones beside them, up to a length."""
    while 0 < len(run) < length and (beside := {run[0] - 1, run[-1] + 1}.intersection(free)):
        run = sorted([*run, max(beside)])
    return run


def _best_range(scores: Sequence[tuple[int, int]]) -> list[int]:
    """The consecutive rows with the greatest total score, if that is positive."""
    best: list[int] = []
    run: list[int] = []
    best_total = total = 0
    for row, score in scores:
        if total <= 0 or row != run[-1] + 1:
            run, total = [], 0
        run.append(row)
        total += score
        if total > best_total:
            best, best_total = [*run], total
    return best


class _Gaps:
    """The empty elements between the words of a translation, given its words' elements and votes for gaps."""

    def __init__(self, elements_of_words: Sequence[Elements], votes: Callable[[int], list[float]]) -> None:
        self._elements_of_words, self._votes = [(), *elements_of_words, ()], votes
        self._gaps: dict[Elements, int] = {}
        self._elements: dict[int, list[tuple[bool, Elements]]] = defaultdict(list)

    def add(
        self, elements: Elements, num_placed: int, position: int, *, follows: bool, wanted: int | None
    ) -> None:
        """Add the last of some elements, of which ``num_placed`` have words; the others stay around it.

        It stands after ``position`` source words, and ``follows`` one without a space between; if it can, in
        the gap that is ``wanted``.
        """
        outermost = elements[: num_placed + 1]
        if outermost not in self._gaps:
            self._gaps[outermost] = self._gap(position, elements[:num_placed], follows, wanted)
        self._elements[self._gaps[outermost]].append((follows, elements))

    def fragments(self, row: int, space: str) -> list[Fragment]:
        """The empty elements in the gap before a word, some before its white space and some after it."""
        left, right = self._elements_of_words[row : row + 2]
        sides = [(0, 0, Elements())]  # the white space
        for follows, elements in self._elements[row]:
            near, far = num_shared(elements, left), num_shared(elements, right)
            is_before = (near, follows) > (far, False)
            sides.append((-1, -near, elements) if is_before else (1, far, elements))
        return [("" if side else space, elements) for side, _, elements in sorted(sides)]

    def _gap(self, position: int, parent: Elements, follows: bool, wanted: int | None) -> int:
        """The gap inside the parent that is wanted, else the one that most words vote for."""
        totals = self._votes(position)
        allowed = [
            row
            for row, (left, right) in enumerate(pairwise(self._elements_of_words))
            if num_shared(left, right) <= len(parent)
            and parent in (left[: len(parent)], right[: len(parent)])
        ]
        if wanted in allowed:
            return wanted
        return max(reversed(allowed) if follows else allowed, key=totals.__getitem__)


def num_shared(elements: Elements, other: Elements) -> int:
    """How many of the outermost elements are the same."""
    return next(
        (depth for depth, (own, its) in enumerate(zip(elements, other, strict=False)) if own != its),
        min(len(elements), len(other)),
    )


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(f"{kept_part_pattern().pattern}|{word_pattern().pattern}")


def _words(text: str) -> list[tuple[int, int]]:
    """Where words, punctuation marks and kept parts begin and end."""
    return [word.span() for word in _pattern().finditer(text)]


def _split(text: str, cuts: Mapping[str, list[int]]) -> list[tuple[int, int]]:
    """The words of a text, some of them split at characters."""
    return [
        part
        for begin, end in _words(text)
        for part in pairwise([begin, *(begin + cut for cut in cuts.get(text[begin:end], ())), end])
    ]
