from pathlib import Path

import pytest
from copy_task import TrainedRun

from ptenmt.errors import ConfigError
from ptenmt.evaluation import EvaluationFiles, LoadOptions, Sweep, SweepSetting, evaluate, sweep


@pytest.fixture(scope="module")
def found(copied: TrainedRun) -> Sweep:
    return sweep(copied.path, beam_sizes=(4, 1), length_penalties=(1.0, 0.0))


def test_every_setting_scores_as_it_does_alone(copied: TrainedRun, found: Sweep):
    tried = [(setting.beam_size, setting.length_penalty) for setting in found.settings]
    assert tried == [(1, None), (4, 0.0), (4, 1.0)]
    for beams, setting in ((1, found.settings[0]), (4, found.settings[2])):
        alone = evaluate(
            copied.path, "validation", load=LoadOptions(overrides=[f"decoding.beam_size={beams}"])
        )
        assert setting.bleu == alone.scores[0].value
    assert (found.name, found.pairs_name, found.num_pairs) == ("run", "validation pairs", 20)
    assert "tok:13a" in found.signature
    assert all(setting.seconds > 0 for setting in found.settings)


def test_the_best_has_the_highest_score_and_differs_from_none(found: Sweep):
    assert found.best.bleu == max(setting.bleu for setting in found.settings)
    assert found.best.p_value is None
    assert not found.fastest.is_worse


def test_the_fastest_is_none_that_is_significantly_worse():
    settings = [
        SweepSetting(beam_size=beams, length_penalty=1.0, bleu=bleu, seconds=seconds, p_value=p_value)
        for beams, bleu, seconds, p_value in ((1, 20.0, 1.0, 0.01), (2, 29.0, 2.0, 0.2), (4, 30.0, 4.0, None))
    ]
    found = Sweep(
        name="", pairs_name="", num_pairs=1, engine="", signature="", settings=settings, best=settings[2]
    )
    assert found.fastest == settings[1]


def test_progress_counts_all_settings(copied: TrainedRun, tmp_path: Path):
    source, reference = tmp_path / "source", tmp_path / "reference"
    source.write_text("bala dico\nfute\n")
    reference.write_text("bala dico\nfute\n")
    calls: list[tuple[str, int, int]] = []
    found = sweep(
        copied.path,
        files=EvaluationFiles(source=source, references=[reference]),
        beam_sizes=(2,),
        length_penalties=(0.5, 1.5),
        on_progress=lambda *so_far: calls.append(so_far),
    )
    assert calls[-1] == ("sweeping", 4, 4)
    assert found.pairs_name == f"pairs of {reference}"


def test_settings_that_are_none_are_refused(copied: TrainedRun):
    with pytest.raises(ConfigError, match="decoding.beam_size=0 must be 1 or more"):
        sweep(copied.path, beam_sizes=(0,))
    with pytest.raises(ConfigError, match="decoding.length_penalty=-1 must be 0 or more"):
        sweep(copied.path, beam_sizes=(2,), length_penalties=(-1,))
