import gzip
import random
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from ptenmt.errors import TokenizerError
from ptenmt.tokenizers import TokenizerPair
from ptenmt.tokenizers.wordpiece import WordPieceTokenizer


def test_golden_sizes_and_ids(published: TokenizerPair) -> None:
    assert (published.source.vocabulary_size, published.target.vocabulary_size) == (7765, 7010)
    assert published.source.encode(
        ["este modelo parece funcionar bem", "este é um problema que temos que resolver"]
    ) == [[125, 578, 364, 912, 140], [125, 44, 85, 231, 84, 130, 84, 742]]


@pytest.mark.parametrize("languages", [("gl", "en"), ("pt", "pt"), ("pt", "es")])
def test_other_languages_are_refused(languages: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="for pt and en, not for") as error:
        WordPieceTokenizer.load_published(tmp_path, languages)
    assert "sentencepiece" in error.value.hint


@pytest.mark.parametrize("name", ["pt_vocab.txt", "en_vocab.txt"])
def test_a_damaged_file_is_noticed(name: str, published_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    for file in published_folder.glob("assets/*_vocab.txt"):
        content = file.read_bytes()
        (tmp_path / "assets" / file.name).write_bytes(content[:-9] if file.name == name else content)
    with pytest.raises(TokenizerError, match=rf"{tmp_path}/assets/{name} is damaged"):
        WordPieceTokenizer.load_published(tmp_path, ("pt", "en"))


# Two combining iotas, Mongolian letters, and separators that text preparation turns into spaces.
DIFFERING = "\u0345\u037a\u166d\u1680\u1734\u1885\u1886\u2028\u2029"


def hostile_texts() -> list[str]:
    """Every character of Unicode 3.2 between letters, and random ones among others; all but a few."""
    known = unicodedata.ucd_3_2_0
    characters = [
        chr(code)
        for code in range(0x30000)
        if known.category(chr(code)) not in ("Cn", "Cs") and chr(code) not in DIFFERING
    ]
    numbers = random.Random(1)
    common = [chr(code) for code in range(32, 0x250)] * 10 + characters[:8000] * 2 + characters
    mixed = ["".join(numbers.choices(common, k=numbers.randrange(1, 30))) for _ in range(3000)]
    return mixed + [f"a{each}b" for each in characters if not 0x3400 < ord(each) < 0xF000]


def corpus_texts(folder: Path) -> list[str]:
    """Sentences of both languages from a real corpus, if it lies beside the published tokenizer."""
    files = folder.glob("pt-en/tatoeba.tsv.gz")
    lines = [line for file in files for line in gzip.decompress(file.read_bytes()).decode().splitlines()]
    return [text for line in lines[:1000] for text in line.split("\t")]


def test_ids_are_those_of_the_published_model(published: TokenizerPair, published_folder: Path) -> None:
    pytest.importorskip("tensorflow_text")
    import tensorflow as tf

    model = tf.saved_model.load(str(published_folder))
    texts = [
        *corpus_texts(published_folder.parent),
        *hostile_texts(),
        "\u00b4",
        "d\u00b4água",
        "\x00",
        "",
        "a" * 100,
        "a" * 101,
        "[START]",
    ]
    for tokenizer, member in ((published.source, model.pt), (published.target, model.en)):
        theirs = member.tokenize(tf.constant([text.encode() for text in texts])).to_list()
        ours = tokenizer.encode(texts)
        differing = [
            text for text, ids, framed in zip(texts, ours, theirs, strict=True) if ids != framed[1:-1]
        ]
        assert differing == []
        ids = [ids for ids in ours if ids]
        ragged = tf.RaggedTensor.from_row_lengths(np.concatenate(ids), [len(each) for each in ids])
        texts_again = member.detokenize(ragged).numpy()
        assert tokenizer.decode(ids) == [text.decode() for text in texts_again]
