from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from copy_task import WORDS

from ptenmt.config import DecodingConfig, TokenizerConfig
from ptenmt.model import Transformer
from ptenmt.tokenizers import UNK
from ptenmt.translation import Translator

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


def test_a_translation_tells_its_tokens(translator: Translator):
    (translation,) = translator.translate("bala")
    assert translation.source == "bala"
    assert translation.tokens == ["[START]", *translation.raw.split(), "[END]"]
    assert translation.text == translation.raw
    assert translation.is_complete
    assert not translation.is_source_cut


def test_empty_and_blank_lines_stay_empty_and_in_their_place(translator: Translator):
    texts = ["", "bala", "  ", "\t", "bala", "\u00a0"]
    translations = translator.translate(texts)
    assert [translation.source for translation in translations] == texts
    assert [bool(translation.text) for translation in translations] == [bool(text.strip()) for text in texts]
    assert all(translation.is_complete for translation in translations)
    assert translations[0].tokens == ["[START]", "[END]"]
    assert translator.translate([]) == []


def test_order_is_kept_whatever_the_window(translator: Translator, monkeypatch: pytest.MonkeyPatch):
    random_words = np.random.default_rng(0)
    texts = [" ".join(random_words.choice(WORDS, size=1 + number % 5)) for number in range(23)]
    texts[4] = texts[11] = ""
    expected = translator.translate(texts)
    assert [translation.source for translation in expected] == texts
    assert len({translation.text for translation in expected}) > 10
    monkeypatch.setattr("ptenmt.translation.translator.BATCH_SENTENCES", 3)
    for window in (1, 5, 23, 24):
        assert list(translator.translate_iterable(texts, window)) == expected


def test_no_more_is_read_than_a_window(translator: Translator):
    read = []

    def endless() -> Iterator[str]:
        while True:
            read.append("bala")
            yield "bala"

    translations = translator.translate_iterable(endless(), window=4)
    assert [next(translations).source for _ in range(5)] == ["bala"] * 5
    assert len(read) == 8


def test_a_source_longer_than_the_positions_is_cut_and_says_so(translator: Translator):
    fits, too_long = " ".join(["bala"] * 30), " ".join(["bala"] * 31)
    translations = translator.translate(["bala", too_long, fits])
    assert [translation.is_source_cut for translation in translations] == [False, True, False]
    assert translations[1].source == too_long
    assert translations[1].tokens == translations[2].tokens
    assert len(translator.attention(too_long).source_pieces) == 32


def test_a_translation_that_reaches_its_limit_says_so(translator: Translator, model: Transformer):
    end = translator.tokenizers.target.pieces(range(16)).index("[END]")
    favour(model, end, -1e6)
    short, long = translator.translate(["bala", "bala bala bala bala"])
    assert not short.is_complete
    assert "[END]" not in short.tokens
    assert len(short.tokens) == 1 + translator.limit(3) == 1 + 26
    assert len(long.tokens) == 1 + translator.limit(6) == 1 + 32  # no more than max_positions


def test_max_length_is_obeyed(translator: Translator, model: Transformer):
    config = replace(translator.config, decoding=DecodingConfig(max_length=3))
    bounded = Translator.from_model(model, translator.tokenizers, config)
    one, four = bounded.translate(["bala", "bala dico fute galo"])
    assert (one.tokens, one.is_complete) == (["[START]", "bala", "[END]"], True)
    assert (len(four.tokens), four.is_complete) == (1 + 3, False)
    assert bounded.limit(3) == bounded.limit(30) == 3


def test_the_default_limit_grows_with_the_source_up_to_the_positions(translator: Translator):
    limits = [translator.limit(length) for length in range(3, 33)]
    assert limits == sorted(limits)
    assert limits[0] < limits[1] < limits[2]
    assert limits[-1] == translator.config.model.max_positions


def test_unknown_is_produced_by_word_tokenizers_only(translator: Translator, model: Transformer):
    favour(model, UNK, 1e6)
    assert set(translator.translate("bala")[0].raw.split()) == {"[UNK]"}
    config = replace(translator.config, tokenizer=TokenizerConfig(kind="sentencepiece"))
    pieces = Translator.from_model(model, translator.tokenizers, config)
    assert "[UNK]" not in pieces.translate("bala")[0].tokens


def test_attention_belongs_to_the_models_own_translation(translator: Translator):
    text = "hime kilo galo"
    (translation,) = translator.translate(text)
    attention = translator.attention(text)
    assert attention.source_pieces == ["[START]", "hime", "kilo", "galo", "[END]"]
    assert attention.target_pieces == translation.tokens[:-1]
    num_target = len(translation.tokens) - 1
    assert {name: weights.shape for name, weights in attention.weights.items()} == {
        "encoder_layer1": (4, 5, 5),
        "decoder_layer1_block1": (4, num_target, num_target),
        "decoder_layer1_block2": (4, num_target, 5),
    }


def test_attention_may_be_to_a_given_translation(translator: Translator):
    attention = translator.attention("hime kilo", "pira rota mico")
    assert attention.target_pieces == ["[START]", "pira", "rota", "mico"]
    assert attention.weights["decoder_layer1_block2"].shape == (4, 4, 4)
    sides = translator.tokenizers.source, translator.tokenizers.target
    texts = "hime kilo", "pira rota mico"
    source, target = (side.encode([text])[0] for side, text in zip(sides, texts, strict=True))
    expected = translator.engine.model.attention(np.array([[2, *source, 3]]), np.array([[2, *target]]))
    for name, weights in attention.weights.items():
        np.testing.assert_allclose(weights, expected[name][0], atol=1e-6)


def test_a_translator_is_loaded_from_the_run_alone(translator: Translator, copied):
    assert translator.config == copied.config
    by_name = Translator.load(str(copied.path))
    assert [one.text for one in by_name.translate(SENTENCES)] == [
        one.text for one in translator.translate(SENTENCES)
    ]


def test_what_was_read_before_an_error_is_translated(translator: Translator) -> None:
    def sources():
        yield from ("ka", "", "mo")
        raise OSError("the disk is gone")

    received = []
    with pytest.raises(OSError, match="the disk is gone"):
        received.extend(translator.translate_iterable(sources(), window=2))
    for translation in translator.translate_iterable(iter(["ka", "", "mo"])):
        assert translation == received.pop(0)
    assert received == []
