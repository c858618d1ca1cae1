import gc
import random
import weakref
from collections.abc import Sequence

import pytest

from ptenmt.config import Config, DataConfig, DecodingConfig, ModelConfig, TokenizerConfig
from ptenmt.tokenizers import SPECIAL_PIECES, Tokenizer, TokenizerPair, build_tokenizers
from ptenmt.translation.segmentation import TextEncoder
from ptenmt.translation.sentence import SegmentedText


class Letters(Tokenizer):
    """A token for each letter and mark; blanks are none."""

    kind = "letters"
    splits_punctuation = False

    def __init__(self) -> None:
        super().__init__([*SPECIAL_PIECES, "é", "«»“”„‘’–—"], b"")

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [[4] * len("".join(text.split())) for text in texts]

    def decode(self, sequences):
        raise NotImplementedError

    save = load = decode


def cut(
    text: str,
    longest: int = 1000,
    *,
    splits: bool = True,
    safeguards: bool = False,
    is_prepared: bool = False,
) -> SegmentedText:
    letters = Letters()
    config = Config(
        data=DataConfig(source="files", path="pairs.tsv", normalization="none"),
        model=ModelConfig(max_positions=longest),
        decoding=DecodingConfig(split_sentences=splits, safeguards=safeguards),
    )
    tokenizers = TokenizerPair(letters, letters)
    encoder = TextEncoder(tokenizers, config)
    split = encoder.split([text], config.decoding, is_prepared=is_prepared)
    (segmented,) = encoder.encode(split, config.decoding, is_prepared=is_prepared)
    return segmented


def texts(segments: SegmentedText) -> list[str]:
    """What the model reads, and what has nothing to translate."""
    return [segment.text or segment.original for segment in segments.sentences]


TWO = "Este é o primeiro.  Este é o segundo?"


def test_a_text_stays_whole_if_its_sentences_are_not_to_be_split():
    assert texts(cut(TWO, splits=False)) == [" ".join(TWO.split())]
    assert texts(cut("um\ndois", splits=False)) == ["um", "dois"]


def test_a_text_is_cut_into_sentences():
    segments = cut(TWO)
    assert texts(segments) == ["Este é o primeiro.", "Este é o segundo?"]
    assert [segment.before for segment in segments.sentences] == ["", "  "]
    assert [len(segment.ids) for segment in segments.sentences] == [2 + 15, 2 + 14]
    assert not segments.is_split
    assert segments.join(["This is the first.", "And this?"]) == "This is the first.  And this?"


def test_a_corpus_sentence_is_cut_only_where_it_has_to_be():
    assert len(cut(TWO, is_prepared=True).sentences) == 1
    assert len(cut(TWO, is_prepared=True, longest=20).sentences) == 2


def test_line_breaks_of_html_end_sentences_and_stay():
    segments = cut("um<br />dois<BR>três")
    assert texts(segments) == ["um<br />", "dois<BR>", "três"]
    assert segments.join(["one<br />", "two<BR>", "three"]) == "one<br />two<BR>three"


def test_lines_of_one_text_stay_lines():
    segments = cut("um\n\n  dois\ntrês\n")
    assert texts(segments) == ["um", "dois", "três"]
    assert segments.join(["one", "two", "three"]) == "one\n\n  two\nthree\n"


def test_white_space_around_a_text_stays():
    assert cut("\t um dois ").join(["one two"]) == "\t one two "
    assert cut("\x0bum\u2003").join(["one"]) == "\x0bone\u2003"


@pytest.mark.parametrize(
    "end", ["\n", "\r\n", "\r", "\t", "\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\r\n\r\n"]
)
def test_every_line_end_separates_sentences_and_stays(end: str):
    segments = cut(f"um{end}dois{end}")
    assert texts(segments) == ["um", "dois"]
    assert segments.join(["one", "two"]) == f"one{end}two{end}"


@pytest.mark.parametrize(
    "text",
    [
        "Nasceu em 50 d.C., em Roma.",
        "A 2.ª vez.",
        "É o Sr. Silva.",
        "Custa 1.5 e 2.000.",
        "D. Maria veio.",
        "J. Silva veio.",
        "eu… não sei",
        "A. B. Costa veio.",
        "O séc. XIX e o cap. V.",
        "Ver tab. 4.",
    ],
)
def test_no_sentence_ends_inside_these(text: str):
    assert texts(cut(text)) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "A vitamina é a C. Os gatos também.",
        "Vai de A a B. O rei veio.",
        "As vitaminas A e C. Depois os gatos.",
        "Ficou entre A e B. Vamos ver.",
        "Nasceu em 63 a.C. Em Roma.",
        "É da Silva Ltda. Depois fechou.",
        "É de V. Exa. Os gatos também.",
        "São seis un. Os gatos também.",
    ],
)
def test_a_sentence_may_end_in_these(text: str):
    assert len(texts(cut(text))) == 2


def test_any_white_space_may_stand_before_a_full_stop():
    assert texts(cut("Falta vitamina C\u00a0. Sim.")) == ["Falta vitamina C . Sim."]
    assert cut("Vitamina C\u3000. Sim.").join(["a"]) == "a"
    assert texts(cut("Um \ud83d aqui. Sim.")) == ["Um aqui.", "Sim."]


def test_an_ellipsis_before_a_capital_ends_a_sentence():
    assert texts(cut("Espera… Vem cá... “Sim…” «Não sei»")) == ["Espera…", "Vem cá...", "“Sim…”", "«Não sei»"]


WORDLESS = ["😀", "123", "12/03/2024", "https://example.org/a?b=c", "foo@example.org", "!!!", "{name}"]
WORDLESS += ["@ana", "#TAG#", "%1$s", "日本語", "مرحبا بالعالم", "1.ª", "http://a.pt {x} 😀."]


@pytest.mark.parametrize("text", WORDLESS)
def test_what_has_no_word_of_the_language_is_not_translated(text: str):
    segments = cut(f"um.\n {text}\ndois.")
    assert [segment.is_blank for segment in segments.sentences] == [False, True, False]
    assert texts(segments)[1] == text
    assert all(segment.is_blank for segment in cut(text, is_prepared=True).sentences)


@pytest.mark.parametrize("blank", ["", " ", "\t \u00a0", "\n"])
def test_a_blank_text_has_nothing_to_translate(blank: str):
    segments = cut(blank)
    assert all(segment.is_blank for segment in segments.sentences)
    assert segments.join(["" for _ in segments.sentences]) == blank


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
    assert max(len(segment.ids) for segment in anywhere.sentences) <= 100


@pytest.mark.parametrize("safeguards", [True, False])
def test_no_entity_is_split(safeguards: bool):
    url = "https://example.org/" + "casa/" * 240 + "fim"
    for text in (f"Vê {url} agora.", f"{url} já", f"um 12 345 678 e {url}", f"{'um dois ' * 30}{url} fim"):
        segments = cut(text, longest=30, safeguards=safeguards)
        pieces = [segment.original for segment in segments.sentences]
        assert " ".join(pieces).count(url) == 1
        assert max(len(segment.ids) for segment in segments.sentences) <= 30


def test_nothing_is_lost_whatever_the_text():
    numbers = random.Random(3)
    parts = ["um", "Dois", "três", "Sr.", "1.5", "etc.", "fim.", "Não?", "sim!", "«a»", "(b)", "…"]
    parts += ["http://x.pt/a.b", ",", ";", "😀", "\u0645\u0631\u062d", "\u4f60\u597d\u3002", "e\u0301"]
    parts += ["- um", "C\u00a0.", "N\u2009.", "* dois", "1. três"]
    for _ in range(400):
        chosen = (
            numbers.choice(parts) + numbers.choice([" ", "  ", "\n", "\t", "\r\n", "\u2028"])
            for _ in range(40)
        )
        text = "".join(list(chosen)[: numbers.randint(1, 40)])
        longest = numbers.choice([12, 30, 1000])
        segments = cut(text, longest=longest)
        whole = segments.join([segment.original for segment in segments.sentences])
        assert whole == text
        assert max((len(segment.ids) for segment in segments.sentences), default=0) <= longest
        joined = segments.join(texts(segments))
        assert [line[-1:] for line in joined.splitlines(True)] == [
            line[-1:] for line in text.splitlines(True)
        ]
        assert joined.split() == text.split()


@pytest.mark.parametrize("text", ["a" + " " * 200_000 + "b", "." * 200_000, ", " * 50_000])
def test_very_many_blanks_or_marks_are_all_there(text: str):
    segments = cut(text, longest=500)
    assert "".join("".join(texts(segments)).split()) == "".join(text.split())


def test_nothing_keeps_the_tokenizers_of_a_model_that_is_loaded_no_more() -> None:
    config = Config(data=DataConfig(source="demo"), tokenizer=TokenizerConfig(kind="words"))
    tokenizers = build_tokenizers(config.tokenizer, [("o gato", "the cat")], ("pt", "en"))
    encoder = TextEncoder(tokenizers, config)
    assert encoder.single_sentence("o gato").sentences[0].ids
    del encoder
    source = weakref.ref(tokenizers.source)
    del tokenizers
    gc.collect()
    assert source() is None


def test_marks_that_the_vocabulary_lacks_are_read_as_plain_ones():
    without = Letters()
    without.vocabulary = [*SPECIAL_PIECES, "é", "\"'-"]
    encoder = TextEncoder(TokenizerPair(without, without), Config())
    assert encoder.prepare_source("«A» “b” – ‘c’").replace(" ", "") == '"a""b"-\'c\''
