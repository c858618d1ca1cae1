"""Devices and distribution strategy of a training, and the workers on several machines."""

import contextlib
import json
import os
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ptenmt.config import Config
from ptenmt.errors import ConfigError, TrainingError
from ptenmt.processes import available_cores

SECONDS_TO_MEET = 300.0
"""Timeout for the others at the start: a scheduler starts workers one by one."""
SECONDS_TO_ANSWER = 20.0
"""Timeout after which an unreachable worker counts as lost."""
_POLL_SECONDS = 0.5
_CONNECT_SECONDS = 2.0
_EXAMPLE = (
    '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}; '
    "see docs/scaling.md"
)


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The workers in TF_CONFIG, and the index of this process."""

    addresses: tuple[str, ...]
    """``host:port`` of each worker, the chief first."""
    index: int

    @property
    def others(self) -> list[int]:
        """The indices of all other workers."""
        return [index for index in range(len(self.addresses)) if index != self.index]

    def name(self, index: int) -> str:
        """A worker's name in messages."""
        return f"worker {index} ({self.addresses[index]})"

    def is_alive(self, index: int) -> bool:
        """Whether a worker's process answers a connection, as ``meet`` and TensorFlow's server both do."""
        host, _, port = self.addresses[index].rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS) as line:
                return bool(line.recv(1))
        except OSError:
            return False


def find_cluster(strategy: str) -> Cluster | None:
    """The cluster that ``machine.strategy`` and TF_CONFIG define; None for a single process.

    Raises ConfigError if TF_CONFIG is missing or cannot be used.
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
        index = addresses.index(str(jobs[kind][number]))
        is_known = set(jobs) <= {"chief", "worker"} and all(0 < port < 65536 for port in ports)
        if not is_known or number < 0 or len(set(addresses)) < len(addresses):
            raise ValueError
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        message = f"TF_CONFIG names no cluster of workers: {text[:200]!r}"
        raise ConfigError(message, f"write it like {_EXAMPLE}") from error
    return Cluster(addresses=addresses, index=index) if len(addresses) > 1 else None


def meet(cluster: Cluster, seconds: float = SECONDS_TO_MEET) -> None:
    """Wait until all workers have started, and answer on this worker's address until then.

    TensorFlow itself would wait forever and ignore signals. Raises TrainingError if a worker does not start
    in time, or this one's port is in use.
    """
    deadline = time.monotonic() + seconds
    with _answering(cluster):
        missing = cluster.others
        while missing := [index for index in missing if not cluster.is_alive(index)]:
            if time.monotonic() > deadline:
                names = ", ".join(map(cluster.name, missing))
                raise TrainingError(
                    f"{names} cannot be reached, after {seconds:.0f} s",
                    "start it with the same TF_CONFIG but its own index, and open its port",
                )
            time.sleep(_POLL_SECONDS)


class _Server(socketserver.TCPServer):
    allow_reuse_address, request_queue_size = True, 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A worker that does not wait for the answer is no error."""


class _Answer(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.sendall(b"ptenmt")


@contextmanager
def _answering(cluster: Cluster) -> Iterator[None]:
    """Answer connections on this worker's port until TensorFlow does."""
    port = int(cluster.addresses[cluster.index].rpartition(":")[2])
    try:
        server = _Server(("", port), _Answer)
    except OSError as error:
        raise TrainingError(
            f"{cluster.name(cluster.index)} cannot use its port: {error.strerror or error}",
            "another process may use it: choose free ports in TF_CONFIG",
        ) from error
    with server:
        threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


def prepare(
    config: Config, on_warning: Callable[[str], None], cluster: Cluster | None = None
) -> tf.distribute.Strategy:
    """Configure threads, memory and determinism of TensorFlow, and return the strategy to train under.

    ``on_warning`` is called with a message for each option that can no longer take effect, because the
    process has initialized TensorFlow already. Raises ConfigError if the machine lacks the devices that
    ``machine.strategy`` needs, and TrainingError if other workers cannot be reached.
    """
    machine = config.machine
    try:
        tf.config.threading.set_intra_op_parallelism_threads(machine.threads or available_cores())
        tf.config.threading.set_inter_op_parallelism_threads(machine.threads or available_cores())
    except RuntimeError:
        if machine.threads is not None:
            on_warning("TensorFlow is already initialized: machine.threads has no effect")
    with contextlib.suppress(RuntimeError):
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    if config.training.deterministic:
        tf.config.experimental.enable_op_determinism()
    if cluster is None:
        return _strategy(machine.strategy)
    meet(cluster)
    try:
        return tf.distribute.MultiWorkerMirroredStrategy()
    except (RuntimeError, ValueError, tf.errors.OpError) as error:
        reason = str(error).splitlines()[0]
        raise TrainingError(
            f"{cluster.name(cluster.index)} cannot join the others: {reason}",
            "start it in a new process, before anything else uses TensorFlow",
        ) from error


def _strategy(name: str) -> tf.distribute.Strategy:
    devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    if name == "mirrored" and len(devices) == 1:
        raise ConfigError(
            "machine.strategy=mirrored needs several devices, and TensorFlow sees one",
            "leave it at auto; check nvidia-smi, and pip install 'tensorflow[and-cuda]'",
        )
    wants_all = name in ("auto", "multi_worker") and devices[0].device_type == "GPU" and len(devices) > 1
    if name == "mirrored" or wants_all:
        return tf.distribute.MirroredStrategy([device.name for device in devices])
    return tf.distribute.get_strategy()


def _lost(cluster: Cluster) -> list[str]:
    """The names of the workers that do not answer; wait some seconds for the first."""
    deadline = time.monotonic() + SECONDS_TO_ANSWER
    while time.monotonic() < deadline:
        if lost := [cluster.name(index) for index in cluster.others if not cluster.is_alive(index)]:
            return lost
        time.sleep(_POLL_SECONDS)
    return []


class Workers:
    """The processes that train together, usually one. All call the same methods in the same order."""

    def __init__(self, strategy: tf.distribute.Strategy, cluster: Cluster | None = None) -> None:
        self.strategy = strategy
        self.count = 1 if cluster is None else len(cluster.addresses)
        self.index = 0 if cluster is None else cluster.index
        self._cluster = cluster
        self._total = tf.function(self._add_up, [tf.TensorSpec([None], tf.int32)], autograph=False)

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the run's folder."""
        return self.index == 0

    def gather(self, value: Any) -> list[Any]:
        """Every worker's JSON-serialisable value, in order; also a barrier."""
        if self.count == 1:
            return [value]
        mine = np.frombuffer(json.dumps(value).encode(), np.uint8).astype(np.int32)
        sizes = np.zeros(self.count, np.int32)
        sizes[self.index] = len(mine)
        ends = np.cumsum(self._total(sizes).numpy())
        text = np.zeros(ends[-1], np.int32)  # disjoint parts of zeros: the sum holds all texts
        text[ends[self.index] - len(mine) : ends[self.index]] = mine
        texts = np.split(self._total(text).numpy().astype(np.uint8), ends[:-1])
        return [json.loads(part.tobytes()) for part in texts]

    def any(self, flag: bool) -> bool:
        """Whether any worker has the flag set."""
        return self.count > 1 and bool(self._total(np.array([flag], np.int32)).numpy().any())

    def agree(self, **facts: Any) -> None:
        """Check that all workers have the same values; raises TrainingError."""
        chief, *others = self.gather(facts)
        differences = [
            f"{name}: {chief[name]} and, for worker {index}, {other[name]}"
            for index, other in enumerate(others, 1)
            for name in chief
            if other[name] != chief[name]
        ]
        if differences:
            raise TrainingError(
                f"the workers differ: {'; '.join(differences)}",
                "give all of them the same config and data, and one shared run folder",
            )

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run the training in this context, which waits for all workers; TrainingError if one is lost."""
        try:
            yield
            self.gather(None)  # no worker leaves while another needs it
            with contextlib.suppress(tf.errors.OpError):  # or before all have received that
                self.gather(None)
        except tf.errors.OpError as error:
            if self._cluster is None or not (lost := _lost(self._cluster)):
                raise
            raise TrainingError(
                f"{', '.join(lost)} {'is' if len(lost) == 1 else 'are'} lost",
                "see its own output for the reason; start all workers again: they resume from the last "
                "checkpoint",
            ) from error

    def _add_up(self, mine: Any) -> Any:
        """Sum over the workers; the first replica of each worker contributes its value."""
        num_replicas = self.strategy.num_replicas_in_sync // self.count

        def contribute() -> Any:
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            return tf.where(tf.equal(replica, self.index * num_replicas), mine, tf.zeros_like(mine))

        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, self.strategy.run(contribute), axis=None)
