"""``run.json`` as a typed record."""

import json
from pathlib import Path

import pytest

from ptenmt.errors import RunError
from ptenmt.runs import Run
from ptenmt.runs.directory import RunRecord, SplitRecord


def test_what_a_run_does_not_have_is_empty() -> None:
    record = RunRecord.from_facts({"format_version": 1})
    assert (record.parameters, record.trained, record.data, record.corpora) == (0, "", {}, [])
    assert record.steps_per_epoch is record.averaged_from is record.alignment_layer is None


def test_entries_have_their_types() -> None:
    record = RunRecord.from_facts(
        {
            "data": {"train": {"pairs": 7, "fingerprint": "a"}, "validation": {"windows": 3}},
            "averaged_from": {"run": "base", "checkpoints": ["step-1", "step-2"]},
            "steps_per_epoch": {"1": 8, "3": 3},
        }
    )
    assert record.data["train"] == SplitRecord(size=7, fingerprint="a")
    assert record.data["validation"] == SplitRecord(size=3, fingerprint="")
    assert record.averaged_from == {"run": "base", "checkpoints": ["step-1", "step-2"]}
    assert record.steps_per_epoch is not None
    assert record.steps_per_epoch.before(3) == 19


def test_entries_of_other_types_are_damage(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"format_version": 1, "parameters": "many"}))
    with pytest.raises(RunError, match="is damaged: invalid literal") as failure:
        Run(tmp_path).record()
    assert "copy" in failure.value.hint
