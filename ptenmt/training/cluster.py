"""The processes that train one model together: who they are, and whether they are there."""

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ptenmt.errors import ConfigError, TrainingError

SECONDS_TO_MEET = 300.0
"""How long a worker waits for the others at the start: a scheduler starts them one by one."""
SECONDS_TO_ANSWER = 20.0
"""How long a worker may be out of reach before it counts as gone."""
_POLL_SECONDS = 0.5
_WATCH_SECONDS = 2.0
_EXAMPLE = (
    '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}; '
    "see docs/scaling.md"
)


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The workers as TF_CONFIG names them, and which of them this process is."""

    addresses: tuple[str, ...]
    """``host:port`` of each, the chief first."""
    index: int

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the run's folder."""
        return self.index == 0

    @property
    def others(self) -> list[int]:
        """The numbers of all but this one."""
        return [index for index in range(len(self.addresses)) if index != self.index]

    def name(self, index: int) -> str:
        """How a message speaks of a worker."""
        return f"worker {index} ({self.addresses[index]})"

    def is_alive(self, index: int) -> bool:
        """Whether a worker's process answers: like ``meet``, TensorFlow's server greets whoever connects."""
        host, _, port = self.addresses[index].rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=_WATCH_SECONDS) as line:
                return bool(line.recv(1))
        except OSError:
            return False


def find_cluster(strategy: str) -> Cluster | None:
    """The cluster that ``machine.strategy`` and TF_CONFIG ask for; None where one process trains.

    Raises:
        ConfigError: TF_CONFIG is missing or cannot be used.
    """
    text = os.environ.get("TF_CONFIG")
    if strategy not in ("auto", "multi_worker") or (strategy == "auto" and not text):
        return None
    if not text:
        raise ConfigError("machine.strategy=multi_worker needs TF_CONFIG", f"set it to, e.g., {_EXAMPLE}")
    try:
        given = json.loads(text)
        jobs, kind, number = given["cluster"], given["task"]["type"], int(given["task"]["index"])
        addresses = tuple(str(address) for job in ("chief", "worker") for address in jobs.get(job, []))
        ports = [int(address.rpartition(":")[2]) for address in addresses]
        is_known = set(jobs) <= {"chief", "worker"} and all(0 < port < 65536 for port in ports)
        index = addresses.index(str(jobs[kind][number])) if number >= 0 else None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ConfigError(
            f"TF_CONFIG cannot be read: {text[:200]!r}", f"it is to be like {_EXAMPLE}"
        ) from error
    if index is None or not is_known or len(set(addresses)) < len(addresses):
        raise ConfigError(
            f"TF_CONFIG names no cluster of workers: {text[:200]!r}", f"write it like {_EXAMPLE}"
        )
    return Cluster(addresses=addresses, index=index) if len(addresses) > 1 else None


def meet(cluster: Cluster, seconds: float = SECONDS_TO_MEET) -> None:
    """Wait until all workers have started, each answering on its own address meanwhile.

    TensorFlow itself would wait for ever, and deaf to signals.

    Raises:
        TrainingError: Some do not come, or this one's port is taken.
    """
    deadline = time.monotonic() + seconds
    with _answering(cluster):
        missing = cluster.others
        while missing := [index for index in missing if not cluster.is_alive(index)]:
            if time.monotonic() > deadline:
                names = ", ".join(map(cluster.name, missing))
                raise TrainingError(
                    f"{names} cannot be reached, after {seconds:.0f} s",
                    "is it started, with the same TF_CONFIG but for its own index, and its port open?",
                )
            time.sleep(_POLL_SECONDS)


@contextmanager
def _answering(cluster: Cluster) -> Iterator[None]:
    """Greet whoever asks whether this worker is there, until TensorFlow does."""
    port = int(cluster.addresses[cluster.index].rpartition(":")[2])
    try:
        server = socket.create_server(("", port))
    except OSError as error:
        raise TrainingError(
            f"{cluster.name(cluster.index)} cannot use its port: {error.strerror or error}",
            "another process may have it: give the cluster free ports in TF_CONFIG",
        ) from error
    done = threading.Event()

    def answer() -> None:
        server.settimeout(_POLL_SECONDS)
        while not done.is_set():
            with contextlib.suppress(OSError):
                line, _ = server.accept()
                with line:
                    line.sendall(b"ptenmt")

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        server.close()


class Watch:
    """Looks after the other workers in a thread of its own, and ends this process if one is gone.

    Whoever waits for a dead worker inside TensorFlow may wait for ever, and cannot be interrupted.

    Args:
        cluster: Whom to watch.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """From now on, others may leave."""
        self._done.set()

    def lost(self, seconds: float = SECONDS_TO_ANSWER) -> list[int]:
        """Which workers are gone; where all are there, wait a while for one to go."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if lost := [index for index in self._cluster.others if not self._cluster.is_alive(index)]:
                return lost
            time.sleep(_POLL_SECONDS)
        return []

    def _watch(self) -> None:
        seen = dict.fromkeys(self._cluster.others, time.monotonic())
        while not self._done.wait(_WATCH_SECONDS):
            for index in self._cluster.others:
                if self._cluster.is_alive(index):
                    seen[index] = time.monotonic()
            lost = [index for index, when in seen.items() if time.monotonic() - when > SECONDS_TO_ANSWER]
            if lost and not self._done.is_set():
                error = gone(self._cluster, lost)
                with contextlib.suppress(OSError):
                    os.write(2, f"\nerror: {error.message}\n{error.hint}\n".encode())
                os._exit(1)


def gone(cluster: Cluster, lost: Sequence[int]) -> TrainingError:
    """The error to raise when workers are gone."""
    names = ", ".join(map(cluster.name, lost))
    return TrainingError(
        f"{names} {'is' if len(lost) == 1 else 'are'} gone",
        "its own output says why; start all workers again: they go on from the last checkpoint",
    )


def differing(values: Sequence[dict[str, Any]]) -> list[str]:
    """What some workers have otherwise than the chief, in words."""
    chief, *rest = values
    return [
        f"{name}: {chief[name]} and, for worker {index}, {other[name]}"
        for index, other in enumerate(rest, 1)
        for name in chief
        if other[name] != chief[name]
    ]
