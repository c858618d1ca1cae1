"""What holds for a tokenizer of any kind."""

import unicodedata

import pytest

from ptenmt.tokenizers import END, PAD, START, UNK, TokenizerPair, encode_framed

SENTENCE = "A menina viu o pão."
HOSTILE = [
    "[START] a [END]",
    "[PAD][PAD]",
    "x[END]y",
    "<s> </s> <pad>",
    "##[START]",
    "▁[START]",
    "",
    "   ",
    "\x00",
    "a\x00b\x01\x1b",
    "olá\r\nmundo\t!",
    "\ud83d lone surrogate",
    "😀 🤦🏽‍♀️ 日本語",
    "x" * 10_000,
    "a menina " * 1_111,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_no_text_encodes_to_special_ids_or_beyond_the_vocabulary(any_pair: TokenizerPair, text: str) -> None:
    tokenizer = any_pair.source
    assert tokenizer.pieces([PAD, UNK, START, END]) == ["[PAD]", "[UNK]", "[START]", "[END]"]
    (ids,) = tokenizer.encode([text])
    assert not {PAD, START, END} & set(ids)
    assert all(0 <= token < tokenizer.vocabulary_size for token in ids)
    assert isinstance(tokenizer.decode([ids])[0], str)


def test_blank_text_is_no_token(any_pair: TokenizerPair) -> None:
    assert any_pair.source.encode(["", " \n\t ", "\x00"]) == [[], [], []]
    assert any_pair.source.decode([[], [START, END]]) == ["", ""]
    assert any_pair.source.encode([]) == []
    assert any_pair.source.decode([]) == []


def test_decode_ignores_framing_and_padding_but_shows_unknown(any_pair: TokenizerPair) -> None:
    tokenizer = any_pair.source
    (ids,) = tokenizer.encode([SENTENCE])
    padded = [START, *ids, END, PAD, PAD]
    assert tokenizer.decode([padded]) == tokenizer.decode([ids])
    assert "[UNK]" in tokenizer.decode([[*ids, UNK]])[0]
    assert "[UNK]" not in tokenizer.decode([ids])[0]
    assert tokenizer.decode([ids])[0].endswith(" .") == tokenizer.splits_punctuation


def test_long_text_loses_nothing(any_pair: TokenizerPair) -> None:
    (once,) = any_pair.source.encode(["a menina"])
    (often,) = any_pair.source.encode(["a menina " * 1_111])
    assert often == once * 1_111


def test_decomposed_accents_encode_like_composed(any_pair: TokenizerPair) -> None:
    composed = unicodedata.normalize("NFC", "coração")
    decomposed = unicodedata.normalize("NFD", "coração")
    assert composed != decomposed
    (ids,) = any_pair.source.encode([composed])
    assert any_pair.source.encode([decomposed]) == [ids]
    assert UNK not in ids


def test_encode_framed_counts_what_it_cuts(any_pair: TokenizerPair) -> None:
    texts = [SENTENCE, "", SENTENCE + " " + SENTENCE]
    short, _, long = any_pair.source.encode(texts)
    exact = len(short) + 2
    framed, cut = encode_framed(any_pair.source, texts, exact)
    assert cut == 1
    assert framed == [[START, *short, END], [START, END], [START, *long[: len(short)], END]]
    assert encode_framed(any_pair.source, texts, exact - 1)[1] == 2
    assert encode_framed(any_pair.source, texts, len(long) + 2)[1] == 0
