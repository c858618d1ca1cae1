"""Requests that are too large, too slow or too many, and clients that disconnect."""

import contextlib
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from waiting import until

from ptenmt.server import process, routes
from ptenmt.server.limits import add_key
from ptenmt.server.process import LogFormatter
from ptenmt.translation.markup import move_markup

ASKED = {"q": "o gato", "source": "pt", "target": "en"}
HEAD = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def received(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


def num_waiting(served) -> int:
    return int(served.service._queue.num_waiting)


def is_well(served) -> bool:
    return bool(served.translate("o gato") == {"translatedText": "O GATO"})


def test_fifty_megabytes_are_not_read_nor_what_comes_too_slowly(serve) -> None:
    with serve(body_seconds=0.2) as served, served.connected() as connection:
        assert served.refused("/translate", 413, data=b"x" * 50_000_000) == "the request is too large"
        connection.sendall(HEAD + b"Connection: close\r\nContent-Length: 10\r\n\r\n{")
        answer = received(connection)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert answer.endswith(b'{"error":"the request came too slowly"}')
        assert is_well(served)


@pytest.mark.parametrize(
    "begun",
    [
        b"GET /languages?",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX: ",
        HEAD + b"Content-Length: 1\r\n\r\n{GET /languages HTTP/1.1\r\nX: ",
    ],
)
def test_an_endless_header_is_not_kept(served, begun: bytes) -> None:
    with served.connected() as connection:
        connection.sendall(begun)
        with pytest.raises(OSError, match="reset|Broken pipe"):
            connection.sendall(b"x" * 60_000_000)
    with served.connected() as connection:  # it may be long and come in parts
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: " + b"x" * 30_000)
        connection.sendall(b"x" * 30_000 + b"\r\n\r\n")
        assert received(connection).startswith(b"HTTP/1.1 200 ")


def resident_megabytes() -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1_000


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory as Linux reports it")
@pytest.mark.parametrize(
    "request_head",
    [
        b"GET /x HTTP/1.1\r\n\r\n",
        b"POST /translate?q=o+gato&source=pt&target=en HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_pipelined_requests_whose_responses_are_not_read_take_little_memory(
    served, request_head: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    data = memoryview(request_head * (5_760_000 // len(request_head)))  # before, as it is the clients'
    before = resident_megabytes()
    with ExitStack() as stack:
        clients = [stack.enter_context(served.connected()) for _ in range(20)]
        for client in clients:
            client.settimeout(0.2)
            with contextlib.suppress(OSError):
                client.sendall(data)
        assert is_well(served)
        waiting = [each.conn.trailing_data[0] for each in served.server.server_state.connections.copy()]
        assert max(map(len, waiting), default=0) < 500_000
        assert len(served.server.server_state.tasks) < 100
        assert resident_megabytes() - before < 100
    assert is_well(served)
    assert len(caplog.records) <= len(clients)
    assert "Traceback" not in caplog.text


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux disconnects such clients")
def test_a_client_that_does_not_read_is_disconnected_without_a_traceback(
    serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made: list[Any] = []
    connection_made = process.BoundedProtocol.connection_made

    def counted(self: Any, transport: Any) -> None:
        connection_made(self, transport)
        made.append(self)

    monkeypatch.setattr(process.BoundedProtocol, "connection_made", counted)
    monkeypatch.setattr(process, "UNREAD_SECONDS", 1)
    with serve() as served:
        connections = served.server.server_state.connections
        with ExitStack() as stack:
            for _ in range(5):
                client = stack.enter_context(served.connected())
                client.settimeout(0.1)
                with contextlib.suppress(OSError):
                    client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 2_000)
            until(lambda: len(made) == 5)
            until(lambda: not connections)
        assert is_well(served)
    assert caplog.text == ""


@pytest.mark.parametrize(("num_bytes", "status"), [(10, 400), (100_000, 413)])
def test_a_client_that_sends_nonsense_in_a_body_fills_no_log(
    served, num_bytes: int, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with served.connected() as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        connection.sendall(b"%x\r\n" % num_bytes + b"x" * num_bytes + b"\r\n")
        if status == 413:
            assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")
        connection.sendall(b"nonsense\r\n" * 1_000)
        with contextlib.suppress(OSError):
            answer = received(connection)
            assert status == 413 or answer.startswith(b"HTTP/1.1 400 ")
    assert is_well(served)
    assert caplog.text == ""


def test_requests_of_a_disconnected_client_leave_the_queue(serve) -> None:
    with serve() as served:
        served.engine.gate.clear()
        with ThreadPoolExecutor(2) as pool:
            busy = []
            for number in range(2):  # a thread each
                busy.append(pool.submit(served.post, "/translate", **ASKED))
                until(lambda so_far=number: len(served.engine.begun) > so_far)
            with served.connected() as connection:
                body = b'{"q": "esquecido", "source": "pt", "target": "en"}'
                connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
                until(lambda: num_waiting(served) == 1)
            until(lambda: num_waiting(served) == 0)
            served.engine.gate.set()
            assert [each.result()["translatedText"] for each in busy] == ["O GATO", "O GATO"]
        assert is_well(served)
        assert "esquecido" not in [text for batch in served.engine.begun for text in batch]


def test_a_full_queue_refuses_without_a_thread_and_recovers(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(queue=2) as served:
        served.engine.gate.clear()
        with ThreadPoolExecutor(4) as pool:
            first = []
            for begun, waiting in ((1, 0), (2, 0), (2, 1), (2, 2)):
                first.append(pool.submit(served.post, "/translate", **ASKED))
                so_far = (begun, waiting)
                until(lambda wanted=so_far: (len(served.engine.begun), num_waiting(served)) == wanted)
            answer = served.send("/translate", json=ASKED)
            assert (answer.status_code, int(answer.headers["retry-after"]) >= 1) == (503, True)
            html = ASKED | {"q": ["o gato", "<b>o"], "format": "html", "source": "auto"}
            with monkeypatch.context() as patch:
                patch.setattr("anyio.to_thread.run_sync", lambda *_, **__: pytest.fail("takes a thread"))
                for path, asked in (
                    ("/translate", html),
                    ("/v1/alignment", ASKED),
                    ("/v1/alternatives", ASKED),
                ):
                    assert "too busy" in served.refused(path, 503, json=asked)
            served.engine.gate.set()
            assert [each.result()["translatedText"] for each in first] == ["O GATO"] * 4
        assert is_well(served)


def test_few_requests_compute_at_a_time_and_those_that_wait_leave_their_turn(
    serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    active, most = [0], [0]

    def compute(*arguments: Any) -> Any:
        active[0] += 1
        most[0] = max(most[0], active[0])
        time.sleep(0.01)
        active[0] -= 1
        return move_markup(*arguments)

    monkeypatch.setattr("ptenmt.server.service.move_markup", compute)
    with serve() as served, ThreadPoolExecutor(8) as pool:
        served.engine.gate.clear()
        asked = [pool.submit(served.post, "/translate", **ASKED) for _ in range(8)]
        until(lambda: num_waiting(served) + sum(map(len, served.engine.begun)) == 8)
        assert served.post("/detect", q="o gato")
        served.engine.gate.set()
        assert [each.result()["translatedText"] for each in asked] == ["O GATO"] * 8
    assert most[0] <= 2


def test_a_request_that_takes_too_long_is_cancelled(serve) -> None:
    with serve(seconds=0.2) as served:
        served.engine.gate.clear()
        answer = served.send("/translate", json=ASKED)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "not done within 0.2 seconds" in answer.json()["error"]
        served.engine.gate.set()
        assert is_well(served)


def test_connections_are_limited(serve) -> None:
    with serve(connections=2) as served:
        with served.connected():
            until(lambda: served.get("/health").status_code == 503)
        until(lambda: served.get("/health").status_code == 200)


def test_invalid_http_is_answered_and_fills_no_log(served, caplog: pytest.LogCaptureFixture) -> None:
    for request in (
        b"BREW / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n\r\n",  # of no host
        b"GET /metrics HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    ):
        with served.connected() as connection:
            connection.sendall(request)
            assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    assert served.refused("/translate", 400, data=b"--x\r\nnonsense", headers=form)
    assert is_well(served)
    assert caplog.text == ""


def test_an_internal_error_is_answered_without_details(served, caplog: pytest.LogCaptureFixture) -> None:
    message = served.refused("/translate", 500, json=ASKED | {"q": "explode"})
    assert "boom" not in message
    until(lambda: "boom" in caplog.text)
    assert is_well(served)


def test_shutdown_waits_for_requests_in_progress(serve) -> None:
    with serve() as served, ThreadPoolExecutor(1) as pool:
        served.engine.gate.clear()
        first = pool.submit(served.post, "/translate", **ASKED)
        until(lambda: served.engine.begun)
        served.server.should_exit = True
        threading.Timer(0.3, served.engine.gate.set).start()
        assert first.result()["translatedText"] == "O GATO"


def test_shutdown_does_not_wait_for_a_long_document(
    serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun, patience, ended = threading.Event(), threading.Event(), threading.Event()

    def read_for_long(_name: str, _content: bytes, _language: str) -> None:
        begun.set()
        patience.wait(300)
        ended.set()

    monkeypatch.setattr(process, "SHUTDOWN_SECONDS", 0.2)
    monkeypatch.setattr(routes, "read_document", read_for_long)
    with ThreadPoolExecutor(1) as pool:
        with serve() as served:
            response = pool.submit(served.upload)
            assert begun.wait(300)
        assert not ended.is_set()
        patience.set()
        answer = response.result()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert answer.json() == {"error": "the server is shutting down"}
    assert "Traceback" not in caplog.text


def test_every_response_has_security_headers(served) -> None:
    answers = [served.get(path) for path in ("/health", "/nowhere", "/docs")]
    answers.append(served.send("/translate"))
    assert [answer.status_code for answer in answers] == [200, 404, 200, 400]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        facts = [answer.headers.get(name) for name in ("x-content-type-options", "cache-control", "server")]
        assert facts == ["nosniff", "no-cache", None]


def test_nothing_is_read_after_a_request_whose_end_is_ambiguous(served) -> None:
    body = b"2\r\n{}\r\n0\r\n\r\n"
    with served.connected() as connection:
        # At once: one that arrives after the server has closed is answered by a reset.
        ambiguous = HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + body
        connection.sendall(ambiguous + b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = received(connection).lower()
    assert answer.count(b"http/1.1 ") == 1
    assert b"connection: close" in answer


def test_documents_of_a_client_leave_places_for_those_of_others(serve) -> None:
    with serve(files=4) as served, ThreadPoolExecutor(5) as pool:
        served.engine.gate.clear()

        def translate(address: str, text: bytes) -> int:
            return int(served.upload(content=text, headers={"X-Forwarded-For": address}).status_code)

        giants = []
        for number in range(2):
            giants.append(pool.submit(translate, "192.0.2.1", b"o gato\n" * 500))
            until(lambda taken=number + 1: len(served.service.documents._clients) == taken)
        assert translate("192.0.2.1", b"o gato") == 503
        others = [pool.submit(translate, f"192.0.2.{host}", b"o gato") for host in (2, 3)]
        until(lambda: len(served.service.documents._clients) == 4)
        assert translate("192.0.2.4", b"o gato") == 503
        served.engine.gate.set()
        assert [each.result() for each in (*giants, *others)] == [200] * 4
        assert translate("192.0.2.4", b"o gato") == 200


def test_a_request_is_a_line_of_the_log_without_keys_and_texts(
    serve, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = add_key(tmp_path / "keys.txt", "alice")
    query = {"q": "segredo", "source": "pt-BR", "target": "en", "api_key": key}
    header, target = {"Authorization": f"Bearer {key}"}, {"target_lang": "EN"}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/translate", {"params": query, "headers": {"X-Forwarded-For": "\x1b] status=500"}}),
        ("/translate", {"json": query | {"source": "segredo"}}),
        ("/translate", {"json": query | {"q": "segredo explode"}}),
        ("/v2/translate", {"json": target | {"text": ["segredo"]}, "headers": header}),
        ("/translate_file", {"data": query, "files": {"file": ("segredo.txt", b"segredo")}}),
        ("/nowhere/segredo", {}),
    ]
    with serve(keys=tmp_path / "keys.txt") as served, caplog.at_level("INFO", "ptenmt.server.access"):
        for path, request in asked:
            served.send(path, **request)
        until(lambda: len(caplog.records) == len(asked) + 1)  # and a traceback
    for record in caplog.records:
        record.exc_text = None  # as pytest has formatted it
    lines = list(map(LogFormatter().format, caplog.records))
    text = "\n".join(lines)
    assert "segredo" not in text
    assert key not in text
    assert re.fullmatch(
        r'ptenmt\.server\.access: client="\\u001b\] status=500" method="POST" route=/translate status=200 '
        r"seconds=\d\.\d{3} key=alice characters=7",
        lines[0],
    )
    (failure,) = (line for line in lines if "\n" in line)
    assert failure.endswith("RuntimeError")
    logged = [line for line in lines if line is not failure]
    assert [line.split("status=")[1][:3] for line in logged[1:]] == ["400", "500", "200", "200", "404"]
