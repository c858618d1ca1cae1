"""Stands in for a server that is slow, busy or gone: the page's files, and answers that a test scripts."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from select import select
from threading import Thread
from typing import Any

import ptenmt

PAGE = Path(ptenmt.__file__).parent / "server" / "page"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
JSON = {"Content-Type": "application/json"}
FOLDER = "/below/"
"""Where the page is, as behind a proxy; elsewhere there is nothing."""
FILES = {FOLDER: PAGE / "index.html"} | {f"{FOLDER}page/{file.name}": file for file in PAGE.iterdir()}
SETTINGS = {
    "charLimit": 200,
    "sentenceLimit": 8,
    "keyRequired": False,
    "filesTranslation": False,
    "supportedFilesFormat": [],
    "language": {
        "source": {"code": "pt", "name": "Portuguese"},
        "target": {"code": "en", "name": "English"},
    },
}
MODEL = {"name": "small", "source": "pt", "target": "en", "parameters": 1_234_567, "pairs": None}
MODEL |= {"metric": "bleu", "score": 41.48, "trained": "2026-01-02T12:00:00+00:00", "licences": ["CC0"]}
ANSWERS: dict[str, Any] = {
    f"{FOLDER}frontend/settings": SETTINGS,
    f"{FOLDER}v1/models": [MODEL],
    f"{FOLDER}languages": [
        {"code": "pt", "name": "Portuguese", "targets": ["en", "pt"]},
        {"code": "en", "name": "English", "targets": ["pt"]},
        {"code": "de", "name": "German", "targets": []},
    ],
}
"""To requests without a body."""
Facts = dict[str, Any]
Answer = tuple[int, Facts, dict[str, str]]
"""Status, body, headers."""


def shouted(request: Facts) -> Answer:
    """A translation that a test can foresee."""
    return 200, {"translatedText": [text.upper() for text in request["q"]]}, {}


@dataclass
class Script:
    """What is answered, and what was asked."""

    address: str = ""
    translate: Callable[[Facts], Answer] = shouted
    asked: list[Facts] = field(default_factory=list)
    """The bodies of all requests for translations, in order."""

    abandoned: list[str] = field(default_factory=list)
    """The texts of cancelled requests."""

    def begin(self) -> None:
        """Forget what was scripted and asked before."""
        self.translate, self.asked, self.abandoned = shouted, [], []

    @property
    def texts(self) -> list[str]:
        """Every text of them."""
        return [text for request in self.asked for text in request["q"]]


@contextmanager
def scripted_server(port: int = 0) -> Iterator[Script]:
    """Serve on a port of the loopback, by default a free one."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path in ANSWERS:
                self.answer(200, json.dumps(ANSWERS[self.path]).encode(), JSON)
            elif file := FILES.get(self.path.partition("?")[0]):
                self.answer(200, file.read_bytes(), {"Content-Type": KINDS[file.suffix]})
            else:
                self.answer(404, b"", {})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.asked.append(request)
            status, facts, headers = script.translate(request)
            if select([self.connection], [], [], 0)[0]:  # there is something to read: the end
                script.abandoned += request["q"]
            self.answer(status, json.dumps(facts).encode(), JSON | headers)

        def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:
                return  # the page no longer wants it

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        script.address = f"http://127.0.0.1:{server.server_port}{FOLDER}"
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield script
        server.shutdown()
        thread.join()
