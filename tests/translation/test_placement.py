"""Kept parts and terms in translations, by hand: once, at their aligned places, spaced as in the sentence."""

import pytest

from ptenmt.data.kept_parts import PLACEHOLDERS
from ptenmt.translation.placement import (
    Span,
    checked,
    gap_votes,
    missing_spans,
    placed,
    source_text,
    with_kept_parts,
)
from ptenmt.translation.word_alignment import words_of


def kept(sentence: str, *parts: str, signs: str = "".join(PLACEHOLDERS)) -> list[Span]:
    """The spans of kept parts, in order, with a placeholder for equal ones, or without any."""
    sources = dict(zip(dict.fromkeys(parts), signs or [""] * len(parts), strict=False))
    spans, begin = list[Span](), 0
    for part in parts:
        begin = sentence.index(part, begin)
        spans.append(Span(begin, begin + len(part), sources[part], part))
        begin += len(part)
    return spans


@pytest.mark.parametrize(
    ("sentence", "part", "read", "begin"),
    [
        ("Vê o gato & o rei", "&", "Vê o gato o rei", 9),
        ("Vê o gato😀e o rei", "😀", "Vê o gato e o rei", 10),
        ("Vê o <b>gato", "<b>", "Vê o gato", 5),
        ("😀ela vê", "😀", "ela vê", 0),
        ("Ela vê {x}.", "{x}", "Ela vê.", 6),
    ],
)
def test_what_has_no_placeholder_is_left_out_between_words(
    sentence: str, part: str, read: str, begin: int
) -> None:
    assert source_text(sentence, kept(sentence, part, signs="")) == (read, [begin])


def test_in_lower_case_kept_parts_are_read_as_they_are() -> None:
    code = Span(7, 12, "TP123", "TP123")
    assert source_text("O GATO TP123 VIU", [code], lower=True)[0] == "O gato TP123 viu"
    assert source_text("{X} É", kept("{X} É", "{X}"), lower=True) == ("❶ É", [0])
    assert source_text("O CÃO", [Span(2, 5, "CÃO", "DOG", is_term=True)], lower=True)[0] == "O cão"


@pytest.mark.parametrize(
    ("sentence", "parts", "written", "expected"),
    [
        ("Vê {x} já.", ["{x}"], "See ❶ now ❶.", "See ❶ now."),
        ("Vê {x} já.", ["{x}"], "❶ ❶ See now", "❶ See now"),
        ("Vê {x} já.", ["{x}"], "See ❶ no❶w", "See ❶ no w"),
        ("Vê {x} já.", ["{x}"], "See ❷ ❶ now ❸.", "See ❶ now."),
        ("{x} e {x}", ["{x}", "{x}"], "❶, ❶, ❶", "❶, ❶,"),
        ("Vê {x} já", ["{x}"], "See❶now", "See ❶ now"),
        ("{x} já", ["{x}"], "now❶", "now ❶"),
        ("{x}Olá, gato", ["{x}"], "❶ Hello, cat", "❶Hello, cat"),
        ("O gato{x} e", ["{x}"], "The cat ❶ and", "The cat❶ and"),
        ("O <b>gato</b>.", ["<b>", "</b>"], "The ❶ cat ❷.", "The ❶cat❷."),
        ("Vê ({x}) já", ["{x}"], "See (❶) now", "See (❶) now"),
    ],
)
def test_a_placeholder_is_there_once_and_spaced_as_in_the_sentence(
    sentence: str, parts: list[str], written: str, expected: str
) -> None:
    assert checked(written, sentence, kept(sentence, *parts)) == expected


def test_what_is_read_as_typed_is_written_as_typed() -> None:
    code = Span(2, 5, "H2O", "H2O")
    assert checked("h2o is H2o, not h2o2", "A H2O é", [code]) == "H2O is H2O, not h2o2"


@pytest.mark.parametrize(
    ("sentence", "parts", "written", "expected"),
    [
        ("O <b>gato</b> preto", ["<b>", "</b>"], "O ❷gato❶ preto", "O <b>gato</b> preto"),
        (
            "O <b>gato</b> e o <i>rei</i>",
            ["<b>", "</b>", "<i>", "</i>"],
            "O ❹rei❶ e ❷gato❸",
            "O <b>rei</b> e <i>gato</i>",
        ),
        (
            "O <b>gato</b> e o <i>rei</i>",
            ["<b>", "</b>", "<i>", "</i>"],
            "O ❸rei❹ e ❶gato❷",
            "O <i>rei</i> e <b>gato</b>",
        ),
        ("{a} vê ❶ e {b}", ["❶"], "❶ a", "❶ a"),
    ],
)
def test_tags_are_closed_after_they_are_opened(
    sentence: str, parts: list[str], written: str, expected: str
) -> None:
    assert with_kept_parts(written, kept(sentence, *parts)) == expected


def test_every_occurrence_counts() -> None:
    sentence = "{x} ou {x} ou {y}"
    first, second, other = kept(sentence, "{x}", "{x}", "{y}")
    assert missing_spans("❶ or", [first, second, other]) == [second, other]
    assert missing_spans("❷, ❶ or ❶", [first, second, other]) == []


def place(sentence: str, text: str, spans: list[Span], links: list[int]) -> str:
    """``placed``, where each word of the translation attends to one word of the source."""
    read, begins = source_text(sentence, spans)
    words = words_of(read)
    weights = [[float(column == link) for column in range(len(words))] for link in links]
    return placed(text, sentence, (words, weights), list(zip(spans, begins, strict=True)))


@pytest.mark.parametrize(
    ("sentence", "part", "text", "links", "expected"),
    [
        ("vi {x} gatos pretos", "{x}", "saw black cats", [0, 2, 1], "saw {x} black cats"),
        ("{x} vi gatos", "{x}", "Saw cats", [0, 1], "{x} Saw cats"),
        ("vi gatos {x}", "{x}", "saw cats", [0, 1], "saw cats {x}"),
        ("vi gatos {x}.", "{x}", "saw cats.", [0, 1, 2], "saw cats {x}."),
        ("vi gatos😀", "😀", "saw cats", [0, 1], "saw cats😀"),
        ("vi <b>gatos", "<b>", "saw cats", [0, 1], "saw <b>cats"),
        ("vi ({x}) gatos", "{x}", "saw () cats", [0, 1, 2, 3], "saw ({x}) cats"),
        ("{x}", "{x}", "", [], "{x}"),
    ],
)
def test_what_is_missing_stands_at_its_aligned_place(
    sentence: str, part: str, text: str, links: list[int], expected: str
) -> None:
    assert place(sentence, text, kept(sentence, part, signs=""), links) == expected


def test_what_is_there_is_not_placed_again() -> None:
    sentence = "vi {x} e {y}"
    spans = kept(sentence, "{x}", "{y}")
    assert place(sentence, "❷ saw and", spans, [3, 0, 2]) == "❷ saw ❶ and"


def term(sentence: str, source: str, target: str) -> Span:
    begin = sentence.index(source)
    return Span(begin, begin + len(source), source, target, is_term=True)


@pytest.mark.parametrize(
    ("sentence", "source", "target", "expected"),
    [
        ("O gato", "gato", "feline", "The feline."),
        ("O gato", "gato", "the feline", "The the feline."),
        ("O gato", "O", "that", "That cat."),
        ("O gato", "O", "A B", "A B cat."),
    ],
)
def test_a_term_takes_the_place_of_the_words_aligned_to_it(
    sentence: str, source: str, target: str, expected: str
) -> None:
    assert place(sentence, "The cat.", [term(sentence, source, target)], [0, 1, 2]) == expected


def test_a_term_of_several_words_replaces_several() -> None:
    spans = [term("o gato preto", "gato preto", "panther")]
    assert place("o gato preto", "the black cat", spans, [0, 2, 1]) == "the panther"


def test_a_term_that_is_written_already_gets_its_capitals() -> None:
    assert place("o gato vê", "the cat sees", [term("o gato vê", "gato", "Cat")], [0, 0, 2]) == "the Cat sees"
    both = [term("gato e gata", "gato", "cat"), term("gato e gata", "gata", "cat")]
    assert place("gato e gata", "cat and cat", both, [0, 1, 2]) == "Cat and cat".lower()


def test_no_term_takes_the_place_of_a_kept_part() -> None:
    sentence = "Vê <b>gato</b> já"
    tags, cat = kept(sentence, "<b>", "</b>"), term(sentence, "gato", "feline")
    spans = [tags[0], cat, tags[1]]
    assert place(sentence, "See ❶cat❷ now", spans, [0, 1, 2, 3, 4]) == "See ❶feline❷ now"
    assert place("Gato {x}", "❶Cat", [term("Gato {x}", "Gato", "feline")], [1, 0]) == "❶Feline"
    sentence = "o gato {x} a.b-c"
    code = sentence.index("a.b")
    spans = [
        term(sentence, "gato", "cat"),
        *kept(sentence, "{x}", signs=""),
        Span(code, code + 5, "a.b-c", "a.b-c"),
    ]
    for link in range(5):
        written = place(sentence, "a.b-c the", spans, [link, link, link, link])
        assert written.count("a.b-c") == written.count("{x}") == written.count("cat") == 1


def test_the_article_before_a_term_stays() -> None:
    """Attention of both words goes to the noun, of the article less."""
    weights = [[0.6, 0.4, 0.0], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]]
    span = term("O gato.", "gato", "feline")
    assert placed("The cat.", "O gato.", (["O", " gato", "."], weights), [(span, 2)]) == "The feline."


def test_near_words_vote_for_a_gap_and_marks_follow_their_like() -> None:
    source, words = ["a", " b", " c", "."], ["A", " B", " C", "."]
    identity = [[float(row == column) for column in range(4)] for row in range(4)]
    for column in range(4):
        votes = gap_votes(words, source, identity, column)
        assert max(range(5), key=votes.__getitem__) == column
    swapped = [identity[row] for row in (2, 1, 0, 3)]
    votes = gap_votes(words, source, swapped, 3)
    assert max(range(5), key=votes.__getitem__) == 3
