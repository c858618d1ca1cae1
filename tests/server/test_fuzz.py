"""Unexpected requests, made from the server's own description; needs schemathesis."""

import subprocess
import sys
from pathlib import Path

import pytest

CASES_A_ROUTE = 1_000
NOT_CHECKED = ("positive_data_acceptance", "negative_data_rejection", "allow_header_conformance")
"""Values of the right type may be refused, such as languages; others are read as by LibreTranslate."""


@pytest.mark.slow
def test_no_request_makes_the_server_fail(served, tmp_path: Path) -> None:
    pytest.importorskip("schemathesis")
    command = Path(sys.executable).with_name("schemathesis")
    completed = subprocess.run(
        [
            *(command, "run", f"{served.url}/openapi.json", "--url", served.url),
            *("--checks", "all", "--exclude-checks", ",".join(NOT_CHECKED), "-n", str(CASES_A_ROUTE)),
            *("--phases", "examples,coverage,fuzzing", "--continue-on-failure"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert completed.returncode == 0, completed.stdout
    assert served.translate("o gato") == {"translatedText": "O GATO"}
