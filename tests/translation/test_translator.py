from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from copy_task import WORDS
from scripted import TextEngine

from ptenmt.config import Config, DataConfig, DecodingConfig, TokenizerConfig
from ptenmt.data.readers import demo_pairs
from ptenmt.errors import ConfigError
from ptenmt.model.transformer import Transformer
from ptenmt.tokenizers import END, START, UNK, build_tokenizers
from ptenmt.translation import Translation, Translator
from ptenmt.translation.batching import max_length
from ptenmt.translation.engine import Hypothesis, PendingHypotheses, SearchRequest
from ptenmt.translation.single_sentence import align, next_token_alternatives


def said(translations: Iterable[Translation]) -> list[tuple[str, str, list[str]]]:
    """What batches of another shape, which round differently, must not change."""
    return [(each.source, each.text, each.tokens) for each in translations]


SENTENCES = ["bala", "hime kilo galo", "nado nado pira", "dico fute", "rota mico lume bala"]


@pytest.fixture
def model(translator: Translator) -> Iterator[Transformer]:
    """The trained model, whose last layer a test may change."""
    model = translator.engine.model
    weights = model.final.get_weights()
    yield model
    model.final.set_weights(weights)


def favour(model: Transformer, token: int, amount: float) -> None:
    kernel, bias = model.final.get_weights()
    bias[token] += amount
    model.final.set_weights([kernel, bias])


def test_it_repeats_what_it_learnt_to_repeat(translator: Translator):
    translations = translator.translate(SENTENCES)
    right = sum(translation.text == translation.source for translation in translations)
    assert right >= 3, [(translation.source, translation.text) for translation in translations]


def test_a_translation_has_its_tokens(translator: Translator):
    (translation,) = translator.translate("bala")
    assert translation.source == "bala"
    assert translation.tokens == ["[START]", *translation.raw.split(), "[END]"]
    assert translation.text == translation.raw
    assert translation.is_complete
    assert not translation.is_split
    assert translation.score < 0
    assert translation.alternatives == []


def test_empty_and_blank_lines_stay_empty_and_in_their_place(translator: Translator):
    texts = ["", "bala", "  ", "\t", "bala", "\u00a0"]
    translations = translator.translate(texts)
    assert [translation.source for translation in translations] == texts
    assert [translations[row].text for row in (0, 2, 3, 5)] == ["", "  ", "\t", "\u00a0"]
    assert translations[1].text.strip()
    assert all(translation.is_complete for translation in translations)
    assert translations[0].tokens == ["[START]", "[END]"]
    assert translator.translate([]) == []


def test_order_is_kept_whatever_the_buffer_size(translator: Translator, monkeypatch: pytest.MonkeyPatch):
    random_words = np.random.default_rng(0)
    texts = [" ".join(random_words.choice(WORDS, size=1 + number % 5)) for number in range(23)]
    texts[4] = texts[11] = ""
    expected = translator.translate(texts)
    assert [translation.source for translation in expected] == texts
    assert len({translation.text for translation in expected}) > 10
    monkeypatch.setattr(translator.engine, "batch_sentences", 3)
    for size in (1, 5, 23, 24):
        assert said(chain(*translator.translate_buffers(texts, buffer_size=size))) == said(expected)


@pytest.mark.parametrize(("size", "expected"), [(1, 5), (4, 8)])
def test_no_more_is_read_than_a_buffer(translator: Translator, size: int, expected: int):
    read = []

    def endless() -> Iterator[str]:
        while True:
            read.append("bala")
            yield "bala"

    translations = chain.from_iterable(translator.translate_buffers(endless(), buffer_size=size))
    assert [next(translations).source for _ in range(5)] == ["bala"] * 5
    assert len(read) == expected


def test_a_text_is_translated_sentence_by_sentence(translator: Translator):
    text = "  bala.  hime kilo galo.\r\nnado nado pira!\x0b"
    alone = [translator.translate(part)[0] for part in ("bala.", "hime kilo galo.", "nado nado pira!")]
    (together,) = translator.translate(text)
    assert together.text == f"  {alone[0].text}  {alone[1].text}\r\n{alone[2].text}\x0b"
    assert together.tokens == [token for part in alone for token in part.tokens]
    assert together.source == text
    assert not together.is_split


def test_a_sentence_longer_than_the_positions_is_split(translator: Translator):
    fits, too_long = " ".join(["bala"] * 30), " ".join(["bala"] * 31)
    translations = translator.translate(["bala", too_long, fits])
    assert [translation.is_split for translation in translations] == [False, True, False]
    assert translations[1].source == too_long
    assert translations[1].tokens.count("[START]") == 2
    assert said(translations[2:]) == said(translator.translate([fits]))


def test_prepared_sentences_are_cut_only_where_they_have_to_be(translator: Translator):
    two = "bala . hime . " * 5
    (found,) = translator.translate_buffers(["bala", "", two, "bala " * 40], is_prepared=True)
    assert [each.is_split for each in found] == [False, False, False, True]
    assert found[1].text == ""
    assert found[2].tokens.count("[START]") == 1


def test_a_translation_that_reaches_its_limit_is_incomplete(translator: Translator, model: Transformer):
    end = translator.tokenizers.target.pieces(range(16)).index("[END]")
    favour(model, end, -1e6)
    short, long = translator.translate(["bala", "bala bala bala bala"])
    assert not short.is_complete
    assert "[END]" not in short.tokens
    assert len(short.tokens) == len(long.tokens) == 1 + 32


def test_max_length_is_obeyed(translator: Translator, model: Transformer):
    config = replace(translator.config, decoding=DecodingConfig(max_length=3))
    bounded = Translator.from_model(model, translator.tokenizers, config)
    one, four = bounded.translate(["bala", "bala dico fute galo"])
    assert (one.tokens, one.is_complete) == (["[START]", "bala", "[END]"], True)
    assert (len(four.tokens), four.is_complete) == (1 + 3, False)
    assert max_length(config.decoding, config.model, 30) == 3


def test_the_default_limit_grows_with_the_source_up_to_the_positions(translator: Translator):
    options, model = translator.config.decoding, translator.config.model
    limits = [max_length(options, model, length) for length in range(3, 33)]
    assert limits == sorted(limits)
    assert limits[-1] == model.max_positions
    wide = [max_length(options, replace(model, max_positions=1000), length) for length in (1, 8, 9, 17, 600)]
    assert wide == [36, 36, 52, 68, 1000]


def test_unknown_is_produced_by_word_tokenizers_only(translator: Translator, model: Transformer):
    favour(model, UNK, 1e6)
    assert set(translator.translate("bala")[0].raw.split()) == {"bala"}  # copied from the source
    config = replace(translator.config, tokenizer=TokenizerConfig(kind="sentencepiece"))
    pieces = Translator.from_model(model, translator.tokenizers, config)
    assert "[UNK]" not in pieces.translate("bala")[0].tokens


def test_what_was_read_before_an_error_is_translated(translator: Translator) -> None:
    def sources():
        yield from ("ka", "", "mo")
        raise OSError("the disk is gone")

    received = []
    with pytest.raises(OSError, match="the disk is gone"):
        received.extend(chain.from_iterable(translator.translate_buffers(sources(), buffer_size=2)))
    assert said(received) == said(translator.translate(["ka", "", "mo"]))


def test_what_is_no_text_is_refused(translator: Translator) -> None:
    received = []
    with pytest.raises(TypeError, match="a text must be str, not NoneType"):
        received.extend(chain.from_iterable(translator.translate_buffers(["ka", None])))  # type: ignore[list-item]
    assert said(received) == said(translator.translate("ka"))


def test_the_n_best_come_in_their_order(translator: Translator):
    many = translator.translate(SENTENCES, DecodingConfig(num_hypotheses=3))
    for one, best in zip(translator.translate(SENTENCES), many, strict=True):
        assert (best.text, best.tokens) == (one.text, one.tokens)
        assert best.score == pytest.approx(one.score, abs=1e-5)
        scores = [best.score, *(other.score for other in best.alternatives)]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(each.tokens) for each in (best, *best.alternatives)}) == 3


def test_a_buffer_has_a_text_or_more(translator: Translator):
    with pytest.raises(ConfigError, match="buffer_size=0 must be 1 or more"):
        next(translator.translate_buffers(["hime"], buffer_size=0))


def test_a_word_that_the_target_side_lacks_is_copied_from_the_source(
    translator: Translator, model: Transformer
):
    favour(model, UNK, 1e6)
    one = translator.translate("hime kilo galo", DecodingConfig(max_length=1))[0]
    weights = align(translator, "hime kilo galo").weights
    words = ["hime", "kilo", "galo"]
    assert one.raw == words[int(weights[0, 1:4].argmax())]
    assert one.tokens == ["[START]", one.raw]
    assert translator.translate("hime zzz")[0].raw.split()[0] in {"hime", "zzz"}


def test_an_alignment_has_a_row_for_each_token_of_the_translation(translator: Translator):
    alignment = align(translator, "hime kilo galo")
    (translation,) = translator.translate("hime kilo galo")
    assert alignment.source_tokens == ["[START]", "hime", "kilo", "galo", "[END]"]
    assert alignment.target_tokens == translation.tokens[1:]
    assert alignment.weights.shape == (len(alignment.target_tokens), 5)
    np.testing.assert_allclose(alignment.weights.sum(axis=1), 1, atol=1e-5)


def test_of_a_text_of_k_sentences_k_are_translated_each_as_it_is_alone():
    sentences = [source for source, _ in demo_pairs("test") if source[-1] in ".?!" and "? " not in source]
    config = Config(data=DataConfig(source="demo"), tokenizer=TokenizerConfig(kind="sentencepiece"))
    pairs = [(source, source.upper()) for source in sentences]
    tokenizers = build_tokenizers(config.tokenizer, pairs, ("pt", "en"))
    numbers = np.random.default_rng(0)
    for _ in range(50):
        chosen = numbers.choice(sentences, size=numbers.integers(1, 12)).tolist()
        gaps = numbers.choice(
            [" ", "  ", "\n", "\r\n", "\r", "\t", "\u2028", "\n\n"], size=len(chosen)
        ).tolist()
        text = "".join(sentence + gap for sentence, gap in zip(chosen, gaps, strict=True))
        engine = TextEngine(tokenizers, lambda source: [source.upper()])
        (translation,) = Translator(engine, tokenizers, config).translate(text)
        assert translation.text == text.upper()
        assert sorted(engine.seen) == sorted(chosen)


def test_no_alternative_continues_the_last_word_of_the_prefix_or_is_improbable():
    config = Config(
        data=DataConfig(source="demo"), tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=30)
    )
    pairs = [(text, text) for text in ("la ta no so la! ta no so", "latano la no so ta la!", "lata nola so")]
    tokenizers = build_tokenizers(config.tokenizer, pairs, ("pt", "en"))
    pieces = tokenizers.target.pieces(range(tokenizers.target.vocabulary_size))
    log_probabilities = {"t": -0.5, "▁": -1.0, "!": -2.0, "n": -3.0, ",": -9.0}

    class Scripted(TextEngine):
        def submit(self, request: SearchRequest) -> PendingHypotheses:
            prefixes = [list(prefix) for prefix in request.target_prefixes]
            if not request.next_token_alternatives:
                return lambda: [
                    [Hypothesis([START, *each, END], -1.0 / (len(each) + 1))] for each in prefixes
                ]
            (prefix,) = prefixes
            known = {
                pieces.index(piece): value for piece, value in log_probabilities.items() if piece in pieces
            }
            ranked = [
                Hypothesis([START, *prefix, id], each / (len(prefix) + 1)) for id, each in known.items()
            ]
            return lambda: [ranked]

    translator = Translator(Scripted(tokenizers, list), tokenizers, config)
    found = next_token_alternatives(translator, "ta", "la", 9)
    assert [(each.text.strip(), each.probability) for each in found] == [
        ("la", pytest.approx(np.exp(-1.0))),
        ("la!", pytest.approx(np.exp(-2.0))),
    ]
    for each in found:  # the score is that of the whole translation after the prefix
        assert each.score * (len(each.ids) - 1) == pytest.approx(np.log(each.probability) - 1.0)
    assert len(next_token_alternatives(translator, "ta", "la", 1)) == 1
    assert len(next_token_alternatives(translator, "ta", "", 9)) == 4


def test_a_text_in_another_language_is_named(translator: Translator):
    texts = ["bala hime", "the cat has no time for this", "o gato não tem tempo para isso", "the bala"]
    found = translator.translate(texts)
    assert [each.detected for each in found] == [None, "en", None, None]
    assert found[1].text == texts[1]  # it is in the target language
    assert all(each.text for each in found)
    plain = translator.translate(texts, DecodingConfig(safeguards=False))
    assert [each.detected for each in plain] == [None] * 4


def test_a_sentence_without_words_has_no_alternatives_and_no_alignment(translator: Translator):
    for text in ("123 456", "日本語", "😀"):
        assert [one.text for one in next_token_alternatives(translator, text, "", 3)] == [text]
        assert align(translator, text).translation == text
