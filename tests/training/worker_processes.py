"""Starts the workers of one training on this machine."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ptenmt.runs import History, Run


class Workers:
    """Processes that train together, from ``config.yaml`` in a folder; their output is in ``<index>.log``."""

    def __init__(self, folder: Path, runs: Sequence[Path], settings: Sequence[Sequence[str]]) -> None:
        self.folder = folder
        ports = _free_ports(len(runs))
        cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
        self.processes = []
        for index, (run, setting) in enumerate(zip(runs, settings, strict=True)):
            place = {"cluster": cluster, "task": {"type": "worker", "index": index}}
            environment = {"TF_CONFIG": json.dumps(place), "PYTHONPATH": os.getcwd()}
            train = [sys.executable, "-m", "ptenmt", "train", "--config", folder / "config.yaml"]
            command = [*train, "--run", run, *setting]
            with (folder / f"{index}.log").open("w") as log:
                self.processes.append(
                    subprocess.Popen(
                        command, stdout=log, stderr=log, cwd=folder, env=os.environ | environment
                    )
                )

    def log(self, index: int) -> str:
        return (self.folder / f"{index}.log").read_text()

    def wait(self, seconds: float = 240) -> list[int]:
        """Their exit codes."""
        deadline = time.monotonic() + seconds
        return [process.wait(deadline - time.monotonic()) for process in self.processes]

    def wait_for_step(self, run: Run, step: int) -> None:
        """Return when the history has this global step."""
        deadline = time.monotonic() + 300
        while (History(run.path).last() or {"step": 0})["step"] < step:
            assert all(process.poll() is None for process in self.processes), self.log(0) + self.log(1)
            assert time.monotonic() < deadline
            time.sleep(0.1)


@contextmanager
def working(
    folder: Path, runs: Sequence[Path], settings: Sequence[Sequence[str]] = ((), ())
) -> Iterator[Workers]:
    """The workers, each with more words on its command line; those that are left at the end are killed."""
    workers = Workers(folder, runs, settings)
    try:
        yield workers
    finally:
        for process in workers.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]
