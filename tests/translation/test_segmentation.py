import random
from collections.abc import Sequence

import pytest

from ptenmt.config import Config, DataConfig, DecodingConfig, ModelConfig
from ptenmt.tokenizers import Tokenizer, TokenizerPair
from ptenmt.translation.segmentation import SegmentedText, TextEncoder


class Letters(Tokenizer):
    """A token for each letter and mark; blanks are none."""

    kind = "letters"
    splits_punctuation = False
    vocabulary_size = 5
    checksum = ""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [[4] * len("".join(text.split())) for text in texts]

    def decode(self, sequences):
        raise NotImplementedError

    pieces = save = load = decode


def cut(text: str, *, longest: int = 1000, long_text: int = 20, is_prepared: bool = False) -> SegmentedText:
    letters = Letters()
    config = Config(
        data=DataConfig(source="files", path="pairs.tsv", normalization="none"),
        model=ModelConfig(max_positions=longest),
        decoding=DecodingConfig(long_text=long_text),
    )
    encoder = TextEncoder(TokenizerPair(letters, letters), config)
    (segmented,) = encoder.segment([text], is_prepared=is_prepared)
    return segmented


def texts(segments: SegmentedText) -> list[str]:
    return [segment.text for segment in segments.segments]


TWO = "Este é o primeiro.  Este é o segundo?"


def test_a_short_text_stays_whole_even_with_two_sentences():
    assert texts(cut(TWO, long_text=60)) == [" ".join(TWO.split())]


def test_a_long_text_is_cut_into_sentences():
    segments = cut(TWO)
    assert texts(segments) == ["Este é o primeiro.", "Este é o segundo?"]
    assert [segment.before for segment in segments.segments] == ["", "  "]
    assert [len(segment.ids) for segment in segments.segments] == [2 + 15, 2 + 14]
    assert not segments.is_split
    assert segments.join(["This is the first.", "And this?"]) == "This is the first.  And this?"


def test_a_corpus_sentence_is_cut_only_where_it_has_to_be():
    assert len(cut(TWO, is_prepared=True).segments) == 1
    assert len(cut(TWO, is_prepared=True, longest=20).segments) == 2


def test_lines_of_one_text_stay_lines():
    segments = cut("um\n\n  dois\ntrês\n")
    assert texts(segments) == ["um", "dois", "três"]
    assert segments.join(["one", "two", "three"]) == "one\n\n  two\nthree\n"


def test_white_space_around_a_text_stays():
    assert cut("\t um dois ").join(["one two"]) == "\t one two "
    assert cut("\x0bum\u2028").join(["one"]) == " one "  # what a program may take for a line's end


@pytest.mark.parametrize("blank", ["", " ", "\t \u00a0", "\n"])
def test_a_blank_text_has_nothing_to_translate(blank: str):
    segments = cut(blank)
    assert all(segment.is_blank for segment in segments.segments)
    assert segments.join(["" for _ in segments.segments]) == ""


def test_a_sentence_that_cannot_be_read_at_once_is_cut_behind_marks_near_its_middle():
    segments = cut("quando chove, fico em casa; quando faz sol, vou à praia", longest=26)
    assert texts(segments) == ["quando chove, fico em casa;", "quando faz sol, vou à praia"]
    assert segments.is_split
    assert segments.join(["a", "b"]) == "a b"


def test_without_marks_it_is_cut_between_words_and_without_those_anywhere():
    between = cut("um dois três quatro cinco seis", longest=17)
    assert texts(between) == ["um dois três", "quatro cinco seis"]
    anywhere = cut("x" * 1000, longest=100)
    assert "".join(texts(anywhere)) == "x" * 1000
    assert anywhere.join(texts(anywhere)) == "x" * 1000
    assert max(len(segment.ids) for segment in anywhere.segments) <= 100


def test_nothing_is_lost_whatever_the_text():
    numbers = random.Random(3)
    parts = [
        "um",
        "Dois",
        "três",
        "Sr.",
        "1.5",
        "etc.",
        "fim.",
        "Não?",
        "sim!",
        "«a»",
        "(b)",
        "…",
        "http://x.pt/a.b",
    ]
    parts += [
        ",",
        ";",
        "\u0645\u0631\u062d",
        "\u4f60\u597d\u3002",
        "😀",
        "e\u0301",
        "- um",
        "* dois",
        "1. três",
    ]
    for _ in range(400):
        chosen = (numbers.choice(parts) + numbers.choice([" ", "  ", "\n", "\t", "\n\n"]) for _ in range(40))
        text = "".join(list(chosen)[: numbers.randint(1, 40)])
        longest = numbers.choice([12, 30, 1000])
        segments = cut(text, longest=longest)
        assert "".join("".join(texts(segments)).split()) == "".join(text.split())
        assert max((len(segment.ids) for segment in segments.segments), default=0) <= longest
        joined = segments.join(texts(segments))
        assert joined.count("\n") == text.count("\n")
        assert joined.split() == text.split()


@pytest.mark.parametrize("text", ["a" + " " * 1_000_000 + "b", "." * 1_000_000, ", " * 500_000])
def test_a_million_blanks_or_marks_are_all_there(text: str):
    segments = cut(text, longest=500)
    assert "".join("".join(texts(segments)).split()) == "".join(text.split())
