"""What the values of options may be."""

import pytest

from ptenmt.config import ModelConfig
from ptenmt.config.loading import build_config, load_config
from ptenmt.errors import ConfigError


def message(values: object) -> str:
    with pytest.raises(ConfigError) as caught:
        build_config(values)  # type: ignore[arg-type]
    assert "\n" not in caught.value.message + caught.value.hint
    return f"{caught.value.message} ({caught.value.hint})"


def stages(*given: dict, weight: float = 1) -> dict:
    """A config with two files and these stages."""
    return {"data": {"train": ["/ted.tsv", {"path": "/web.tsv", "weight": weight}], "stages": [*given]}}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"training": {"dropout": 0.1}}, "unknown option training.dropout — did you mean model.dropout?"),
        ({"epochs": 3}, "unknown option epochs — did you mean training.epochs?"),
        ({"modle": {}}, "unknown option modle — did you mean model?"),
        ({"data": {"train": [{"pth": "a.tsv"}]}}, "data.train[0].pth — did you mean data.train[0].path?"),
        ({"batch": {"zzz": 1}}, "unknown option batch.zzz (options: batch.sentences, batch.tokens, batch."),
        ({5: 1}, "unknown option 5 (options: task, seed, data, tokenizer,"),
    ],
)
def test_an_unknown_option_is_an_error_with_a_suggestion(values: dict, expected: str) -> None:
    assert expected in message(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"training": {"epochs": True}}, "training.epochs=true must be a whole number"),
        ({"training": {"epochs": None}}, "training.epochs=null must be a whole number"),
        ({"model": {"dropout": "a bit"}}, "model.dropout=a bit must be a finite number"),
        ({"model": {"dropout": float("nan")}}, "model.dropout=.nan must be a finite number"),
        ({"data": {"lowercase": 1}}, "data.lowercase=1 must be true or false"),
        ({"data": {"dataset": ["a", "b"]}}, "data.dataset=[a, b] must be text"),
        # PyYAML reads the code of Norwegian as false
        ({"data": {"target_language": False}}, "data.target_language=false must be text (YAML reads yes, no"),
        ({"data": {"source": "file"}}, "data.source=file must be one of tfds, files, demo"),
        ({"data": {"train": [3]}}, "data.train[0] must hold options, not 3"),
        (None, "a config must hold options, not null"),
    ],
)
def test_a_value_of_another_type_is_an_error(values: object, expected: str) -> None:
    assert expected in message(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"model": {"num_heads": 0}}, "model.num_heads=0 must be 1 or more"),
        ({"model": {"dropout": 1}}, "model.dropout=1.0 must be at least 0 and below 1"),
        ({"decoding": {"length_penalty": 400}}, "decoding.length_penalty=400.0 must be at most 10"),
        ({"decoding": {"top_k": 5}}, "decoding.top_k=5 samples tokens, which needs decoding.beam_size=1"),
        ({"seed": 2**31}, "seed=2147483648 must be at least 0 and below 2147483648"),
        ({"model": {"d_model": 128, "num_heads": 3}}, "d_model=128 is not divisible by model.num_heads=3"),
        ({"model": {"d_model": 127, "num_heads": 1}}, "model.d_model=127 must be even"),
        ({"training": {"bidirectional": 0.3}}, "bidirectional=0.3 needs task=translation and tokenizer."),
        ({"tokenizer": {"shared": True}}, "shared=True does not go with tokenizer.kind=wordpiece"),
        ({"data": {"source": "files"}}, "data.source=files needs data.path or data.train"),
        ({"data": {"path": "/a", "train": "/b"}}, "data.path=/a and data.train cannot be used together"),
        ({"data": {"train": [{"source": "/a"}]}}, "or {corpus: NAME}; it has source"),
        ({"data": {"train": [{"path": "/a", "weight": -1}]}}, "data.train[0]: weight=-1.0 must be 0 or more"),
        ({"data": {"train": [{"path": "/a", "weight": 0}]}}, "all files of data.train have weight=0"),
        ({"data": {"train": ["/x/a.tsv", "/y/a.tsv.gz"]}}, "two files of data.train are named a: give one a"),
        ({"data": {"train": [{"path": "/a", "tag": "two words"}]}}, "tag='two words' must be ASCII"),
        ({"data": {"train": [{"path": "/a", "tag": "<bt>"}]}}, "does not go with tokenizer.kind=wordpiece"),
        (stages({}), "data.stages[0].mix names no file; files of data.train: ted, web"),
        (stages({"mix": {"tde": 1}}), "mix names tde, which is no file of data.train — did you mean ted?"),
        (stages({"mix": {"ted": 0}}), "data.stages[0].mix: the share of ted is 0.0; it must be above 0"),
        (stages({"mix": {"ted": "much"}}), "stages[0].mix.ted=much must be a finite"),
        (stages({"mix": {"ted": 1}}, {"mix": {"ted": 1}}), "epochs=None: every stage but the last"),
        (stages({"mix": {"ted": 1}, "epochs": 2}), "data.stages[0].epochs=2: every stage but the last"),
        (stages({"mix": {"ted": 1}}, weight=2), "data.stages and the weight of web cannot be used together"),
    ],
)
def test_a_value_out_of_range_is_an_error_with_the_value(values: dict, expected: str) -> None:
    assert expected in message(values)


def test_heads_need_not_divide_the_width_when_their_sizes_are_given() -> None:
    sizes = {"d_model": 128, "num_heads": 3, "key_size": 16, "value_size": 16}
    assert build_config({"model": sizes}).model == ModelConfig(**sizes)


def test_a_dataset_and_its_languages_must_agree() -> None:
    with pytest.raises(ConfigError, match=r"en_to_pt does not go with data.source_language=pt"):
        load_config("base", ["data.dataset=ted_hrlr_translate/en_to_pt"])
    joined = ["data.dataset=ted_hrlr_translate/glpt_to_en", "data.source_language=gl"]
    assert load_config("base", joined).data.source_language == "gl"


def test_the_longest_sentence_must_fit_into_a_batch_by_tokens() -> None:
    with pytest.raises(ConfigError, match=r"batch.tokens=999 is less than model.max_positions=1000"):
        load_config("base", ["batch.tokens=999"])
    assert load_config("base", ["batch.tokens=1000"]).batch.tokens == 1000
    with pytest.raises(ConfigError, match=r"batch.tokens=19 is less than data.window=20"):
        load_config("next-word", ["batch.tokens=19"])
    assert load_config("next-word", ["batch.tokens=20"]).batch.tokens == 20


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("tokenizer.kind=sentencepiece", "task=next-word needs tokenizer.kind=words, not sentencepiece"),
        ("validation.metric=bleu", "task=next-word needs validation.metric=loss, not bleu"),
        ("model.tied_embeddings=target", "does not go with task=next-word: use all"),
        ("training.bidirectional=0.3", "training.bidirectional=0.3 needs task=translation"),
        ("data.train=[a.tsv]", "data.train names pairs, which task=next-word does not read: use data.path"),
        ("model.max_positions=19", "data.window=20 must be at most model.max_positions=19"),
    ],
)
def test_what_a_next_word_model_needs(override: str, expected: str) -> None:
    overrides = [override, "tokenizer.punctuation=kept"]
    with pytest.raises(ConfigError, match=expected):
        load_config("next-word", overrides)
