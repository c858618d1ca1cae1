"""CORS: which origins may send requests, and what they may read."""

import pytest
import requests

from ptenmt.errors import ConfigError
from ptenmt.server.app import check_origins


def test_other_origins_are_answered_only_if_allowed(serve, served) -> None:
    origin = {"Origin": "https://example.org"}
    assert (
        "access-control-allow-origin"
        not in requests.get(f"{served.url}/languages", headers=origin, timeout=120).headers
    )
    with serve(origins=["https://example.org"]) as open_one:
        for name, allowed in (("https://example.org", "https://example.org"), ("https://else.org", None)):
            answer = requests.get(f"{open_one.url}/languages", headers={"Origin": name}, timeout=120)
            assert answer.headers.get("access-control-allow-origin") == allowed
        too_much = requests.post(f"{open_one.url}/detect", data=b"x" * 100_000, headers=origin, timeout=120)
        assert too_much.status_code == 413
        assert too_much.headers["access-control-allow-origin"] == "https://example.org"
        assert too_much.headers["access-control-expose-headers"].lower() == "retry-after"


@pytest.mark.parametrize(
    "origin",
    [
        "example.org",
        "https://ok.org/",
        "https://OK.org",
        "null",
        "",
        "https://é.org",
        "**",
    ],
)
def test_an_origin_that_no_browser_names_is_said(origin: str) -> None:
    with pytest.raises(ConfigError, match="is not the origin"):
        check_origins(["*", "https://ok.org", "http://[::1]:8080", "http://localhost:8080", origin])
