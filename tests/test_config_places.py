"""Configs for others."""

from dataclasses import replace

from ptenmt.config import Config, CorpusFile, DataConfig, TokenizerConfig
from ptenmt.config.files import dump_config
from ptenmt.config.places import without_places


def test_of_folders_nothing_stays_and_of_files_the_names():
    train = (CorpusFile(path="/secret/a.tsv", repeat=2), CorpusFile(source="/secret/b.pt", target="c.en"))
    data = DataConfig(
        train=train,
        validation=train[:1],
        test=train[1:],
        data_dir="/secret",
        cache_dir="/secret/cache",
        lowercase=True,
    )
    config = Config(seed=3, data=data, tokenizer=TokenizerConfig(path="/secret/tokenizer"))
    named = (CorpusFile(path="a.tsv", repeat=2), CorpusFile(source="b.pt", target="c.en"))
    found = without_places(config)
    assert found == replace(
        config,
        data=replace(data, train=named, validation=named[:1], test=named[1:], data_dir=None, cache_dir=None),
        tokenizer=TokenizerConfig(),
    )
    assert "secret" not in dump_config(found)
    assert without_places(found) == found
