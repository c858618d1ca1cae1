"""Configs: YAML and overrides in, checked dataclasses out."""

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from ptenmt.config import Config, CorpusFile, DataConfig, ModelConfig, TokenizerConfig, TrainingConfig
from ptenmt.config.loading import (
    build_config,
    config_folders,
    dump_config,
    find_config,
    fixed_differences,
    flat_options,
    load_config,
    without_paths,
)
from ptenmt.config.schema import FilterConfig
from ptenmt.errors import ConfigError
from ptenmt.runs import Run

PRESETS = sorted(config_folders()[-1].glob("*.yaml"))


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def write(text: str, name: str = "my.yaml") -> Path:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


def test_yaml_becomes_dataclasses(write) -> None:
    config = load_config(
        write("seed: 7\nmodel:\n  d_model: 64\n  num_heads: 4\n  dropout: 1e-4\ntraining:\n")
    )

    assert config == Config(seed=7, model=ModelConfig(d_model=64, num_heads=4, dropout=0.0001))
    with pytest.raises(FrozenInstanceError):
        config.seed = 8  # type: ignore[misc]
    ratio = load_config(write("data: {filters: {max_length_ratio: 2}}\n")).data.filters.max_length_ratio
    assert isinstance(ratio, float)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# nothing yet: it would download the TED talks\n", "sets no option"),
        ("model:\n  d_ff: 64\n  d_ff: 8\n", "my.yaml, line 3: not valid YAML: option d_ff is given twice"),
        ("model: [1, 2\nseed: 3", "my.yaml, line 2: not valid YAML: expected"),
        ("model:\n\td_ff: 8\n", "my.yaml, line 2: not valid YAML: found character '\\t'"),
        ("[" * 2_000, "is nested too deeply, or refers to itself"),
        ("- model\n- data\n", "my.yaml must hold sections such as 'model:', not [model, data]"),
        ("model:\n  d_modl: 4\n", "my.yaml: unknown option model.d_modl — did you mean model.d_model?"),
    ],
)
def test_a_file_that_cannot_be_used(write, text: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write(text))
    assert expected in caught.value.message
    assert "\n" not in caught.value.message


def test_a_missing_file_lists_the_presets(write) -> None:
    write("", "configs/mine.yaml")
    with pytest.raises(ConfigError) as caught:
        load_config("bse")
    assert caught.value.message == "config bse not found — did you mean base?"
    with pytest.raises(ConfigError, match="config test not found$"):
        load_config("test")  # which is no misspelt tune
    presets = {path.stem for path in (Path(__file__).parents[1] / "configs").glob("*.yaml")}
    names = sorted({"mine", *presets})
    assert caught.value.hint == f"give a file, or one of: {', '.join(f'{name}.yaml' for name in names)}"


def test_the_users_configs_come_before_the_installed_ones(write) -> None:
    names = ("demo", "demo.yaml")
    assert [find_config(name).parent for name in names] == [config_folders()[-1]] * 2
    write("seed: 5\n", "configs/demo.yaml")
    assert [find_config(name) for name in names] == [Path("configs/demo.yaml")] * 2
    write("seed: 6\n", "demo.yaml")
    assert [load_config(name).seed for name in names] == [5, 6]


def test_a_file_beside_the_config_is_found_if_the_working_folder_has_none(write) -> None:
    file = write("data: {path: own.tsv}\n", "elsewhere/my.yaml")
    here, beside = file.parent.parent, file.parent / "own.tsv"
    assert load_config(file).data.path == str(here / "own.tsv"), "it is nowhere"
    beside.write_text("a\tb\n", encoding="utf-8")
    assert load_config(file).data.path == str(beside)
    assert load_config(file, ["data.path=other.tsv"]).data.path == str(here / "other.tsv")
    (here / "own.tsv").write_text("a\tb\n", encoding="utf-8")
    assert load_config(file).data.path == str(here / "own.tsv")


def test_overrides(write) -> None:
    file = write("model:\n  d_model: 64\n  num_heads: 4\ndecoding:\n  max_length: 40\ndata: {path: a.tsv}\n")
    overrides = [
        "model.num_heads=2",
        " seed = 3",
        "decoding.max_length=null",
        "model.dropout=1e-1",
        "data.path=",
        "data.train=[a.tsv, {path: b.tsv, weight: 2}]",
        "data.source_language=http://a/b?c=d",
        "model.num_heads=8",
    ]
    config = load_config(file, overrides)

    assert (config.seed, config.decoding.max_length) == (3, None)
    assert config.model == ModelConfig(d_model=64, num_heads=8)
    assert config.data.source_language == "http://a/b?c=d"
    files = [(str(file.parent / "a.tsv"), 1), (str(file.parent / "b.tsv"), 2)]
    assert [(entry.path, entry.weight) for entry in config.data.train] == files


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("model.d_model", "--set model.d_model is not of the form section.option=value"),
        ("=3", "--set =3 is not of the form section.option=value"),
        ("seed.x=3", "unknown option seed.x"),
        ("model={d_ff: 3}", "model is a section, not an option"),
        ("model.d_model=66", "--set model.d_model=66 is not divisible by model.num_heads=4"),
        ("model.d_model=[x", "model.d_model='[x' must be a whole number"),
        ("machine.precision=mixed_float16", "--set machine.precision=mixed_float16 is no longer an option"),
    ],
)
def test_an_override_that_cannot_be_used(write, override: str, expected: str) -> None:
    file = write("model: {d_model: 64, num_heads: 4}\n")
    with pytest.raises(ConfigError) as caught:
        load_config(file, [override])
    assert expected in caught.value.message


def test_removed_options_are_ignored_with_one_warning(write, caplog: pytest.LogCaptureFixture) -> None:
    filters = "{max_words: 9, same_urls: true, same_numbers: true}"
    machine = "machine: {precision: mixed_float16}"
    config = load_config(write(f"data: {{path: a.tsv, filters: {filters}}}\n{machine}\n"))
    assert config.data.filters == FilterConfig(max_words=9)
    assert config.machine.precision == "float32"
    (record,) = caplog.records
    assert "no longer options" in record.message
    assert "data.filters.same_numbers (OpusFilter compares numbers), " in record.message
    assert "machine.precision=mixed_float16 (float32)" in record.message


def test_paths_become_absolute(write, monkeypatch: pytest.MonkeyPatch) -> None:
    here = write("").parent
    monkeypatch.setenv("HOME", "/home/ana")
    aligned = {"source": "v.pt", "target": "v.en"}
    data = {"source": "files", "data_dir": "~/tfds", "train": "a.tsv", "validation": aligned}
    config = build_config({"data": data, "tokenizer": {"path": "tokenizer"}})
    assert config.data.data_dir == "/home/ana/tfds"
    assert config.data.train == (CorpusFile(path=str(here / "a.tsv")),)
    assert config.data.validation == (CorpusFile(source=str(here / "v.pt"), target=str(here / "v.en")),)
    assert config.tokenizer.path == str(here / "tokenizer")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda path: path.stem)
def test_a_preset_loads_and_survives_writing(preset: Path, tmp_path: Path) -> None:
    config = load_config(preset)
    Run(tmp_path / "run").write(config, {})

    assert config != Config()
    assert config.checkpoint.every_minutes == 10, "what a kill loses at most"
    assert Run(tmp_path / "run").config() == config
    assert load_config(tmp_path / "run" / "config.yaml") == config


def test_writing_keeps_lists_of_files_and_accents(write) -> None:
    write("")
    named = {"path": "ção.tsv", "name": "c", "tag": "<bt>"}
    files = ["a.tsv", named, {"source": "x.pt", "target": "x.en"}]
    data = {"source": "files", "train": files}
    config = build_config({"data": data, "tokenizer": {"kind": "sentencepiece"}})
    text = dump_config(config)

    assert load_config(write(text)) == config
    assert "ção.tsv" in text


def test_the_base_preset_is_the_published_transformer() -> None:
    base = load_config(config_folders()[-1] / "base.yaml")
    expected = {
        "data.source": "tfds",
        "data.dataset": "ted_hrlr_translate/pt_to_en",
        "tokenizer.kind": "wordpiece",
        "model.num_layers": 4,
        "model.d_model": 128,
        "model.num_heads": 8,
        "model.d_ff": 512,
        "model.key_size": None,
        "model.value_size": None,
        "model.dropout": 0.1,
        "model.max_positions": 1000,
        "batch.sentences": 64,
        "training.epochs": 20,
        "training.warmup_steps": 4000,
        "checkpoint.every_epochs": 5,
        "checkpoint.keep": 5,
        "decoding.max_length": 40,
    }
    assert {name: value for name, value in flat_options(base).items() if name in expected} == expected


def test_differences_that_a_resumed_training_may_not_have() -> None:
    old = Config(data=DataConfig(path="/here.tsv"))
    new = Config(
        seed=1,
        data=DataConfig(lowercase=True, path="/elsewhere.tsv"),
        model=ModelConfig(d_ff=8),
        training=TrainingConfig(epochs=99),
        decoding=replace(old.decoding, max_length=3),
        checkpoint=replace(old.checkpoint, keep=1),
    )
    differing = ["seed: 42 → 1", "data.lowercase: false → true", "model.d_ff: 512 → 8"]
    assert fixed_differences(new, old) == differing
    assert fixed_differences(old, old) == []


def test_of_folders_nothing_stays_and_of_files_the_names():
    train = (CorpusFile(path="/secret/a.tsv", weight=2), CorpusFile(source="/secret/b.pt", target="c.en"))
    folders = {"data_dir": "/secret", "cache_dir": "/secret/cache"}
    data = DataConfig(train=train, validation=train[1:], test=train[1:], lowercase=True, **folders)
    config = Config(seed=3, data=data, tokenizer=TokenizerConfig(path="/secret/tokenizer"))
    named = (CorpusFile(path="a.tsv", weight=2), CorpusFile(source="b.pt", target="c.en"))
    found = without_paths(config)
    assert found == replace(
        config,
        data=replace(data, train=named, validation=named[1:], test=named[1:], data_dir=None, cache_dir=None),
        tokenizer=TokenizerConfig(),
    )
    assert "secret" not in dump_config(found)
    assert without_paths(found) == found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"training": {"dropout": 0.1}}, "unknown option training.dropout — did you mean model.dropout?"),
        ({"epochs": 3}, "unknown option epochs — did you mean training.epochs?"),
        ({"data": {"train": [{"pth": "a.tsv"}]}}, "data.train[0].pth — did you mean data.train[0].path?"),
        ({"batch": {"zzz": 1}}, "unknown option batch.zzz (options: batch.sentences, batch.tokens, batch."),
        ({5: 1}, "unknown option 5 (options: task, seed, data, tokenizer,"),
        # another type
        ({"training": {"epochs": True}}, "training.epochs=true must be a whole number"),
        ({"model": {"dropout": "a bit"}}, "model.dropout=a bit must be a finite number"),
        ({"data": {"lowercase": 1}}, "data.lowercase=1 must be true or false"),
        ({"data": {"dataset": ["a", "b"]}}, "data.dataset=[a, b] must be text"),
        # PyYAML reads the code of Norwegian as false
        ({"data": {"target_language": False}}, "data.target_language=false must be text (YAML reads yes, no"),
        ({"data": {"source": "file"}}, "data.source=file must be one of tfds, files, demo"),
        ({"data": {"train": [3]}}, "data.train[0] must hold options, not 3"),
        (None, "a config must hold options, not null"),
        # out of range, or not together with another option
        ({"model": {"num_heads": 0}}, "model.num_heads=0 must be 1 or more"),
        ({"model": {"dropout": 1}}, "model.dropout=1.0 must be at least 0 and below 1"),
        ({"decoding": {"length_penalty": 400}}, "decoding.length_penalty=400.0 must be at most 10"),
        ({"decoding": {"num_hypotheses": 5}}, "num_hypotheses=5 must be at most decoding.beam_size=4"),
        ({"decoding": {"top_k": 5}}, "decoding.top_k=5 samples tokens, which needs decoding.beam_size=1"),
        ({"seed": 2**31}, "seed=2147483648 must be at least 0 and below 2147483648"),
        ({"model": {"d_model": 128, "num_heads": 3}}, "d_model=128 is not divisible by model.num_heads=3"),
        ({"model": {"d_model": 127, "num_heads": 1}}, "model.d_model=127 must be even"),
        ({"tokenizer": {"shared": True}}, "shared=True does not go with tokenizer.kind=wordpiece"),
        ({"data": {"source": "files"}}, "data.source=files needs data.path or data.train"),
        ({"data": {"path": "/a", "train": "/b"}}, "data.path=/a and data.train cannot be used together"),
        ({"data": {"train": [{"source": "/a"}]}}, "or {corpus: NAME}; it has source"),
        ({"data": {"train": [{"path": "/a", "weight": -1}]}}, "data.train[0]: weight=-1.0 must be 0 or more"),
        ({"data": {"train": [{"path": "/a", "weight": 0}]}}, "all files of data.train have weight=0"),
        ({"data": {"train": ["/x/a.tsv", "/y/a.tsv.gz"]}}, "two files of data.train are named a: give one a"),
        ({"data": {"train": [{"path": "/a", "tag": "two words"}]}}, "tag='two words' must be ASCII"),
        ({"data": {"train": [{"path": "/a", "tag": "<bt>"}]}}, "does not go with tokenizer.kind=wordpiece"),
    ],
)
def test_what_cannot_be_used_is_an_error_of_one_line(values: object, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build_config(values)  # type: ignore[arg-type]
    error = f"{caught.value.message} ({caught.value.hint})"
    assert expected in error
    assert "\n" not in error


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
        ("data.train=[a.tsv]", "data.train names pairs, which task=next-word does not read: use data.path"),
        ("model.max_positions=19", "data.window=20 must be at most model.max_positions=19"),
    ],
)
def test_what_a_next_word_model_needs(override: str, expected: str) -> None:
    overrides = [override, "tokenizer.punctuation=kept"]
    with pytest.raises(ConfigError, match=expected):
        load_config("next-word", overrides)
