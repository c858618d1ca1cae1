"""Translations that loop are made again."""

from collections.abc import Callable

import pytest
from scripted import TextEngine

from ptenmt.config import Config, DataConfig, DecodingConfig, TokenizerConfig
from ptenmt.data.readers import demo_pairs
from ptenmt.tokenizers import build_tokenizers
from ptenmt.translation import Translator
from ptenmt.translation.engine import PendingHypotheses, SearchRequest

GOOD = "Ela não tem tempo."


@pytest.fixture(scope="module")
def make() -> Callable[[str, str], Translator]:
    """A translator that says the first text, and the second if it must not repeat n-grams."""
    config = Config(
        data=DataConfig(source="demo"), tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=400)
    )
    pairs = [*demo_pairs("validation"), ("0 1", "0 1")]
    tokenizers = build_tokenizers(config.tokenizer, pairs, ("pt", "en"))

    class Looping(TextEngine):
        def submit(self, request: SearchRequest) -> PendingHypotheses:
            self.script = lambda _: [texts[request.options.no_repeat_ngram > 0]]
            return super().submit(request)

    texts = ["", ""]

    def translator(first: str, second: str) -> Translator:
        texts[:] = first, second
        return Translator(Looping(tokenizers, list), tokenizers, config)

    return translator


LOOPS = ["tem tem tem", "não tem não tem não tem", "a b c a b c a b c", "xx" * 9, "o gato do rei " * 2]


@pytest.mark.parametrize("loop", [*LOOPS, "a " * 300])
def test_a_loop_is_translated_again_without_it(make, loop: str) -> None:
    (translation,) = make(loop, GOOD).translate("O gato.")
    assert (translation.text, translation.is_retried) == (GOOD, True)


@pytest.mark.parametrize(
    "text", [GOOD, "muito, muito bom", "1.000.000.000", "o gato e o rei", "...", "sim! sim!"]
)
def test_other_translations_are_kept(make, text: str) -> None:
    (translation,) = make(text, "wrong").translate("O gato.")
    assert (translation.text, translation.is_retried) == (text, False)


def test_what_the_source_repeats_may_be_repeated(make) -> None:
    (translation,) = make("no no no no no", "wrong").translate("não não não não não")
    assert (translation.text, translation.is_retried) == ("no no no no no", False)
    (in_word,) = make("o stototot", GOOD).translate("não não não não não")
    assert in_word.text == GOOD
    (longer,) = make("no " * 30, GOOD).translate("não não não não não")
    assert longer.is_retried


def test_the_better_translation_is_given(make) -> None:
    for first, second, expected in [
        ("tem tem tem tem", "não " * 40, "tem tem tem tem"),  # both loop, the second is truncated
        ("tem " * 100, "tem tem tem tem", "tem tem tem tem"),
    ]:
        (translation,) = make(first, second).translate("O gato.")
        assert (translation.text, translation.is_retried) == (expected, True)


def test_the_second_translation_is_bounded_and_made_once(make) -> None:
    translator = make("tem " * 100, "tem " * 100)
    (translation,) = translator.translate("O gato.")
    first, second = translator.engine.requests
    assert second.max_length < first.max_length
    assert (first.options.no_repeat_ngram, second.options.no_repeat_ngram) == (0, 2)
    assert not translation.is_complete


def test_the_bound_allows_for_the_target_prefix(make) -> None:
    prefix = " ".join(target for _, target in demo_pairs("validation")[:3])
    translator = make("tem " * 100, "tem " * 100)
    translator.translate("O gato.", prefix=prefix)
    first, second = translator.engine.requests
    assert len(second.target_prefixes[0]) + 10 < second.max_length < first.max_length


def test_a_truncated_translation_without_a_loop_may_repeat_bigrams(make) -> None:
    long = " ".join(source for source, _ in demo_pairs("validation")[:9])
    translator = make(long, GOOD)
    (translation,) = translator.translate("O gato.")
    assert (translation.text, translation.is_retried) == (GOOD, True)
    assert translator.engine.requests[1].options.no_repeat_ngram == 3


def test_a_length_limit_of_the_user_is_no_fault(make) -> None:
    (translation,) = make(GOOD * 9, "wrong").translate("O gato.", DecodingConfig(max_length=4))
    assert (translation.is_complete, translation.is_retried) == (False, False)


def test_without_safeguards_nothing_is_translated_again(make) -> None:
    plain = DecodingConfig(safeguards=False)
    (translation,) = make("tem tem tem tem", GOOD).translate("O gato.", plain)
    assert (translation.text, translation.is_retried) == ("tem tem tem tem", False)


def test_lines_of_a_prepared_corpus_are_translated_in_whatever_language_they_seem_to_be(make) -> None:
    english = "There is a house that is the best of all on the hill, and he has not seen it."
    translator = make(GOOD, GOOD)
    assert [one.text for one in translator.translate(english)] == [english]
    assert [[one.text] for (one,) in translator.translate_buffers([english], is_prepared=True)] == [[GOOD]]


def test_a_line_of_a_prepared_corpus_is_read_alike_at_the_second_time(make) -> None:
    translator = make("tem tem tem", GOOD)
    translator.encoder.prepare_source = lambda text: f"{text} a"
    list(translator.translate_buffers(["o gato"], is_prepared=True))
    assert translator.engine.seen == ["o gato", "o gato"]
