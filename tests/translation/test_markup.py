"""Marked words stand at the words that translate them."""

import random
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
import pytest
from scripted import TextEngine

from ptenmt.config import Config, DataConfig, TokenizerConfig
from ptenmt.data.readers import demo_pairs
from ptenmt.evaluation.markup_check import check_markup, random_spans, tagged
from ptenmt.tokenizers import build_tokenizers
from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation import Translator
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.markup import LinkedWords, Span, move_spans


def words(text: str) -> list[tuple[int, int]]:
    return [word.span() for word in word_pattern().finditer(text)]


def marked(html: str) -> tuple[str, list[Span]]:
    """A text with tags of one letter, ``<a>…</a>``, and its spans."""
    text, spans, opened = "", list[Span](), [-1]
    for part in html.replace(">", "<").split("<"):
        if part.startswith("/"):
            spans[opened[-1]] = spans[opened[-1]]._replace(end=len(text))
            opened.pop()
        elif html.count(f"<{part}>") and len(part) == 1:
            spans.append(Span(len(text), len(text), len(spans), opened[-1]))
            opened.append(len(spans) - 1)
        else:
            text += part
    return text, spans


def moved(source: str, target: str, links: Sequence[int | None]) -> str:
    text, spans = marked(source)
    weights = [[float(link == at) for at in range(len(words(text)))] for link in links]
    segment = LinkedWords(words(text), words(target), list(links), weights)
    return tagged(target, move_spans(spans, text, [segment]))[3:-4]


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
    ],
)
def test_spans_stand_at_linked_words(
    source: str, target: str, links: list[int | None], expected: str
) -> None:
    assert moved(source, target, links) == expected


def test_a_span_of_two_sentences_is_in_parts_where_its_words_do_not_meet() -> None:
    text, spans = marked("um <a>dois. três</a> quatro.")
    target = "two one. three four."
    first = LinkedWords(words(text)[:3], words(target)[:3], [1, 0, 2], [[]] * 3)
    second = LinkedWords(words(text)[3:], words(target)[3:], [0, 1, 2], [[]] * 3)
    assert (
        tagged(target, move_spans(spans, text, [first, second]))
        == "<t><a>two</a> one. <a>three</a> four.</t>"
    )
    first = first._replace(links=[0, 1, 2])
    assert tagged(target, move_spans(spans, text, [first, second])) == "<t>two <a>one. three</a> four.</t>"


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


def test_any_spans_are_kept_and_nested_and_the_text_is_that_without_spans(translator) -> None:
    numbers = random.Random(1)
    texts = [random_text(numbers) for _ in range(200)]
    spans = []
    for text in texts:
        of_text = random_spans(text, numbers, most_tags=8, most_words=9)
        spans.append(
            [
                *of_text,
                *(
                    Span(at, at, len(of_text) + n)
                    for n, at in enumerate(numbers.choices(range(len(text)), k=2))
                ),
            ]
        )
    translator = translator.with_glossary(Glossary({"gato": "feline"}))
    placed = spans
    for _ in range(2):  # through two models: spans may be in several parts already
        translations = translator.translate(texts)
        texts = [each.text for each in translations]
        placed = [best for (best,) in translator.move_spans(translations, placed)]
        for text, of_text, found in zip(texts, spans, placed, strict=True):
            tree = ElementTree.fromstring(tagged(text, found))
            assert "".join(tree.itertext()) == text
            parents = {(child.tag, parent.tag) for parent in tree.iter() for child in parent}
            assert parents == {tuple("tabcdefghijkl"[at + 1] for at in span[2:]) for span in of_text}
            is_point = [span.begin == span.end for span in of_text]
            assert all(part.begin == part.end for part in found if is_point[part.number])


def test_of_sentences_without_spans_nothing_is_aligned(translator) -> None:
    translations = translator.translate(["O gato bebe. Ela canta."])
    before = len(translator.engine.requests)
    assert translator.move_spans(translations, [[Span(0, 12, 0)]]) == [[[Span(0, 12, 0)]]]
    assert translator.move_spans(translations, [[]]) == [[[]]]
    assert len(translator.engine.requests) == before


def test_tags_are_counted(translator) -> None:
    counts = check_markup(translator, SENTENCES)
    assert counts.num_kept == counts.num_tags > len(SENTENCES)
    assert 0 < counts.num_named_inside <= min(counts.num_named, counts.num_inside)


def test_a_word_with_a_span_inside_is_divided_if_it_stays_as_it_is(translator) -> None:
    (translation,) = translator.translate(["Bebe H2O agora."])
    assert translation.text == "AGORA. H2O BEBE"
    (((span,),),) = translator.move_spans([translation], [[Span(6, 7, 0)]])
    assert translation.text[span.begin : span.end] == "2"


def test_without_attention_words_are_linked_in_order(translator, monkeypatch) -> None:
    (translation,) = translator.translate(["o gato bebe"])
    monkeypatch.setattr(translator.engine, "name", "keras")
    (((span,),),) = translator.move_spans([translation], [[Span(0, 1, 0)]])
    assert translation.text[span.begin : span.end] == "BEBE"
