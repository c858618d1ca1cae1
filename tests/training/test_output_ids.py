"""Which tokens of a shared vocabulary search generates: those of the training's targets."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from random_models import write_random_run

from ptenmt.config import AugmentConfig, DataConfig, TokenizerConfig
from ptenmt.data.readers import demo_pairs
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.tokenizers import SPECIAL_PIECES, build_tokenizers
from ptenmt.training.conversion import output_ids, prepare_for_translating

PAIRS = demo_pairs("train")[:800]
DATA = DataConfig(source="demo")


def test_pieces_of_the_source_language_alone_are_left_out():
    options = TokenizerConfig(kind="sentencepiece", vocabulary_size=600, shared=True)
    tokenizer = build_tokenizers(options, PAIRS, DATA.languages).target
    pieces = {tokenizer.vocabulary[token] for token in output_ids(tokenizer, PAIRS, DATA)}
    targets = tokenizer.encode([target for _, target in PAIRS])
    used = {tokenizer.vocabulary[token] for ids in targets for token in ids}
    assert used <= pieces
    assert {*SPECIAL_PIECES, "ã", "ç"} <= pieces  # they spell names
    alone = pieces - used - set(SPECIAL_PIECES)
    assert {len(piece.removeprefix("▁")) for piece in alone} <= {0, 1}
    assert len(pieces) < 0.8 * tokenizer.vocabulary_size
    noisy = DataConfig(source="demo", augment=AugmentConfig(upper_case=0.5))
    assert output_ids(tokenizer, PAIRS, noisy) >= output_ids(tokenizer, PAIRS, DATA)


def test_a_run_that_records_them_is_converted_anew(tmp_path: Path):
    run = write_random_run(tmp_path / "run", DATA, PAIRS[:20])
    load = lambda: TrainedModel.load(run, on_warning=pytest.fail)  # noqa: E731
    assert load().output_ids is None
    ctranslate2_model(load())
    assert [file.name for file in run.ctranslate2_folder.iterdir() if file.name == "vmap.txt"] == []
    run.record_output_ids([0, 1, 2, 3, 6])
    assert load().output_ids == [0, 1, 2, 3, 6]
    allowed = load().tokenizers.target.pieces([0, 1, 2, 3, 6])
    for _ in range(2):  # from the weights, and from the cache
        ctranslate2_model(load())
        assert (run.ctranslate2_folder / "vmap.txt").read_text() == "\t" + " ".join(allowed) + "\n"


@pytest.mark.parametrize("learnt", [None, (), range(40, 80)])
def test_after_a_warm_start_search_generates_what_the_other_run_could(tmp_path: Path, learnt):
    """``learnt``: what the other run recorded; None without a warm start."""
    run = write_random_run(tmp_path / "run", DATA, PAIRS[:20])
    facts = json.loads((run.path / "run.json").read_text())
    if learnt is not None:
        facts["initialized_from"] = "another run"
    (run.path / "run.json").write_text(json.dumps(facts))
    if learnt:
        run.record_output_ids(learnt)
        facts["inherited_output_ids"] = run.facts()["output_ids"]
        (run.path / "run.json").write_text(json.dumps(facts))
    shared = run.config()
    shared = replace(shared, tokenizer=replace(shared.tokenizer, shared=True))
    prepare_for_translating(shared, run, pytest.fail, counts_tokens=True)
    assert ("output_ids" in run.facts()) == (learnt != ())
    if learnt:
        trained = TrainedModel.load(run, on_warning=pytest.fail)
        own = output_ids(trained.tokenizers.target, PAIRS[:20], DATA)
        assert set(trained.output_ids or ()) == own.union(learnt)
