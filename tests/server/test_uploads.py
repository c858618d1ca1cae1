"""Documents on their way: who takes a place among them, and when."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from ptenmt.server.keys import Keys, add_key
from ptenmt.server.uploads import MOST_UNKNOWN

FIELDS = {"source": "pt", "target": "en"}
HEAD = b"POST /translate_file HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n"
FORM = b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
FILE = b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
KEY = b'Content-Disposition: form-data; name="api_key"\r\n\r\n%s\r\n--x\r\n'
LARGE = b"o gato\n" * 25_000
TWO_CHARACTERS = b"\n" * 200_000 + b"um"


def until(true: Callable[[], Any]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def received(connection: socket.socket) -> bytes:
    answer = b""
    while not answer.endswith(b"}"):
        answer += connection.recv(65536)
    return answer


@contextmanager
def begun(served, *parts: bytes) -> Iterator[socket.socket]:
    """An upload of which no more than this comes."""
    port = int(served.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(b"".join((HEAD, *parts)))
        yield connection


def num_active(served) -> int:
    return int(served.service.metrics.active._value.get())


def num_unknown(served) -> int:
    return len(served.service.uploads.unknown)


def uploaded(served, *fields: tuple[str, Any], **request: Any) -> requests.Response:
    """The answer to a form whose fields come in this order."""
    parts = [(name, value if isinstance(value, tuple) else (None, value)) for name, value in fields]
    return requests.post(f"{served.url}/translate_file", files=parts, timeout=20, **request)


@pytest.fixture
def key(tmp_path: Path) -> str:
    return add_key(tmp_path / "keys.txt", "alice")


@pytest.fixture
def keys(tmp_path: Path, key: str) -> Keys:
    assert key
    return Keys.read(tmp_path / "keys.txt")


def test_no_more_are_received_than_the_disk_should_hold(serve) -> None:
    with serve(uploads=1) as served:
        with begun(served, FORM), begun(served) as second:
            until(lambda: num_active(served) == 1)
            second.sendall(b"\r\n")
            answer = received(second)
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after: 10" in answer
            assert b"other documents are on their way" in answer
            assert served.post("/detect", q="o gato")
        fields = [("file", ("a.txt", b"o gato")), *FIELDS.items()]
        until(lambda: uploaded(served, *fields).status_code == 200)


def test_a_wrong_key_in_the_head_is_told_before_anything_is_received(serve, keys: Keys) -> None:
    with serve(keys=keys) as served, begun(served, b"Authorization: Bearer wrong\r\n\r\n") as connection:
        assert received(connection).startswith(b"HTTP/1.1 403 ")


def test_a_wrong_key_before_a_document_is_told_before_that_is_received(serve, keys: Keys) -> None:
    with serve(keys=keys) as served, begun(served, FORM, KEY % b"wrong", FILE, LARGE) as connection:
        assert received(connection).startswith(b"HTTP/1.1 403 ")


def test_whoever_has_no_key_takes_nobodys_place(serve, keys: Keys, key: str) -> None:
    bearer = {"Authorization": f"Bearer {key}"}
    with serve(keys=keys, uploads=1) as served, ExitStack() as strangers:
        for number in range(4):
            strangers.enter_context(
                begun(served, FORM, FILE, LARGE if number < MOST_UNKNOWN else b"o gato\n")
            )
        until(lambda: (num_active(served), num_unknown(served)) == (4, MOST_UNKNOWN))
        file = ("file", ("a.txt", b"o gato"))
        assert uploaded(served, *FIELDS.items(), file, headers=bearer).status_code == 200
        assert uploaded(served, ("api_key", key), *FIELDS.items(), file).status_code == 200


def test_whoever_has_a_key_takes_a_place_once_it_is_known(serve, keys: Keys, key: str) -> None:
    bearer = b"Authorization: Bearer %s\r\n" % key.encode()
    large = ("file", ("a.txt", TWO_CHARACTERS))
    with serve(keys=keys, uploads=1) as served:
        for parts in ((bearer, FORM), (FORM, KEY % key.encode(), FILE, LARGE)):
            with begun(served, *parts):
                until(lambda: uploaded(served, ("api_key", key), large).status_code == 503)
                assert uploaded(served, *FIELDS.items(), large, ("api_key", key)).status_code == 503
            fields = (("api_key", key), *FIELDS.items(), large)
            until(lambda fields=fields: uploaded(served, *fields).status_code == 200)


def test_the_key_may_come_behind_a_document_unless_many_do_so(serve, keys: Keys, key: str) -> None:
    fields = [("file", ("a.txt", TWO_CHARACTERS)), *FIELDS.items()]
    with serve(keys=keys) as served:
        assert uploaded(served, *fields, ("api_key", key)).status_code == 200
        assert uploaded(served, *fields, ("api_key", "wrong")).status_code == 403
        assert uploaded(served, *fields).status_code == 403
        with ExitStack() as strangers:
            for _ in range(MOST_UNKNOWN):
                strangers.enter_context(begun(served, FORM, FILE, LARGE))
            until(lambda: num_unknown(served) == MOST_UNKNOWN)
            with begun(served, FORM, FILE, LARGE) as third:
                answer = received(third)
            assert answer.startswith(b"HTTP/1.1 403 ")
            assert b"put it before the file, or send it as a bearer token" in answer
        until(lambda: uploaded(served, *fields, ("api_key", key)).status_code == 200)
