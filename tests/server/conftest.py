"""A server in a thread, whose model is scripted: it translates into capitals."""

import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests

from ptenmt.config import Config, DataConfig, ModelConfig, TokenizerConfig
from ptenmt.server.application import make_app
from ptenmt.server.limits import Keys, Limits
from ptenmt.server.models import Direction, Model, Models
from ptenmt.server.process import address_of, bound_socket, make_server
from ptenmt.server.queue import CoalescingEngine
from ptenmt.server.service import Service
from ptenmt.tokenizers import END, START, TokenizerPair, build_tokenizers
from ptenmt.translation import Translator
from ptenmt.translation.engine import (
    Hypothesis,
    PendingHypotheses,
    SearchRequest,
    attention_by_prefixes,
)
from ptenmt.translation.glossary import Glossary

_SMALL = (
    "o gato bebe leite . a mãe não tem tempo , e o cão ? já fez quê - queixou - se ! "
    "às 10 : 30 & < > / \" ' ;"
)
_LETTERS = "abcdefghijklmnopqrstuvwxyzáâãàçéêíóôõú0123456789"
LAYERS = {
    "encoder_layer1": "SS",
    "decoder_layer1_block1": "TT",
    "decoder_layer1_block2": "TS",
    "encoder_layer2": "SS",
}


_FACTS: dict[str, Any] = {"name": "capitals", "parameters": 1, "pairs": None, "step": 1, "metric": "bleu"}
_FACTS |= {"trained": "2026-01-02T12:00:00+00:00", "score": None, "licences": []}


@dataclass
class CapitalsEngine:
    """Translates into capitals; each further hypothesis ends with one more mark, or of nada is empty.

    A piece attends to that of which it is the capitals.
    """

    tokenizers: TokenizerPair
    name = "ctranslate2"
    compute_type = "float32"
    identity = "capitals"
    batch_sentences, batch_tokens = 8, 2048
    max_pending_batches = alignment_layer = 1
    gate: threading.Event = field(default_factory=threading.Event)
    """Translations wait for it."""
    begun: list[list[str]] = field(default_factory=list)
    """The sentences of each batch."""
    searches: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        texts = self.tokenizers.source.decode([list(ids) for ids in request.sources])
        self.begun.append(texts)
        self.searches.append({"beam_size": request.options.beam_size, "max_length": request.max_length})
        if any("explode" in text for text in texts):
            raise RuntimeError(f"boom: {texts}")
        begun = [list(ids) for ids in request.target_prefixes] or [[] for _ in request.sources]
        sizes = [len(ids) if request.with_attention else 0 for ids in request.sources]
        rows = list(zip(texts, begun, sizes, strict=True))
        num_tokens, numbers = request.next_token_alternatives, range(request.options.num_hypotheses)

        def wait() -> list[list[Hypothesis]]:
            assert self.gate.wait(300)
            if num_tokens:
                return [self._next_tokens(text, prefix, num_tokens) for text, prefix, _ in rows]
            return [[self._hypothesis(*row, number) for number in numbers] for row in rows]

        return wait

    def attention(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> Any:
        engine: Any = self
        return attention_by_prefixes(engine, sources, targets)

    def _next_tokens(self, text: str, prefix: list[int], count: int) -> list[Hypothesis]:
        """The right token with probability 1; beginnings of other words with lower ones."""
        target = self.tokenizers.target
        right = self._hypothesis(text, prefix).ids[len(prefix) + 1]
        pieces = target.pieces(range(target.vocabulary_size))
        others = [token for token, piece in enumerate(pieces) if piece[0] == "▁" != piece]
        ids = [right, *(token for token in others if token != right)]
        return [
            Hypothesis([START, *prefix, token], -0.1 * rank / (len(prefix) + 1))
            for rank, token in enumerate(ids[:count])
        ]

    def _hypothesis(self, text: str, prefix: list[int], num_source: int = 0, number: int = 0) -> Hypothesis:
        whole = "" if number and "nada" in text else text.upper() + "!" * number
        start = self.tokenizers.target.decode([prefix])[0] if prefix else ""
        rest = whole[len(start) :] if whole.startswith(start) or len(start) > len(whole) else whole
        ids = [START, *prefix, *self.tokenizers.target.encode([rest])[0], END]
        right = self.tokenizers.target.encode([whole])[0]
        ids = [START, *right, END] if right[: len(prefix)] == prefix else ids
        attention = np.eye(len(ids) - 1, num_source, k=1) + 1e-3 if num_source else None
        return Hypothesis(ids, -float(number), attention)


class RandomModel:
    """Attends to anything, but the decoder not to what comes later."""

    def attention(self, source: np.ndarray, target: np.ndarray) -> dict[str, np.ndarray]:
        sizes = {"S": source.shape[1], "T": target.shape[1]}
        shapes = {name: (1, 2, *(sizes[letter] for letter in letters)) for name, letters in LAYERS.items()}
        chance = np.random.default_rng(sum(sizes.values()))
        weights = {name: chance.random(shape) for name, shape in shapes.items()}
        weights["decoder_layer1_block1"] = np.tril(weights["decoder_layer1_block1"])
        return {name: values / values.sum(axis=-1, keepdims=True) for name, values in weights.items()}


@dataclass
class Served:
    """A server that runs."""

    url: str
    engine: CapitalsEngine
    service: Service
    server: Any
    engines: dict[str, CapitalsEngine]
    """By direction."""

    def get(self, path: str, **request: Any) -> requests.Response:
        return requests.get(self.url + path, timeout=120, **request)

    def send(self, path: str, **request: Any) -> requests.Response:
        return requests.post(self.url + path, timeout=120, **request)

    def upload(self, name: str = "a.txt", content: bytes = b"o gato", **request: Any) -> requests.Response:
        """The answer to a document, with the fields of a form that are given as ``data``."""
        form = {"data": {"source": "pt", "target": "en"}, "files": {"file": (name, content)}}
        return self.send("/translate_file", **form | request)

    def post(self, path: str, **body: Any) -> Any:
        """The answer to JSON, which has to be a good one."""
        answer = self.send(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def translate(self, q: Any, **fields: Any) -> Any:
        """The answer to a text or texts, by default from Portuguese into English."""
        return self.post("/translate", **{"q": q, "source": "pt", "target": "en"} | fields)

    def connected(self) -> socket.socket:
        """A connection for a request that is written byte by byte."""
        port = int(self.url.rpartition(":")[2])
        return socket.create_connection(("127.0.0.1", port), timeout=120)

    def refused(self, path: str, status: int, **request: Any) -> str:
        """The error in the answer, which has to have this status."""
        answer = self.send(path, **request)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/json"
        (name, message), *others = answer.json().items()
        assert (name, others) == ("message" if path.startswith("/v2/") else "error", [])
        assert "\n" not in message
        return str(message)


Serve = Callable[..., Any]


@pytest.fixture(scope="session")
def capitals() -> tuple[TokenizerPair, Config]:
    """Tokenizers of a language and its capitals."""
    config = Config(
        data=DataConfig(source="files", path="pairs.tsv"),
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=200, shared=True),
        model=ModelConfig(num_layers=1, d_model=16, num_heads=2, d_ff=32, max_positions=200),
    )
    lines = [_SMALL, " ".join(_LETTERS), _LETTERS]
    pairs = [(line, line.upper()) for line in lines]
    return build_tokenizers(config.tokenizer, pairs, ("pt", "en")), config


@pytest.fixture(scope="session")
def serve(capitals: tuple[TokenizerPair, Config]) -> Serve:
    """Starts a server: ``with serve(characters=10) as served: …``."""

    @contextmanager
    def start(
        keys: Path | None = None,
        origins: Sequence[str] = (),
        load_model: Callable[[], Any] = RandomModel,
        glossaries: Mapping[str, Glossary] | None = None,
        pairs: Sequence[str] = ("pt-en",),
        prefix: str = "",
        **limits: Any,
    ) -> Iterator[Served]:
        tokenizers, config = capitals
        engines = {pair: CapitalsEngine(tokenizers) for pair in pairs}
        engine = engines[pairs[0]]

        def load(pair: str) -> Model:
            languages = replace(config.data, source_language=pair[:2], target_language=pair[3:])
            own = replace(config, data=languages)
            engine: Any = engines[pair]
            shared: Any = CoalescingEngine(engine, pair)
            translator = Translator(shared, tokenizers, own)
            trained: Any = type("Trained", (), {"numpy_model": property(lambda _: load_model())})()
            described = {"source": pair[:2], "target": pair[3:], **_FACTS}
            return Model(translator, trained, described)

        directions = [Direction(pair[:2], pair[3:], partial(load, pair)) for pair in pairs]
        models = Models(directions)
        models.load()
        bounds = Limits(**limits)
        service = Service(models, bounds, Keys(keys, bounds), threads=2, glossaries=glossaries)
        server = make_server(make_app(service, origins), bounds.connections, prefix)
        with bound_socket("127.0.0.1", 0) as bound:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
            url, _ = address_of(bound)
            thread.start()
            try:
                yield Served(url, engine, service, server, engines)
            finally:
                for each in engines.values():
                    each.gate.set()
                server.should_exit = True
                thread.join()

    return start


@pytest.fixture(scope="session")
def served(serve: Serve) -> Iterator[Served]:
    """A server as it comes, for who leaves it as it is."""
    with serve() as running:
        yield running
