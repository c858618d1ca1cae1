"""Log lines that C++ code writes to stderr."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOUD = """
import os
os.write(2, b"importing\\n")
class config:
    list_physical_devices = staticmethod(lambda: os.write(2, b"listing\\n"))
"""
PROGRAM = """
import sys
from ptenmt.processes import load_tensorflow
load_tensorflow()
load_tensorflow()
assert "tensorflow" in sys.modules
print("afterwards", file=sys.stderr)
"""


@pytest.mark.parametrize(("level", "shown"), [("0", ["importing", "listing"]), ("1", []), (None, [])])
def test_tensorflow_is_loaded_without_its_log_lines(level: str | None, shown: list[str], tmp_path: Path):
    (tmp_path / "tensorflow.py").write_text(LOUD, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    environment |= {} if level is None else {"TF_CPP_MIN_LOG_LEVEL": level}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")])
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    assert answer.stderr.split() == [*shown, "afterwards"]
