"""Marked words stand at the words that translate them."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from copy_task import TrainedRun
from lxml import etree
from scripted import TextEngine

from benchmarks.reliability import random_markup, tagged
from ptenmt.config import Config, DataConfig, TokenizerConfig
from ptenmt.data.readers import demo_pairs
from ptenmt.documents.html import Html
from ptenmt.tokenizers import END, START, build_tokenizers
from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation import Translator
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.markup import (
    Elements,
    Fragment,
    marked_sentences,
    move_markup,
    moved as moved_fragments,
    text_of,
)
from ptenmt.translation.postprocessing import TranslatedSentence, Translation
from ptenmt.translation.sentence import Sentence


class Aligned(NamedTuple):
    """An alignment of the words of two texts."""

    source_words: list[str]
    target_words: list[str]
    weights: list[list[float]]

    def of_words(self) -> "Aligned":
        return self


def words(text: str) -> list[str]:
    return word_pattern().findall(text)


def marked(xml: str) -> list[Fragment]:
    """A text with tags of one letter, ``<a>…</a>``."""
    spans, path = list[Fragment](), ()
    for part in re.split(r"(</?[a-z]>)", xml):
        if part[:2] == "</":
            spans += [("", path)] * all(each[: len(path)] != path for _, each in spans)
            path = path[:-1]
        elif part[:1] == "<":
            path = (*path, ord(part[1]) - ord("a"))
        elif part:
            spans.append((part, path))
    return spans


def moved(source: str, target: str, *links: Sequence[int | None]) -> str:
    """Move markup; ``links`` of each sentence, which end with a full stop."""
    spans, texts = marked(source), re.split(r"(?<=[.]) ", target)
    sentences = re.split(r"(?<=[.]) ", text_of(spans))
    segments = [
        TranslatedSentence(
            Sentence(before=" " if n else "", original=original, ids=(START, END)),
            Hypothesis([]),
            text,
        )
        for n, (original, text) in enumerate(zip(sentences, texts, strict=True))
    ]
    alignments = [
        Aligned(
            words(typed),
            words(text),
            [[float(link == at) for at in range(len(words(typed)))] for link in of_text],
        )
        for typed, text, of_text in zip(sentences, texts, links, strict=True)
    ]
    translation = Translation(
        source="", text=target, raw="", tokens=[], is_complete=True, score=0.0, sentences=segments
    )
    divided = marked_sentences(spans, translation)
    used = [each for each, segment in zip(alignments, divided[1::2], strict=True) if segment.to_align]
    return tagged(moved_fragments(divided, iter(used)))[3:-4]


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        ("a <a>casa</a> branca", "the white house", [0, 2, 1], "the white <a>house</a>"),
        ("a <a>casa branca</a>", "the white house", [0, 2, 1], "the <a>white house</a>"),
        ("<a>a <b>casa</b> branca</a>", "the white house", [0, 2, 1], "<a>the white <b>house</b></a>"),
        ("<a><b>a casa</b></a>", "the house", [0, 1], "<a><b>the house</b></a>"),
        ("<a>casa</a> <b>branca</b>", "white house", [1, 0], "<b>white</b> <a>house</a>"),
        ("<a>não vi</a> o gato", "did not see the cat", [None, 0, 1, 2, 3], "did <a>not see</a> the cat"),
        ("<a>vi o</a> gato preto", "saw cat black the", [0, 2, 3, 1], "<a>saw</a> cat black the"),
        ("vi <a></a>gato", "saw cat", [0, 1], "saw <a></a>cat"),
        ("vi<a></a> gato", "cat saw", [1, 0], "cat saw<a></a>"),
        ("<a>vi<b></b></a> gato", "cat saw", [1, 0], "cat <a>saw<b></b></a>"),
        ("<a></a>vi gato<b></b>", "cat saw", [1, 0], "<a></a>cat saw<b></b>"),
        ("<a>o</a> <b>gato</b>", "cat", [1], "<a></a><b>cat</b>"),
        ("<a>o <b>cão</b></a> <c>gato</c>", "cat", [2], "<a><b></b></a><c>cat</c>"),
        ("<a>o</a> gato", "", [], "<a></a>"),
        ("um<a>,</a> dois", "one two", [0, 2], "one<a></a> two"),
        ("abra {n}<a></a>{m} já", "open {n}{m} now", [0, 1, 2, 3, 1, 2, 3, 7], "open {n}<a></a>{m} now"),
        (
            "lê /usr/<a></a>bin já",
            "now read /usr/bin",
            [5, 0, None, None, None, None],
            "now read /usr/<a></a>bin",
        ),
        ("<a>1.250</a>,50 € já", "1,250.50 € now", [0, 1, 2, 3, 4, 5, 6], "<a>1,250</a>.50 € now"),
        ("já <a>1,5 €</a> por mês", "take 1.5 € a month", [0, 0, 0, 0, 0, 5, 6], "take <a>1.5 €</a> a month"),
        ("<a></a>{n}<b></b>{m}<c></c>", "{m} {n}", [4, 5, 6, 1, 2, 3], "{m}<c></c> <a></a>{n}<b></b>"),
    ],
)
def test_spans_stand_at_linked_words(
    source: str, target: str, links: list[int | None], expected: str
) -> None:
    assert moved(source, target, links) == expected


def test_an_element_over_two_sentences_is_in_parts_where_its_words_do_not_meet() -> None:
    source, second = "um <a>dois. três</a> quatro.", [0, 1, 2]
    assert moved(source, "two one. three four.", [1, 0, 2], second) == "<a>two</a> one. <a>three</a> four."
    assert moved(source, "one two. three four.", [0, 1, 2], second) == "one <a>two. three</a> four."


SENTENCES = [source for source, _ in demo_pairs("validation") if source[-1] in ".?!"][:60]
_SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZÃÉÊÁÍÓÚÇÕÀÂ.,:/-«»“”{}()!?"


@pytest.fixture(scope="module")
def translator() -> Translator:
    """It writes the words of a sentence in reverse order, in capitals; its attention knows."""

    class Reversing(TextEngine):
        def _hypothesis(self, text, rank, num_source, max_length):
            found = super()._hypothesis(text, rank, num_source, max_length)
            attention = np.full((len(found.ids) - 1, num_source), 1e-3)
            for row in range(len(attention) - 1):
                attention[row, max(0, num_source - 2 - row)] = 1
            return type(found)(found.ids, found.score, attention)

    config = Config(
        data=DataConfig(source="demo"), tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=200)
    )
    pairs = [(text, text.upper()) for text in [*SENTENCES, _SIGNS, " ".join(_SIGNS)]]
    tokenizers = build_tokenizers(config.tokenizer, pairs, ("pt", "en"))
    return Translator(
        Reversing(tokenizers, lambda text: [" ".join(text.upper().split()[::-1])]), tokenizers, config
    )


def random_text(numbers: random.Random) -> str:
    """Several sentences and lines, with entities, capitals, and parts that are not translated."""
    parts = [numbers.choice(SENTENCES) for _ in range(numbers.randint(1, 3))]
    parts.insert(
        numbers.randint(0, len(parts)),
        numbers.choice(["Vê https://a.pt/b?c=1.", "12 34\n", "10:30, {a}", "O GATO É MEU."]),
    )
    return numbers.choice([" ", "\n", "  "]).join(parts)


def with_points(spans: Sequence[Fragment], points: Sequence[int]) -> list[Fragment]:
    """The same text with elements numbered anew in their order, and empty ones at some characters."""
    found, at = list[Fragment](), 0
    for text, path in spans:
        for cut in sorted({*(point for point in points if at < point < at + len(text)), at + len(text)}):
            found.append((text[: cut - at], path))
            text, at = text[cut - at :], cut
            found += [("", (*path, 100 + n)) for n, point in enumerate(points) if point == cut]
    numbers = {element: n for n, element in enumerate(dict.fromkeys(e for _, path in found for e in path))}
    return [(text, tuple(numbers[element] for element in path)) for text, path in found if text or path]


def parents(spans: Sequence[Fragment]) -> set[Elements]:
    return {path[max(0, n - 1) : n + 1] for _, path in spans for n in range(len(path))}


def test_any_elements_are_kept_and_nested_and_the_text_is_that_without_them(translator) -> None:
    numbers = random.Random(1)
    texts = [random_text(numbers) for _ in range(120)]
    marked = [
        with_points(
            random_markup(text, numbers, most_tags=8, most_words=9), numbers.choices(range(1, len(text)), k=3)
        )
        for text in texts
    ]
    assert list(map(text_of, marked)) == texts
    glossary = Glossary({"gato": "feline"})
    placed = marked
    for _ in range(2):  # through two models: elements may be in several parts already
        translations = translator.translate(map(text_of, placed), glossary=glossary)
        placed = [best for (best,) in move_markup(translator, translations, placed)]
        for each, of_text, found in zip(translations, marked, placed, strict=True):
            assert "".join(ElementTree.fromstring(tagged(found)).itertext()) == each.text
            assert parents(found) == parents(of_text)
            empty = [path[-1] for text, path in of_text if not text]
            assert {path[-1] for text, path in found if not text and path[-1] in empty} == {*empty}
            assert not any(element in empty for text, path in found if text for element in path)


@pytest.mark.parametrize("source", ["<a>12</a>/<b>3</b> <c></c>4", "<a>1,5</a>0 <b>€</b>"])
def test_what_stays_as_it_is_keeps_its_elements(
    translator, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator.engine, "script", lambda _text: ["5"])  # without the other digits
    translations = translator.translate([text_of(marked(source))])
    ((best,),) = move_markup(translator, translations, [marked(source)])
    assert [fragment for fragment in best if any(fragment)] == marked(source)


def random_html(numbers: random.Random, depth: int = 0) -> str:
    """Words, and elements around some, of which many touch; no two are in one word."""
    parts = list[str]()
    for _ in range(numbers.randint(1, 4)):
        if depth < 3 and numbers.random() < 0.7:
            tag = numbers.choice(["i", "b", "span", "button", "label", "div"])
            space = numbers.choice(["", "", " ", "<img>", "<input>", "<br>"]) if parts else ""
            number = numbers.getrandbits(32)
            parts.append(f'{space}<{tag} id="{number}">{random_html(numbers, depth + 1)}</{tag}>')
        else:
            last_words = re.findall(r"\w+", numbers.choice(SENTENCES))[-2:]
            parts.append(" ".join(last_words) if depth == 3 else f" {last_words[-1]} ")
    return "".join(parts) if depth < 3 else parts[0]


def text_by_id(html: str) -> dict[str, list[str]]:
    """The words of each element, all of which have some, and of the whole."""
    root = etree.HTML(f"<body id=''>{html}</body>")
    return {
        node.get("id"): sorted(" ".join(node.itertext()).upper().split()) for node in root.xpath("//*[@id]")
    }


def test_no_element_of_html_that_had_text_comes_out_without(translator) -> None:
    numbers = random.Random(2)
    pages = [random_html(numbers) for _ in range(100)]
    documents = list(map(Html, pages))
    for page, document in zip(pages, documents, strict=True):
        translations = translator.translate(map(text_of, document.texts))
        best = [best for (best,) in move_markup(translator, translations, document.texts)]
        before, after = text_by_id(page), text_by_id(document.with_texts(best))
        assert before.keys() == after.keys()
        assert before[""] == after[""]
        assert all(before.values())
        assert all(after.values()), page


def test_of_sentences_without_markup_nothing_is_aligned(translator) -> None:
    translations = translator.translate(["O gato bebe. Ela canta."])
    before = len(translator.engine.requests)
    spans = [("O gato bebe.", (0,)), (" Ela canta.", ())]
    assert move_markup(translator, translations, [spans]) == [
        [[("BEBE. GATO O", (0,)), (" ", ()), ("CANTA. ELA", ())]]
    ]
    assert len(translator.engine.requests) == before


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([("Bebe H", ()), ("2", (0,)), ("O agora.", ())], "AGORA. H<a>2</a>O BEBE"),
        ([("Vê o B", ()), ("2", (0,)), (" gato.", ())], "GATO. B<a>2</a> O VÊ"),
    ],
)
def test_words_are_split_at_elements_where_they_stay_as_they_are(translator, spans, expected) -> None:
    translations = translator.translate([text_of(spans)])
    (((found),),) = move_markup(translator, translations, [spans])
    assert tagged(found) == f"<t>{expected}</t>"


def test_markup_is_moved_on_a_translation_that_fills_all_positions(copied: TrainedRun) -> None:
    fast = Translator.load(copied.path, pytest.fail)
    options = replace(fast.config.decoding, split_sentences=False, safeguards=False, length_penalty=5.0)
    text = " ".join(["bala"] * 29)
    (translation,) = fast.translate([text], options)
    whole = TranslatedSentence(
        translation.sentences[0].sentence, Hypothesis([START, *[5] * 32], generated="x " * 32), "x " * 32
    )
    fragments = [("bala ", (0,)), (text.removeprefix("bala "), ())]
    ((moved_to,),) = move_markup(fast, [replace(translation, text="x " * 32, sentences=[whole])], [fragments])
    assert text_of(moved_to) == "x " * 32
