"""``ptenmt average``, and ``--checkpoint`` of the commands that read weights."""

import shutil
from pathlib import Path

import pytest


def test_nothing_is_averaged_before_anything_is_saved(ptenmt, copied_run: Path) -> None:
    shutil.rmtree(copied_run / "checkpoints/tiny/state")
    error = ptenmt("average", "--run", "tiny", code=1).stderr
    assert error.startswith("error: checkpoints/tiny has no checkpoints\n  average a run that ")


@pytest.mark.usefixtures("copied_run")
def test_an_average_translates_like_any_run(ptenmt) -> None:
    answer = ptenmt("average", "--run", "tiny", "--last", "1")
    assert (answer.stdout, answer.stderr) == (
        "",
        "averaged ckpt-1: checkpoints/tiny-averaged; translate with\n"
        "  ptenmt translate --run checkpoints/tiny-averaged TEXT\n",
    )
    newest = ptenmt("translate", "--run", "tiny", "--checkpoint", "latest", "o gato come hoje .").stdout
    assert ptenmt("translate", "--run", "tiny-averaged", "o gato come hoje .").stdout == newest != ""
    assert "tiny-averaged" in ptenmt("info").stdout

    error = ptenmt("average", "--run", "tiny", "--last", "5", "--to", "x", code=1).stderr
    assert error.startswith(
        "error: --last 5 is not between 1 and 1, the number of checkpoints of checkpoints/"
    )


def test_which_weights_are_read_is_a_choice(ptenmt, copied_run: Path) -> None:
    """Without the best ones ``best`` falls back with a warning, and ``latest`` has nothing to say."""
    (copied_run / "checkpoints/tiny/weights/best.safetensors").write_bytes(b"")
    assert ptenmt("evaluate", "--checkpoint", "latest").stderr == ""
    assert ptenmt("translate", "--checkpoint", "latest", "o gato").stderr == ""
    for chosen in ([], ["--checkpoint", "best"]):
        assert "are damaged" in ptenmt("translate", *chosen, "o gato").stderr
