"""What the tests of fetching share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from http_server import BODY, Site, serve

from ptenmt.data import download


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting between attempts, no proxy."""
    monkeypatch.setattr(download._RETRIES, "backoff_factor", 0.001)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def site() -> Iterator[Site]:
    """A server of one file."""
    with serve(Site(body=BODY)) as served:
        yield served


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where the file goes."""
    return tmp_path / "new" / "file.bin"
