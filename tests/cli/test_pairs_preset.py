"""The promise of pairs.yaml: six pairs memorized, as the file stands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptenmt.config.loading import find_config
from ptenmt.data.text import TextPreparation
from ptenmt.runs import History, Run
from ptenmt.tokenizers.words import split_words


@pytest.mark.slow
@pytest.mark.usefixtures("empty")
def test_six_sentences_are_memorized(ptenmt: Callable[..., Any]):
    ptenmt("train", "--config", "pairs.yaml")
    run = Run(Path("checkpoints") / "pairs")
    assert History(run.path).curve()[-1]["loss"] < 0.05
    config = run.config()
    rows = find_config("pairs.yaml").with_name("six-sentences.tsv").read_text(encoding="utf-8").splitlines()
    sources, targets = zip(*(row.split("\t") for row in rows), strict=True)
    prepare = TextPreparation(config.data).prepare
    expected = [
        " ".join(split_words(prepare(target, "de"), config.tokenizer.punctuation)) for target in targets
    ]
    assert len(expected) == 6
    assert ptenmt("translate", "--run", "pairs", stdin="\n".join(sources)).lines == expected
