"""API keys."""

import time
from pathlib import Path

import pytest

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
    clients = [Keys(file).client(key) for key in (alice, bob, "", alice[:-1], "é")]
    assert [client and client.name for client in clients] == ["alice", "bob", None, None, None]
    assert Keys().client("")


@pytest.mark.parametrize("content", [b"alice secret\n", b"\xff"])
def test_a_bad_file_is_an_error_and_stays(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "keys.txt"
    file.write_bytes(content)
    for read in (Keys, lambda file: add_key(file, "carol")):
        with pytest.raises(ConfigError, match="line 1: not a name and a SHA-256"):
            read(file)
    assert file.read_bytes() == content


def test_without_a_file_or_a_key_or_a_good_name_there_is_no_key(tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    with pytest.raises(ConfigError, match="No such file"):
        Keys(file)
    for name in ("", "a b", "a\n", "ä/ö"):
        with pytest.raises(ConfigError, match="cannot be the name"):
            add_key(file, name)
    assert not file.exists()
    file.touch()
    with pytest.raises(ConfigError, match="has no key"):
        Keys(file)


def test_without_a_key_nothing_is_translated(serve, tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.txt", "alice")
    with serve(keys=tmp_path / "keys.txt") as served:
        assert served.post("/translate", **ASKED, api_key=key) == {"translatedText": "O GATO"}
        bearer = {"Authorization": f"Bearer {key}"}
        assert served.send("/translate", json=ASKED, headers=bearer).json() == {"translatedText": "O GATO"}
        for wrong in ({}, {"api_key": key + "x"}, {"api_key": None}):
            for path in ("/translate", "/v1/alignment", "/v1/alternatives", "/v1/attention", "/detect"):
                assert "api_key" in served.refused(path, 403, json=ASKED | wrong)
        assert served.upload().status_code == 403
        assert served.get("/metrics").status_code == 403
        assert served.get("/metrics", headers=bearer).status_code == 200
        assert served.get("/frontend/settings").json()["keyRequired"] is True
        assert served.get("/languages").status_code == 200


def test_each_key_has_a_number_of_requests_a_minute(
    serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, now = tmp_path / "keys.txt", time.monotonic()
    alice, bob = add_key(file, "alice"), add_key(file, "bob")
    monkeypatch.setattr("ptenmt.server.limits.time.monotonic", lambda: now)
    with serve(keys=file, requests_per_minute=3) as served:
        bearer = {"Authorization": f"Bearer {alice}"}
        for _ in range(2):
            served.post("/detect", q="o gato", api_key=alice)
        served.service.keys.read()  # does not refill any quota
        assert served.upload(headers=bearer).status_code == 200
        for path in ("/detect", "/v2/translate", "/v1/attention"):
            body = {"q": "x", "text": "x", "target_lang": "EN", "api_key": alice}
            answer = served.send(path, json=body)
            assert (answer.status_code, answer.headers["retry-after"]) == (429, "20")
        assert "requests a minute" in served.upload(headers=bearer).json()["error"]
        served.post("/detect", q="o gato", api_key=bob)
        now += 20
        served.post("/detect", q="o gato", api_key=alice)
        served.refused("/detect", 429, json={"q": "x", "api_key": alice})


def test_without_keys_the_limits_are_of_each_address(serve) -> None:
    with serve(requests_per_minute=2, characters_per_day=12) as served:

        def status(address: str, text: str = "o") -> int:
            header = {"X-Forwarded-For": address}
            return served.send("/translate", json=ASKED | {"q": text}, headers=header).status_code

        assert [status("192.0.2.1") for _ in range(3)] == [200, 200, 429]
        assert status("192.0.2.2") == 200
        assert [status(f"2001:db8::{host}") for host in (1, 2, 3)] == [200, 200, 429]
        assert [status("192.0.2.3", "o gato bebe"), status("192.0.2.3", "o gato")] == [200, 429]


def test_addresses_are_forgotten_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptenmt.server.limits._MAX_CLIENTS", 3)
    keys = Keys()
    clients = [keys.client("", f"192.0.2.{host}") for host in (1, 2, 3, 1, 4, 1, 2)]
    assert clients[0] is clients[3] is clients[5]
    assert clients[1] is not clients[6]


def test_each_key_has_a_number_of_characters_a_day(serve, tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    alice, bob = add_key(file, "alice"), add_key(file, "bob")
    with serve(keys=file, characters_per_day=10) as served:
        header = {"Authorization": f"DeepL-Auth-Key {alice}"}
        served.post("/translate", **ASKED, api_key=alice)
        usage = served.get("/v2/usage", headers=header).json()
        assert usage == {"character_count": len(ASKED["q"]), "character_limit": 10}
        assert "10 characters a day" in served.refused("/translate", 429, json=ASKED | {"api_key": alice})
        assert served.upload(content=b"o gato bebe", headers=header).status_code == 429
        served.post("/translate", **ASKED, api_key=bob)
