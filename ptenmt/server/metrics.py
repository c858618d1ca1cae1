"""Metrics for Prometheus."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SENTENCES = (1, 2, 4, 8, 16, 32)


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self.requests = Counter(
            "ptenmt_requests",
            "Requests answered, by route and status",
            ["route", "status"],
            registry=self._registry,
        )
        self.seconds = Histogram(
            "ptenmt_request_seconds",
            "From a request's head to the end of its answer",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.sentences = Counter("ptenmt_sentences", "Sentences translated", registry=self._registry)
        self.source_tokens = Counter("ptenmt_source_tokens", "Tokens read", registry=self._registry)
        self.target_tokens = Counter("ptenmt_target_tokens", "Tokens written", registry=self._registry)
        self.batch_sentences = Histogram(
            "ptenmt_batch_sentences",
            "Sentences in a batch",
            buckets=_SENTENCES,
            registry=self._registry,
        )
        self.queue = Gauge("ptenmt_queue_sentences", "Sentences waiting", registry=self._registry)
        self.active = Gauge("ptenmt_active_requests", "Requests in progress", registry=self._registry)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)
