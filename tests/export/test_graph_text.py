"""Text inside a graph becomes what it becomes outside: prepared, cut, joined."""

import gzip
from itertools import islice
from pathlib import Path

import pytest
import tensorflow as tf
from untrained_runs import tokenizers

from ptenmt.config import Config, DataConfig, TokenizerConfig
from ptenmt.data.text import TextPreparation, join_tokens, repair_wordpiece
from ptenmt.export.graph.text import graph_tokenizer, prepared, without_framing
from ptenmt.export.graph.writing import repaired, written
from ptenmt.export.limits import why_not_written

TYPED = [
    "",
    "   ",
    "O gato não vê o cão.",
    "  Dois  blancos\te\numa linha\x07 ",
    "e\u0301 decomposto, \u00adhífen mole, \ufeffmarca, \u200bzero",
    "O Sr. Silva (Dr. Silva) mora na av. da Liberdade n. 5, às 10:30...",
    "Custa 3,50 € ou US$ 1,000.50 — «caro» demais; não?!",
    "d'água, guarda-chuva e ''aspas'' ``assim'' e 'outras'.",
    "u.s.a. é p.ex. uma sigla. E agora",
    "fim da frase.'",
    "日本語 e ελληνικά ΣΊΣΥΦΟΣ İstanbul ﬁm",
    "It isn't John's; they 're 5's and the dogs' n't 'tis 'how",
]
TOKENISED = [
    "",
    "it 's fine , is n't it ?",
    "is n ' t it ' s ' how it ' s done ' now",
    "` ` quoted ' ' and `` more '' `` '' again",
    "twenty - five and / or 3 . 5 , 1 , 000 , 000 , 000 at 10 : 30 - - really",
    "mr . smith of ted . com has a ph . d . from the u . s . of a . b . c . d",
    "the u . s . a . is . u . s .",
    '" hello " , he said . " the dogs \' bone "',
    "the ' first ' and ' second ' of james ' house ' s",
    "( 5 € ) and € 5 or 5 £ . [ x ] { y } ¿ que ? ¡ sim !",
    "„ deutsch “ « assez » “ curly ” and ‘ single ’ haven ’ t",
    "日 本 語 x @-@ y 50 % ; : levi 's @-@ n't they",
    "a - b - c / d / e . . . . . .",
    "'' '' `` `` 'tis 't 'how '",
]


def in_graph(function, texts: list[str]) -> list[str]:
    compiled = tf.function(function, input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    return [text.decode() for text in compiled(tf.constant(texts, tf.string)).numpy()]


def real(side: int, count: int) -> list[str]:
    """Sentences in Portuguese or English, typed by many people, if they are on this machine."""
    file = Path(__file__).parents[3] / "shared/data/pt-en/tatoeba.tsv.gz"
    if not file.exists():
        return []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t")[side] for line in islice(lines, 0, 30 * count, 30)]


@pytest.mark.parametrize("tokenization", ["none", "given", "moses"])
@pytest.mark.parametrize("language", ["pt", "en"])
def test_text_is_prepared_alike(tokenization: str, language: str):
    data = DataConfig(source="files", path="x.tsv", source_language=language, tokenization=tokenization)  # type: ignore[arg-type]
    preparation = TextPreparation(data)
    texts = [*TYPED, *TOKENISED, *real(0, 300), *real(1, 300)]
    outside = [preparation.prepare_input(text, language) for text in texts]
    assert in_graph(lambda text: prepared(text, data), texts) == outside


@pytest.mark.parametrize(
    "options", [{"lowercase": True}, {"normalization": "NFKC"}, {"normalization": "NFC"}]
)
def test_every_option_of_preparation_has_its_effect(options: dict[str, object]):
    data = DataConfig(source="files", path="x.tsv", **options)  # type: ignore[arg-type]
    outside = [TextPreparation(data).prepare_input(text, "pt") for text in TYPED]
    assert in_graph(lambda text: prepared(text, data), TYPED) == outside
    assert outside != [TextPreparation(DataConfig(source="demo")).prepare_input(text, "pt") for text in TYPED]


def test_what_is_typed_for_ted_is_in_lower_case():
    data, texts = DataConfig(source="tfds"), ["É o GATO?", *TYPED]
    outside = [TextPreparation(data).prepare_input(text, "pt") for text in texts]
    assert in_graph(lambda text: prepared(text, data), texts) == outside
    assert outside[0] == "é o gato ?"


def test_text_that_is_no_utf8_is_replaced():
    data = DataConfig(source="demo")
    (found,) = prepared(tf.constant([b"ol\xe1 a\xff"]), data).numpy()
    assert found.decode() == "ol\ufffd a\ufffd"


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("sentencepiece", {}),
        ("wordpiece", {}),
        ("words", {}),
        ("words", {"punctuation": "deleted"}),
        ("words", {"punctuation": "space"}),
    ],
)
def test_tokens_are_alike(kind: str, options: dict[str, str]):
    outside = tokenizers(kind, **options).source
    inside = graph_tokenizer(outside)
    texts = [" ".join(text.split()) for text in [*TYPED, *TOKENISED]]
    ids = inside.encode(tf.constant(texts)).to_list()
    assert ids == outside.encode(texts)
    framed = tf.ragged.constant([[2, *row, 3] for row in ids], dtype=tf.int64).to_tensor()
    decoded = [text.decode() for text in inside.decode(without_framing(framed)).numpy()]
    assert decoded == outside.decode(ids)


def test_two_sentencepiece_models_stay_two_when_they_are_loaded(tmp_path: Path):
    pair = tokenizers("sentencepiece", shared=False)
    module = tf.Module()
    for side in ("source", "target"):
        inside = graph_tokenizer(getattr(pair, side))
        texts = tf.TensorSpec([None], tf.string)
        setattr(module, side, inside)
        setattr(
            module, f"encode_{side}", tf.function(inside.encode, input_signature=[texts], autograph=False)
        )
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for side in ("source", "target"):
        encode = getattr(loaded, f"encode_{side}")
        assert encode(tf.constant(TOKENISED[1:2])).to_list() == getattr(pair, side).encode(TOKENISED[1:2])


def test_wordpiece_is_repaired_alike():
    texts = [*TOKENISED, *(" ".join(text.replace("'", " ' ").split()) for text in real(1, 300))]
    assert in_graph(repaired, texts) == [repair_wordpiece(text) for text in texts]


@pytest.mark.parametrize("language", ["pt", "en", "de"])
def test_words_are_joined_alike(language: str):
    config = Config(
        data=DataConfig(source="files", path="x.tsv", target_language=language),
        tokenizer=TokenizerConfig(kind="words"),
    )
    texts = [*TOKENISED, *real(0, 300), *real(1, 300)]
    outside = [join_tokens(text, language) for text in texts]
    assert in_graph(lambda text: written(text, config), texts) == outside


@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_where_there_are_no_words(texts: list[str]):
    config = Config(data=DataConfig(source="demo"), tokenizer=TokenizerConfig(kind="words"))
    assert in_graph(lambda text: written(text, config), texts) == texts


def test_where_nothing_is_to_be_joined():
    plain = Config(data=DataConfig(source="demo"), tokenizer=TokenizerConfig(kind="sentencepiece"))
    assert in_graph(lambda text: written(text, plain), TOKENISED) == TOKENISED
    french = Config(
        data=DataConfig(source="demo", target_language="fr"), tokenizer=TokenizerConfig(kind="words")
    )
    assert "Moses has rules of its own for joining fr" in why_not_written(french)
    assert why_not_written(plain) == ""
