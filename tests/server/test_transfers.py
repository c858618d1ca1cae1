"""Uploads: how many are received at a time, with and without a key."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from waiting import until

from ptenmt.server.limits import add_key
from ptenmt.server.routes import MAX_DOWNLOAD_BYTES, Downloads

FIELDS = {"source": "pt", "target": "en"}
HEAD = b"POST /translate_file HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n"
FORM = b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
TWO_CHARACTERS = b"\n" * 200_000 + b"um"


def received(connection: socket.socket) -> bytes:
    answer = b""
    while not answer.endswith(b"}"):
        answer += connection.recv(65536)
    return answer


@contextmanager
def begun(served, *parts: bytes) -> Iterator[socket.socket]:
    """An upload of which no more than this comes."""
    with served.connected() as connection:
        connection.sendall(b"".join((HEAD, *parts)))
        yield connection


def uploaded(served, *fields: tuple[str, Any], **request: Any) -> requests.Response:
    """The answer to a form whose fields come in this order."""
    parts = [(name, value if isinstance(value, tuple) else (None, value)) for name, value in fields]
    return served.send("/translate_file", files=parts, **request)


def test_the_number_of_uploads_is_limited(serve) -> None:
    with serve(files=1) as served:
        with begun(served, FORM), begun(served) as second:
            until(lambda: served.service.documents._clients)
            second.sendall(b"\r\n")
            answer = received(second)
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after: 10" in answer
            assert b"other documents are being translated" in answer
            assert served.post("/detect", q="o gato")
        until(lambda: served.upload().status_code == 200)


def test_the_key_may_be_anywhere_in_the_form_and_a_wrong_one_in_the_header_is_refused_before_it(
    serve, tmp_path: Path
) -> None:
    right = add_key(tmp_path / "keys.txt", "alice")
    fields: list[tuple[str, Any]] = [*FIELDS.items(), ("file", ("a.txt", TWO_CHARACTERS))]
    with serve(keys=tmp_path / "keys.txt") as served:
        with begun(served, b"Authorization: Bearer wrong\r\n\r\n") as connection:
            assert received(connection).startswith(b"HTTP/1.1 403 ")
        for key, status in ((right, 200), ("wrong", 403)):
            assert uploaded(served, *fields, ("api_key", key)).status_code == status
            assert uploaded(served, ("api_key", key), *fields).status_code == status
        assert uploaded(served, *fields).status_code == 403


def test_downloads_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptenmt.server.routes.DOWNLOAD_SECONDS", 0.1)
    downloads = Downloads()

    async def keep() -> None:
        tokens = [downloads.add("a", b"1"), downloads.add("b", b"x" * MAX_DOWNLOAD_BYTES), ""]
        assert list(map(downloads.find, tokens)) == [None, ("b", b"x" * MAX_DOWNLOAD_BYTES), None]
        await asyncio.sleep(0.2)
        assert not downloads._kept, "documents expire without another request"

    asyncio.run(keep())
