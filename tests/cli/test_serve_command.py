"""``ptenmt serve``: from the command line to an answer, and to the end."""

import os
import re
import shutil
import signal
import socket
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests
from server_process import running
from waiting import until

from ptenmt.inspection.alignment import attention_weights
from ptenmt.inspection.inspector import Inspector
from ptenmt.runs import Run
from ptenmt.runs.weights import read_weights, write_weights
from ptenmt.server.limits import Limits, Refusal
from ptenmt.signals import handle_server_signals

PTENMT = (sys.executable, "-m", "ptenmt")


def test_a_server_translates_as_the_command_does_and_ends_in_order(ptenmt, random_run: Path) -> None:
    text = "o gato come hoje ."
    expected = ptenmt("translate", "--run", str(random_run), text, "--beam-size", "2").stdout.strip()
    options = ("--run", str(random_run), "--set", "decoding.beam_size=2")
    with running(PTENMT, *options) as (process, url):
        answer = requests.post(
            f"{url}/translate", json={"q": text, "source": "pt", "target": "en"}, timeout=120
        )
        assert answer.json() == {"translatedText": expected}
        pair = {"q": text, "translation": "the cat eats"}
        attention = requests.post(f"{url}/v1/attention", json=pair, timeout=120).json()
        loaded = Path(f"/proc/{process.pid}/maps")
        if loaded.exists():
            assert "ctranslate2" in loaded.read_text()
            assert "tensorflow" not in loaded.read_text()
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout, stderr) == (0, "", "stopped\n")
    found = attention_weights(Inspector(random_run), text, "the cat eats")
    assert attention["source_pieces"] == found.source_pieces
    assert attention["target_pieces"] == found.target_pieces
    assert attention["weights"].keys() == found.weights.keys()
    for name, weights in found.weights.items():
        np.testing.assert_allclose(attention["weights"][name], weights, atol=1e-4)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="reloads after a signal of Unix")
def test_models_and_keys_are_reloaded_under_load(ptenmt, random_run: Path, tmp_path: Path) -> None:
    run = Run(shutil.copytree(random_run, tmp_path / "run"))
    keys = tmp_path / "keys.txt"
    key = ptenmt("serve", "--keys", str(keys), "--add-key", "alice").stdout.strip()
    body = {"q": "o gato come hoje .", "source": "pt", "target": "en"}
    seen, is_done, statuses = set[str](), threading.Event(), Counter[int]()

    def post(given: str) -> requests.Response:
        return requests.post(f"{url}/translate", json=body | {"api_key": given}, timeout=120)

    def work() -> None:
        while not is_done.is_set():
            answer = post(key)
            statuses[answer.status_code] += 1
            seen.add(answer.json()["translatedText"])

    options = ("--run", str(run.path), "--keys", str(keys))
    with running(PTENMT, *options) as (process, url), ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(work) for _ in range(4)]
        bob = ptenmt("serve", "--keys", str(keys), "--add-key", "bob").stdout.strip()
        assert post(bob).status_code == 403
        process.send_signal(signal.SIGHUP)
        until(lambda: post(bob).status_code == 200 and seen)
        assert len(seen) == 1
        info, arrays = read_weights(run.weights_folder / "best.safetensors")
        better = {name: array[::-1] for name, array in arrays.items()}
        write_weights(info.file, better, config=run.config(), step=2, score=99.0)
        process.send_signal(signal.SIGHUP)
        until(lambda: len(seen) == 2)
        is_done.set()
        assert [client.result() for client in clients] == [None] * 4
    assert set(statuses) == {200}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a server would be started with; it is not."""
    seen: dict[str, Any] = {}

    class Server:
        should_exit = False

        def __init__(self, _app: Any, max_connections: int, prefix: str) -> None:
            seen.update(max_connections=max_connections, prefix=prefix)

        def run(self, sockets: list[socket.socket]) -> None:
            seen["address"] = sockets[0].getsockname()[0]
            sockets[0].close()

    def make_app(service: Any, origins: Any) -> None:
        seen.update(service=service, keys=service.keys, origins=origins)

    def handle_signals(_stop: Any, reload: Any) -> None:
        seen["reload"] = reload

    monkeypatch.setattr("ptenmt.server.process.make_app", make_app)
    monkeypatch.setattr("ptenmt.server.process.make_server", Server)
    monkeypatch.setattr("ptenmt.server.process.handle_server_signals", handle_signals)
    monkeypatch.setattr("ptenmt.server.process.log_to_stderr", lambda **options: seen.update(options))
    return seen


def test_options_reach_the_server(ptenmt, random_run: Path, started: dict[str, Any]) -> None:
    limits = {"characters": 9, "seconds": 7.5, "file_megabytes": 0.5, "connections": 7}
    answer = ptenmt(
        *("serve", "--run", str(random_run), "--port", "0"),
        *(word for name, number in limits.items() for word in ("--limit", f"{name}={number}")),
        *("--allow-origin", "https://a.org", "--allow-origin", "https://b.org"),
        *("--url-prefix", "pt/"),
        *("--set", "decoding.length_penalty=0.5", "--threads", "3", "--verbose"),
    )
    service = started["service"]
    assert (service.limits, len(service._queue._threads)) == (Limits(**limits), 3)
    assert service.models.default.model.translator.config.decoding.length_penalty == 0.5
    expected = {"origins": ["https://a.org", "https://b.org"], "prefix": "/pt"}
    expected |= {"max_connections": 7, "address": "127.0.0.1", "is_verbose": True}
    assert started.items() >= expected.items()
    assert answer.stdout == ""
    assert re.search(r"pt → en with random \(step 1, trained .*\) at http://127.0.0.1:\d+", answer.stderr)
    assert ptenmt("serve", "--run", str(random_run), "--port", "0", "--quiet").stderr == ""


def test_attention_is_of_the_weights_that_translate_and_of_no_others(
    ptenmt, random_run: Path, started: dict[str, Any], tmp_path: Path
) -> None:
    run = Run(shutil.copytree(random_run, tmp_path / "run"))
    ptenmt("serve", "--run", str(run.path), "--port", "0")
    best = run.weights_folder / "best.safetensors"
    content = best.read_bytes()
    info, arrays = read_weights(best)
    better = {name: array + 1 for name, array in arrays.items()}
    write_weights(best, better, config=run.config(), step=info.step + 1, score=99.0)
    model = started["service"].models.default.model
    with pytest.raises(Refusal, match="attention is not available") as refused:
        model.attention([1, 2], [1])
    assert refused.value.status_code == 501
    best.write_bytes(content)
    assert model.attention([1, 2], [1])


def test_a_public_server_without_keys_is_a_warning(
    ptenmt, random_run: Path, started: dict[str, Any], tmp_path: Path
) -> None:
    command = ("serve", "--run", str(random_run), "--port", "0", "--host", "0.0.0.0")
    keys = str(tmp_path / "keys.txt")
    for volume in ((), ("--quiet",)):
        assert "any client that can reach" in ptenmt(*command, *volume).stderr
    key = ptenmt("serve", "--keys", keys, "--add-key", "alice").stdout.strip()
    assert "no API key is required" not in ptenmt(*command, "--keys", keys).stderr
    assert [bool(started["keys"].client(given)) for given in (key, "")] == [True, False]


def test_what_cannot_be_served_is_said(ptenmt, random_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def error(*options: str) -> str:
        return str(ptenmt("serve", "--run", str(random_run), *options, code=1).stderr)

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"cannot listen at 127.0.0.1, port {port}" in error("--port", port)
    assert "cannot listen at nowhere.invalid" in error("--host", "nowhere.invalid")
    assert "--add-key needs --keys FILE" in error("--add-key", "x")
    assert "this run samples" in error("--set", "decoding.beam_size=1", "--set", "decoding.top_k=5")
    for given, message in (
        ("characers=9", "--limit characers: there is no limit 'characers' — did you mean characters?"),
        ("file_megabytes=1e300", "--limit file_megabytes=1e300: Input should be less than or equal to 1000"),
    ):
        assert error("--limit", given).startswith(f"error: {message}")
    monkeypatch.delitem(sys.modules, "ptenmt.server.process", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "uvicorn, which serving needs, is not installed" in error()
    assert "pip install '.[serve]'" in error()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of Unix")
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_server_reloads_unless_its_terminal_was_closed(
    monkeypatch: pytest.MonkeyPatch, is_closed: bool
) -> None:
    answers, calls = iter([True, not is_closed]), list[str]()
    monkeypatch.setattr("os.isatty", lambda _file: next(answers))
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    handle_server_signals(lambda: calls.append("stop"), lambda: calls.append("reload"))
    os.kill(os.getpid(), signal.SIGHUP)
    for number, handler in before.items():
        signal.signal(number, handler)
    assert calls == ["stop" if is_closed else "reload"]
