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
        ("[" * 20_000, "is nested too deeply, or refers to itself"),
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
    assert caught.value.message == "config bse not found"
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
        ("data.augment=3", "data.augment is a section, not an option"),
        ("model.d_model=66", "--set model.d_model=66 is not divisible by model.num_heads=4"),
        ("model.d_model=[x", "model.d_model='[x' must be a whole number"),
        ("data.limit=5", "--set data.limit=5: data.limit is no longer an option"),
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
    assert "no longer an option" in record.message
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
    stages = [{"mix": {"c": 0.75, "a": 0.25}, "epochs": 2}, {"mix": {"x": 1}}]
    data = {"source": "files", "train": files, "stages": stages}
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
