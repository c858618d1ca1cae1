"""Documents that are damaged by chance are refused or translated, in a process that lives on."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("damage.py")
COUNT = 60


@pytest.mark.skipif(sys.platform == "win32", reason="memory and time are bounded as Unix does it")
@pytest.mark.parametrize(
    "ending", [".docx", ".html", ".srt", ".odt", ".epub", ".md", ".vtt", ".po", ".json", ".yaml"]
)
def test_whatever_is_damaged_by_chance_does_no_harm(ending: str) -> None:
    completed = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(SCRIPT), ending, str(COUNT)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])},
    )
    assert completed.returncode == 0, f"{ending}, {completed.stdout.split()[-1]}: {completed.stderr}"
    found = re.search(r"(\d+) translated", completed.stdout)
    assert found is not None
    assert int(found[1]) > COUNT / 10
