"""Documents that are damaged by chance are refused or translated, in a process that lives on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("damage.py")
COUNT = 15
ENDINGS = {".docx", ".html", ".srt", ".odt", ".epub", ".md", ".vtt", ".po", ".json", ".yaml"}


@pytest.mark.skipif(sys.platform == "win32", reason="memory and time are bounded as Unix does it")
def test_whatever_is_damaged_by_chance_does_no_harm() -> None:
    completed = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(SCRIPT), str(COUNT)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])},
    )
    last = completed.stdout.splitlines()[-1]
    assert completed.returncode == 0, f"{last}: {completed.stderr}"
    found = json.loads(last)
    assert found.keys() == ENDINGS
    assert min(found.values()) > COUNT / 10
