"""API keys."""

import time
from pathlib import Path

import pytest
import requests

from ptenmt.errors import ConfigError
from ptenmt.server.limits import Keys, add_key

ASKED = {"q": "o gato", "source": "pt", "target": "en"}


def test_only_hashes_are_stored(tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    alice, bob = add_key(file, "alice"), add_key(file, "bob")
    text = file.read_text()
    assert len(alice) == 43
    assert alice not in text
    assert [line.split()[0] for line in text.splitlines()] == ["alice", "bob"]
    owners = [Keys(file).owner(key) for key in (alice, bob, "", alice[:-1], "é")]
    assert [owner and owner.name for owner in owners] == ["alice", "bob", None, None, None]
    assert Keys().owner("")


def test_an_owner_has_one_key(tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    alice = add_key(file, "alice")
    with pytest.raises(ConfigError, match=r"keys\.txt already has a key of alice") as failure:
        add_key(file, "alice")
    assert "remove the line of alice" in failure.value.hint
    assert Keys(file).owner(alice)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no file"),
        ("", "has no key"),
        ("alice secret\n", "line 1: not a name"),
        (f"alice {'0' * 64} 0\n", "line 1: not a name"),
        (b"\xff", "cannot read"),
    ],
)
def test_a_bad_file_is_an_error(tmp_path: Path, content: str | bytes | None, message: str) -> None:
    file = tmp_path / "keys.txt"
    if content is not None:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ConfigError, match=message):
        Keys(file)


@pytest.mark.parametrize("name", ["", "a b", "a\n", "ä/ö"])
def test_a_bad_name_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be the name"):
        add_key(tmp_path / "keys.txt", name)
    assert list(tmp_path.iterdir()) == []


def test_without_a_key_nothing_is_translated(serve, tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.txt", "alice")
    with serve(keys=Keys(tmp_path / "keys.txt")) as served:
        assert served.post("/translate", **ASKED, api_key=key) == {"translatedText": "O GATO"}
        bearer = {"Authorization": f"Bearer {key}"}
        answer = requests.post(f"{served.url}/translate", json=ASKED, headers=bearer, timeout=120)
        assert answer.json() == {"translatedText": "O GATO"}
        for wrong in ({}, {"api_key": ""}, {"api_key": key + "x"}, {"api_key": None}):
            for path in ("/translate", "/v1/alignment", "/v1/alternatives", "/v1/attention", "/detect"):
                assert "api_key" in served.refused(path, 403, json=ASKED | wrong)
        files = {"file": ("a.txt", b"o gato")}
        assert served.refused("/translate_file", 403, data=ASKED, files=files)
        assert requests.get(f"{served.url}/metrics", timeout=120).status_code == 403
        assert requests.get(f"{served.url}/metrics", headers=bearer, timeout=120).status_code == 200
        assert requests.get(f"{served.url}/frontend/settings", timeout=120).json()["keyRequired"] is True
        assert requests.get(f"{served.url}/languages", timeout=120).status_code == 200


def test_an_owner_has_a_number_of_requests_a_minute(
    serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, now = tmp_path / "keys.txt", time.monotonic()
    alice, bob = add_key(file, "alice"), add_key(file, "bob")
    file.write_text(file.read_text().replace("\nbob", " 3\nbob"))
    eve = add_key(file, "eve")
    assert [len(line.split()) for line in file.read_text().splitlines()] == [3, 2, 2], "the number is kept"
    keys = Keys(file, per_minute=1)
    monkeypatch.setattr("ptenmt.server.limits.time.monotonic", lambda: now)
    upload = {"data": {"source": "pt", "target": "en"}, "files": {"file": ("a.txt", b"o gato")}}
    with serve(keys=keys) as served:
        bearer = {"Authorization": f"Bearer {alice}"}
        for _ in range(2):
            served.post("/detect", q="o gato", api_key=alice)
        keys.read()  # does not refill any quota
        url = f"{served.url}/translate_file"
        assert requests.post(url, headers=bearer, timeout=120, **upload).status_code == 200
        served.post("/detect", q="o gato", api_key=bob)
        for key, pause in ((alice, "20"), (bob, "60")):
            for path in ("/detect", "/v2/translate", "/v1/attention"):
                body = {"q": "x", "text": "x", "target_lang": "EN", "api_key": key}
                answer = requests.post(served.url + path, json=body, timeout=120)
                assert (answer.status_code, answer.headers["retry-after"]) == (429, pause)
        assert "requests a minute" in served.refused("/translate_file", 429, headers=bearer, **upload)
        served.post("/detect", q="o gato", api_key=eve)
        now += 20
        served.post("/detect", q="o gato", api_key=alice)
        served.refused("/detect", 429, json={"q": "x", "api_key": alice})
