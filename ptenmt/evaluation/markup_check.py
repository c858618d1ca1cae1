"""Whether tags survive translation: all of them, nested as in the source, around the same words."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from random import Random
from xml.etree import ElementTree

from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation import Translator
from ptenmt.translation.markup import Span


@dataclass(kw_only=True)
class MarkupCounts:
    """What became of the tags in some sentences."""

    num_tags: int = 0
    num_kept: int = 0
    """Tags that are there once, in the same tag as in the source, where the text is that without tags."""
    num_named: int = 0
    """Words of the translations that are aligned to a word in a tag, for each tag."""
    num_inside: int = 0
    """Words in tags of the translations, for each tag."""
    num_named_inside: int = 0


def check_markup(translator: Translator, sentences: Sequence[str], seed: int = 0) -> MarkupCounts:
    """Translate sentences with one to three tags each, and count what became of them.

    Args:
        translator: The run.
        sentences: Single sentences.
        seed: Of the choice of words.
    """
    counts, chance = MarkupCounts(), Random(seed)
    spans = [random_spans(sentence, chance) for sentence in sentences]
    translations = translator.translate(sentences)
    for each, of_source, (moved, *_) in zip(
        translations, spans, translator.move_spans(translations, spans), strict=True
    ):
        tree = ElementTree.fromstring(tagged(each.text, moved))
        parents = [(child.tag, parent.tag) for parent in tree.iter() for child in parent]
        wanted = [(_tag(span.number), _tag(span.parent)) for span in of_source]
        counts.num_tags += len(wanted)
        if "".join(tree.itertext()) == each.text:
            counts.num_kept += sum(parents.count(tag) == 1 for tag in wanted)
        alignment = translator.align(each.source).of_words()
        columns, rows = _words(each.source), _words(alignment.translation)
        for (begin, end), weights in zip(rows, alignment.weights, strict=True):
            first, last = columns[max(range(len(columns)), key=weights.__getitem__)]
            if alignment.translation == each.text and any(map(str.isalnum, each.text[begin:end])):
                named = {span.number for span in of_source if span.begin < last and first < span.end}
                inside = {span.number for span in moved if span.begin <= begin and end <= span.end}
                counts.num_named += len(named)
                counts.num_inside += len(inside)
                counts.num_named_inside += len(named & inside)
    return counts


def random_spans(sentence: str, chance: Random, most_tags: int = 3, most_words: int = 4) -> list[Span]:
    """At least one span of whole words; spans do not cross and are not the same."""
    words = _words(sentence)
    chosen: set[tuple[int, int]] = set()
    for _ in range(chance.randint(1, most_tags)):
        first = chance.randrange(len(words))
        last = min(first + chance.randrange(most_words), len(words) - 1)
        begin, end = words[first][0], words[last][1]
        crosses = any(begin < start < end < stop or start < begin < stop < end for start, stop in chosen)
        if not crosses and any(map(str.isalnum, sentence[begin:end])):
            chosen.add((begin, end))
    spans: list[Span] = []
    for begin, end in sorted(chosen, key=lambda each: (each[0], -each[1])):
        around = [span.number for span in spans if span.end >= end]
        spans.append(Span(begin, end, len(spans), around[-1] if around else -1))
    return spans


def tagged(text: str, spans: Sequence[Span]) -> str:
    """A text as XML, with the elements ``a`` for the span of number 0, ``b`` for that of 1, and so on."""
    written, opened, place = "<t>", [Span(0, len(text), -1, -2)], 0
    for span in [*spans, None]:
        while opened and (span is None or opened[-1].number != span.parent):
            end, number = opened[-1].end, opened.pop().number
            written, place = f"{written}{escape(text[place:end])}</{_tag(number)}>", end
        if span is not None:
            written += f"{escape(text[place : span.begin])}<{_tag(span.number)}>"
            place = span.begin
            opened.append(span)
    return written


def _tag(number: int) -> str:
    return chr(ord("a") + number) if number >= 0 else "t"


def _words(text: str) -> list[tuple[int, int]]:
    return [word.span() for word in word_pattern().finditer(text)]
