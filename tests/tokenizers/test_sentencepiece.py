import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from ptenmt.config import TokenizerConfig
from ptenmt.errors import TokenizerError
from ptenmt.tokenizers import UNK, build_tokenizers
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

Pairs = list[tuple[str, str]]
Algorithm = Literal["unigram", "bpe"]

TRAIN_ON_ONE_CORE = """
import hashlib, json, os, pathlib, sys, tempfile
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer
options = json.loads(sys.argv[1])
tokenizer = SentencePieceTokenizer.train(json.load(sys.stdin), **options)
with tempfile.TemporaryDirectory() as folder:
    name = tokenizer.save(pathlib.Path(folder), "source")
    print(hashlib.sha256(pathlib.Path(folder, name).read_bytes()).hexdigest())
"""


def train(texts: list[str], size: int = 120, algorithm: Algorithm = "unigram") -> SentencePieceTokenizer:
    return SentencePieceTokenizer.train(texts, vocabulary_size=size, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ["unigram", "bpe"])
def test_decoding_gives_training_sentences_back(pairs: Pairs, algorithm: Algorithm) -> None:
    config = TokenizerConfig(kind="sentencepiece", vocabulary_size=120, algorithm=algorithm)
    pair = build_tokenizers(config, pairs, ("pt", "en"))
    for tokenizer, texts in zip((pair.source, pair.target), zip(*pairs, strict=True), strict=True):
        encoded = tokenizer.encode(texts)
        assert tokenizer.decode(encoded) == list(texts)
        assert not any(UNK in ids for ids in encoded)


def test_literal_specials_in_the_corpus_do_no_harm() -> None:
    tokenizer = train(["x[START] [START] [UNK]y [PAD]z <s> </s> [END]", "STARTPADENDUNK []"] * 50)
    assert tokenizer.pieces(range(4)) == ["[PAD]", "[UNK]", "[START]", "[END]"]
    assert not {"[START]", "[PAD]", "[END]"} & set(tokenizer.pieces(range(4, tokenizer.vocabulary_size)))
    assert tokenizer.decode(tokenizer.encode(["x[START] [PAD]z [END]"])) == ["x[START] [PAD]z [END]"]


def test_vocabulary_is_as_large_as_asked_for_where_the_corpus_suffices(pairs: Pairs) -> None:
    texts = [source for source, _ in pairs]
    assert train(texts, 60).vocabulary_size == 60
    assert train(texts, 60, "bpe").vocabulary_size == 60


def test_a_long_sentence_is_not_skipped() -> None:
    long = "abracadabra " * 1_000
    assert train([long]).encode(["abracadabra"]) != [[UNK]]


def test_same_text_gives_the_same_model_on_any_number_of_cores(pairs: Pairs, tmp_path: Path) -> None:
    texts = [text for pair in pairs for text in pair]
    train(texts, 150).save(tmp_path, "source")
    options = json.dumps({"vocabulary_size": 150, "algorithm": "unigram"})
    command = [sys.executable, "-c", TRAIN_ON_ONE_CORE, options]
    result = subprocess.run(command, input=json.dumps(texts), text=True, capture_output=True, check=True)
    assert result.stdout.strip() == hashlib.sha256((tmp_path / "source.model").read_bytes()).hexdigest()


@pytest.mark.parametrize("texts", [[], [" ", "\n", "\x00"]])
def test_no_text_is_an_error(texts: list[str]) -> None:
    with pytest.raises(TokenizerError, match="have no text") as error:
        train(texts)
    assert "data" in error.value.hint


def test_too_small_a_vocabulary_is_an_error_with_both_numbers() -> None:
    with pytest.raises(TokenizerError, match=r"vocabulary_size=10.* 10 vs 31") as error:
        train(["abcdefghijklmnopqrstuvwxyz"], 10)
    assert "tokenizer.vocabulary_size" in error.value.hint
    assert "\n" not in error.value.message


def test_symbols_are_a_token_each(pairs: Pairs) -> None:
    texts = [f"<bt> {source}" for source, _ in pairs]
    learnt = SentencePieceTokenizer.train(
        texts, vocabulary_size=200, algorithm="unigram", symbols=["<bt>", "⟦0⟧"]
    )
    assert learnt.symbols == ["<bt>", "⟦0⟧"]
    text = f"<bt> Ele ⟦0⟧ {pairs[0][0]}"
    (ids,) = learnt.encode([text])
    assert [piece for piece in learnt.pieces(ids) if piece in learnt.symbols] == learnt.symbols
    assert learnt.decode([ids]) == [text]


def test_digits_and_named_characters_are_tokens_of_their_own() -> None:
    texts = [f"em {year} foram {year} casas" for year in range(1900, 2020)]
    tokenizer = SentencePieceTokenizer.train(texts, 60, "unigram", split_digits=True, characters="ª»ñ")
    assert [piece for piece in tokenizer.vocabulary if len(piece) > 1 and any(map(str.isdigit, piece))] == []
    assert tokenizer.decode(tokenizer.encode(["a 1.ª ñ »"])) == ["a 1[UNK]ª ñ »"]  # no text has a full stop


def test_characters_too_rare_to_be_learned_are_unknown() -> None:
    texts = ["a casa é azul e o gato vê a rua toda"] * 1000
    few, all_of_them = (
        SentencePieceTokenizer.train([*texts, "a tecla ⌘"], 60, "unigram", character_coverage=coverage)
        for coverage in (0.9999, 1.0)
    )
    assert UNK in few.encode(["⌘"])[0]
    assert UNK not in all_of_them.encode(["⌘"])[0]
