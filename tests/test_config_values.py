"""What the values of options may be."""

import pytest

from ptenmt.config import ModelConfig
from ptenmt.config.loading import (
    build_config,
    load_config,
)
from ptenmt.errors import ConfigError


def message(values: object) -> str:
    with pytest.raises(ConfigError) as caught:
        build_config(values)  # type: ignore[arg-type]
    assert "\n" not in caught.value.message + caught.value.hint
    return f"{caught.value.message} ({caught.value.hint})"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"training": {"warmup_step": 1}},
            "option training.warmup_step — did you mean training.warmup_steps?",
        ),
        ({"training": {"dropout": 0.1}}, "unknown option training.dropout — did you mean model.dropout?"),
        ({"epochs": 3}, "unknown option epochs — did you mean training.epochs?"),
        ({"modle": {}}, "unknown option modle — did you mean model?"),
        ({"data": {"train": [{"pth": "a.tsv"}]}}, "data.train[0].pth — did you mean data.train[0].path?"),
        (
            {"batch": {"zzz": 1}},
            "unknown option batch.zzz (options: batch.sentences, batch.tokens, batch.accumulate)",
        ),
        ({5: 1}, "unknown option 5 (options: task, seed, data, tokenizer,"),
    ],
)
def test_an_unknown_option_is_an_error_with_a_suggestion(values: dict, expected: str) -> None:
    assert expected in message(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"training": {"epochs": True}}, "training.epochs=true must be a whole number"),
        ({"training": {"epochs": "many"}}, "training.epochs=many must be a whole number"),
        ({"training": {"epochs": 2.0}}, "training.epochs=2.0 must be a whole number"),
        ({"training": {"epochs": None}}, "training.epochs=null must be a whole number"),
        ({"model": {"dropout": True}}, "model.dropout=true must be a finite number"),
        ({"model": {"dropout": "a bit"}}, "model.dropout=a bit must be a finite number"),
        ({"model": {"dropout": float("nan")}}, "model.dropout=.nan must be a finite number"),
        ({"model": {"dropout": float("inf")}}, "model.dropout=.inf must be a finite number"),
        ({"model": {"dropout": "nan"}}, "model.dropout=nan must be a finite number"),
        ({"model": {"dropout": 10**400}}, "must be a finite number"),
        ({"data": {"lowercase": 1}}, "data.lowercase=1 must be true or false"),
        ({"data": {"lowercase": "yes"}}, "data.lowercase='yes' must be true or false"),
        ({"data": {"dataset": ["a", "b"]}}, "data.dataset=[a, b] must be text"),
        # PyYAML reads the code of Norwegian as false
        ({"data": {"target_language": False}}, "data.target_language=false must be text (YAML reads yes, no"),
        ({"data": {"source": "file"}}, "data.source=file must be one of tfds, files, demo"),
        ({"data": {"source": None}}, "data.source=null must be one of tfds, files, demo"),
        ({"data": {"source": ["tfds"]}}, "data.source=[tfds] must be one of tfds, files, demo"),
        ({"data": {"train": [3]}}, "data.train[0] must hold options, not 3"),
        ({"model": 3}, "model must hold options, not 3"),
        ({"model": ["d_model"] * 40}, "model must hold options, not [d_model,"),
        (None, "a config must hold options, not null"),
    ],
)
def test_a_value_of_another_type_is_an_error(values: object, expected: str) -> None:
    assert expected in message(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"model": {"d_model": 128, "num_heads": 3}},
            "model.d_model=128 is not divisible by model.num_heads=3",
        ),
        ({"model": {"d_model": 127, "num_heads": 1}}, "model.d_model=127 must be even"),
        ({"model": {"num_heads": 0}}, "model.num_heads=0 must be 1 or more"),
        ({"model": {"encoder_layers": 0}}, "model.encoder_layers=0 must be 1 or more"),
        ({"model": {"decoder_layers": -1}}, "model.decoder_layers=-1 must be 1 or more"),
        ({"model": {"decoder_layers": 1.5}}, "model.decoder_layers=1.5 must be a whole number"),
        ({"model": {"key_size": 0}}, "model.key_size=0 must be 1 or more"),
        ({"model": {"dropout": 1}}, "model.dropout=1.0 must be at least 0 and below 1"),
        ({"model": {"dropout": -0.1}}, "model.dropout=-0.1 must be at least 0 and below 1"),
        ({"model": {"max_positions": 3}}, "model.max_positions=3 must be 4 or more"),
        ({"seed": -1}, "seed=-1 must be at least 0"),
        ({"seed": 2**31}, "seed=2147483648 must be at least 0 and below 2147483648"),
        ({"batch": {"sentences": 0}}, "batch.sentences=0 must be 1 or more"),
        ({"training": {"epochs": 0}}, "training.epochs=0 must be 1 or more"),
        ({"training": {"warmup_steps": 0}}, "training.warmup_steps=0 must be 1 or more"),
        ({"training": {"label_smoothing": 1}}, "training.label_smoothing=1.0 must be at least 0 and below 1"),
        ({"training": {"bidirectional": 1}}, "training.bidirectional=1.0 must be at least 0 and below 1"),
        (
            {"training": {"bidirectional": 0.3}},
            "training.bidirectional=0.3 needs task=translation and tokenizer.",
        ),
        ({"checkpoint": {"keep": 0}}, "checkpoint.keep=0 must be 1 or more"),
        ({"checkpoint": {"every_epochs": 0}}, "checkpoint.every_epochs=0 must be 1 or more"),
        ({"decoding": {"max_length": 0}}, "decoding.max_length=0 must be 1 or more"),
        ({"tokenizer": {"vocabulary_size": 4}}, "tokenizer.vocabulary_size=4 must be 8 or more"),
        ({"tokenizer": {"shared": True}}, "shared=True does not go with tokenizer.kind=wordpiece"),
        ({"tokenizer": {"sampling": 0.1}}, "sampling=0.1 does not go with tokenizer.kind=wordpiece"),
        (
            {"tokenizer": {"kind": "sentencepiece", "sampling": 1.5}},
            "tokenizer.sampling=1.5 must be at most 1",
        ),
        (
            {"tokenizer": {"training_sentences": 0}},
            "tokenizer.training_sentences=0 must be 1 or more",
        ),
        (
            {"tokenizer": {"punctuation": "space"}},
            "punctuation=space does not go with tokenizer.kind=wordpiece",
        ),
        (
            {"tokenizer": {"order": "appearance"}},
            "order=appearance does not go with tokenizer.kind=wordpiece",
        ),
        ({"data": {"source": "files"}}, "data.source=files needs data.path or data.train"),
        ({"data": {"window": 0}}, "data.window=0 must be 1 or more"),
        ({"data": {"stride": 0}}, "data.stride=0 must be 1 or more"),
        ({"data": {"characters": 0}}, "data.characters=0 must be 1 or more"),
        ({"task": "translate"}, "task=translate must be one of translation, next-word"),
        ({"data": {"dataset": " "}}, "data.dataset is empty"),
        ({"data": {"limit": 0}}, "data.limit=0 must be 1 or more"),
        ({"data": {"filters": {"max_words": 0}}}, "data.filters.max_words=0 must be 1 or more"),
        (
            {"data": {"filters": {"max_length_ratio": 0.5}}},
            "data.filters.max_length_ratio=0.5 must be 1 or more",
        ),
        (
            {"data": {"filters": {"min_letters": 1.5}}},
            "data.filters.min_letters=1.5 must be at most 1",
        ),
        (
            {"data": {"filters": {"deduplicate": True}}},
            "data.filters.deduplicate=true must be one of none, exact, near",
        ),
        ({"data": {"validation_pairs": 0}}, "data.validation_pairs=0 must be 1 or more"),
        ({"data": {"path": "/a", "train": "/b"}}, "data.path=/a and data.train cannot be used together"),
        ({"data": {"train": [{"source": "/a"}]}}, "or {corpus: NAME}; it has source"),
        ({"data": {"train": [{"path": "/a", "source": "/b"}]}}, "data.train[0]: a corpus file is {path"),
        ({"data": {"train": [{"path": "/a", "weight": -1}]}}, "data.train[0]: weight=-1.0 must be 0 or more"),
        (
            {"data": {"train": [{"path": "/a", "weight": 0}, {"path": "/b", "weight": 0}]}},
            "all files of data.train have weight=0, so that an epoch has no pair",
        ),
        ({"data": {"train": ["/x/a.tsv", "/y/a.tsv.gz"]}}, "two files of data.train are named a: give one a"),
        (
            {"data": {"train": [{"path": "/a", "tag": "two words"}]}},
            "tag='two words' must be ASCII characters between < and >",
        ),
        (
            {"data": {"train": [{"path": "/a", "tag": "<bt>"}]}},
            "the tag <bt> does not go with tokenizer.kind=wordpiece: only sentencepiece",
        ),
        (
            {"data": {"train": "/a", "validation": [{"path": "/b", "weight": 2}]}},
            "data.validation: b has a weight or a tag, which only training files can have",
        ),
        (
            {"data": {"stages": [{"mix": {"a": 1}}]}},
            "data.stages mixes the files of data.train, which has none",
        ),
        (
            {"data": {"train": "/b", "stages": [{"mix": {"a": 1}}]}},
            "data.stages[0].mix names a, which is no file of data.train",
        ),
        (
            {"data": {"train": ["/a"], "stages": [{}]}},
            "data.stages[0].mix names no file; files of data.train: a",
        ),
        (
            {"data": {"train": ["/ted.tsv", "/web.tsv"], "stages": [{"mix": {"tde": 1}}]}},
            "data.stages[0].mix names tde, which is no file of data.train — did you mean ted?",
        ),
        (
            {"data": {"train": ["/a"], "stages": [{"mix": {"a": 0}}]}},
            "data.stages[0].mix: the share of a is 0.0; it must be above 0",
        ),
        (
            {"data": {"train": ["/a"], "stages": [{"mix": {"a": "much"}}]}},
            "stages[0].mix.a=much must be a finite",
        ),
        ({"data": {"train": ["/a"], "stages": [{"mix": "a"}]}}, "stages[0].mix must hold names and numbers"),
        (
            {"data": {"train": ["/a"], "stages": [{"mix": {"a": 1}}, {"mix": {"a": 1}}]}},
            "data.stages[0] never ends: it has no epochs, and a stage follows it",
        ),
        (
            {"data": {"train": ["/a"], "stages": [{"mix": {"a": 1}, "epochs": 2}]}},
            "data.stages[0].epochs=2: the last stage lasts to the end of the training",
        ),
        (
            {"data": {"train": [{"path": "/a", "weight": 2}], "stages": [{"mix": {"a": 1}}]}},
            "data.stages and the weight of a cannot be used together",
        ),
    ],
)
def test_a_value_out_of_range_is_an_error_with_the_value(values: dict, expected: str) -> None:
    assert expected in message(values)


def test_a_length_penalty_is_not_so_large_that_scores_overflow() -> None:
    expected = "decoding.length_penalty=400.0 must be at most 10"
    assert expected in message({"decoding": {"length_penalty": 400}})


def test_heads_need_not_divide_the_width_when_their_sizes_are_given() -> None:
    sizes = {"d_model": 128, "num_heads": 3, "key_size": 16, "value_size": 16}
    assert build_config({"model": sizes}).model == ModelConfig(**sizes)


def test_a_dataset_and_its_languages_must_agree() -> None:
    with pytest.raises(ConfigError, match=r"en_to_pt does not go with data.source_language=pt"):
        load_config("base", ["data.dataset=ted_hrlr_translate/en_to_pt"])
    reverse = [
        "data.dataset=ted_hrlr_translate/en_to_pt",
        "data.source_language=en",
        "data.target_language=pt",
    ]
    assert load_config("base", reverse).data.target_language == "pt"
    joined = ["data.dataset=ted_hrlr_translate/glpt_to_en", "data.source_language=gl"]
    assert load_config("base", joined).data.source_language == "gl"


def test_the_longest_sentence_must_fit_into_a_batch_by_tokens() -> None:
    with pytest.raises(ConfigError, match=r"batch.tokens=999 is less than model.max_positions=1000"):
        load_config("base", ["batch.tokens=999"])
    assert load_config("base", ["batch.tokens=1000"]).batch.tokens == 1000
    with pytest.raises(ConfigError, match=r"batch.tokens=19 is less than data.window=20"):
        load_config("next-word", ["batch.tokens=19"])
    assert load_config("next-word", ["batch.tokens=20"]).batch.tokens == 20


def test_a_next_word_model_has_one_vocabulary() -> None:
    assert load_config("next-word", ["tokenizer.shared=false"]).tokenizer.shared


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("tokenizer.kind=sentencepiece", "task=next-word needs tokenizer.kind=words, not sentencepiece"),
        ("validation.metric=bleu", "task=next-word needs validation.metric=loss, not bleu"),
        ("model.tied_embeddings=target", "which has one embedding matrix: use all"),
        ("model.decoder_layers=2", "model.decoder_layers=2 does not go with task=next-word"),
        ("training.bidirectional=0.3", "training.bidirectional=0.3 needs task=translation"),
        ("data.train=[a.tsv]", "data.train names pairs, and task=next-word reads one text: data.path"),
        ("data.filters.max_words=3", "data.filters does not go with task=next-word"),
        ("model.max_positions=19", "data.window=20 must be at most model.max_positions=19"),
        *(
            (
                f"data.{option}={value}",
                f"data.{option} does not go with task=next-word: it is an option of translation models",
            )
            for option, value in [
                ("validation", "[a.tsv]"),
                ("test", "[a.tsv]"),
                ("validation_pairs", "7"),
                ("test_pairs", "7"),
                ("hold_out", "false"),
                ("limit", "5"),
            ]
        ),
    ],
)
def test_what_a_next_word_model_needs(override: str, expected: str) -> None:
    overrides = [override, "tokenizer.punctuation=kept"]
    with pytest.raises(ConfigError, match=expected):
        load_config("next-word", overrides)


def test_a_translator_predicts_in_one_way() -> None:
    with pytest.raises(ConfigError, match="prediction=causal does not go with task=translation"):
        load_config("base", ["model.prediction=causal"])


@pytest.mark.parametrize("option", ["characters=9", "window=9", "stride=9", "short_windows=true"])
def test_a_translator_reads_no_windows(option: str) -> None:
    name = option.partition("=")[0]
    expected = f"data.{name} does not go with task=translation: it is an option of next-word models"
    with pytest.raises(ConfigError, match=expected):
        load_config("pairs", [f"data.{option}"])


def test_no_translation_may_be_longer_than_the_model_can_write() -> None:
    with pytest.raises(ConfigError, match=r"decoding.max_length=1001 is more than model.max_positions=1000"):
        load_config("base", ["decoding.max_length=1001"])
    assert load_config("base", ["decoding.max_length=1000"]).decoding.max_length == 1000
