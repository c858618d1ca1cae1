"""A server under load, compared with the same engine on a file of the same sentences.

- ready: time from the start of `ptenmt serve` to its first response; idle: memory after that
- load: clients that each send a sentence, wait for its translation, and send the next, for some minutes:
  throughput compared with offline translation (same engine and beam size), latencies, growth of memory
- overload: twice the measured throughput, regardless of responses; the server must answer 200 or 503. Then
  the first load again for some seconds, which must be as fast as before

The clients are one process on the same cores; its CPU use is reported separately.

    python benchmarks/serving.py --run DIR/base [--data-dir DIR] [--seconds 180]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from baselines.criteria import Criterion, at_least, at_most, print_criteria, print_table
from baselines.http_clients import Load, Workload, closed_loop, open_loop
from baselines.machine import describe, same_command
from baselines.processes import hide_gpus, in_process, log
from baselines.ptenmt_translation import translate_with
from baselines.translation_task import Measured, Task

OVERLOAD_SECONDS = 20
SPAN = 10
"""Seconds over which memory is averaged."""
SHARES = (0.5, 0.95, 0.99)


class Server(NamedTuple):
    """A running server."""

    process: subprocess.Popen
    port: int
    seconds: float
    """Time until it was ready."""

    def metrics(self) -> dict[str, float]:
        """Its Prometheus metrics; of several directions, their sums."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            lines = re.findall(r"^(\w+)(?:{pair=[^}]*})? (\S+)$", answer.read().decode(), re.MULTILINE)
        totals: dict[str, float] = defaultdict(float)
        for name, value in lines:
            totals[name] += float(value)
        return totals

    def health_seconds(self) -> float:
        """The time to an answer of /health."""
        started = time.perf_counter()
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=10).read()
        return time.perf_counter() - started

    @property
    def megabytes(self) -> float:
        """Its resident memory."""
        return self.metrics()["process_resident_memory_bytes"] / 1e6


class LoadResult(NamedTuple):
    """Responses to a load, and the server's memory and CPU time."""

    load: Load
    memory: list[float]
    """Megabytes, every second."""
    health: list[float]
    """Seconds until /health answered on a new connection, ten times a second, sorted."""
    cpu_seconds: float
    batch: float
    """Mean number of sentences in a batch."""


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run", required=True, help="the trained run")
    parser.add_argument("--data-dir", help="TFDS folder with the run's corpus, if it was moved")
    parser.add_argument("--input", help="a file of sentences, instead of the run's test pairs")
    parser.add_argument("--sentences", type=int, help="use only the first N")
    parser.add_argument("--clients", type=int, default=64, help="concurrent clients (default: 64)")
    parser.add_argument("--seconds", type=float, default=180, help="duration of the load (default: 180)")
    parser.add_argument("--beam-size", type=int, default=4, help="of both (default: 4)")
    parser.add_argument("--repeat", type=int, default=2, help="repetitions of the file (default: 2)")
    return parser.parse_args()


@contextmanager
def serving(options: argparse.Namespace) -> Iterator[Server]:
    """Start a server, and stop it."""
    command = [sys.executable, "-m", "ptenmt", "serve", "--run", options.run, "--port", "0"]
    command += ["--beam-size", str(options.beam_size)]
    started = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            port = None
            while port is None:
                line = process.stderr.readline()
                if not line:
                    raise SystemExit("the server did not start")
                found = re.search(r"at http://\S+:(\d+)", line)
                port = found and int(found[1])
            server = Server(process, port, time.perf_counter() - started)
            server.metrics()
            yield server
            process.terminate()
            ended = time.perf_counter()
            process.communicate(timeout=30)
            log(f"stopped with exit code {process.returncode} in {time.perf_counter() - ended:.1f} s")
        finally:
            process.kill()


def languages(run: str) -> tuple[str, str]:
    """The run's languages."""
    from ptenmt.runs import find_run

    data = find_run(run).config().data
    return data.source_language, data.target_language


def run_load(server: Server, name: str, loop: Callable[..., Load], *arguments: Any) -> LoadResult:
    """Run a load in a separate process and monitor the server."""
    before, memory, health, is_over = server.metrics(), [], [], threading.Event()

    def monitor() -> None:
        while not is_over.wait(0.1):
            health.append(server.health_seconds())
            if len(health) % 10 == 0:
                memory.append(server.megabytes)

    thread = threading.Thread(target=monitor)
    thread.start()
    try:
        load = in_process(loop, *arguments)
    finally:
        is_over.set()
        thread.join()
    after = server.metrics()
    increase = {key: value - before.get(key, 0.0) for key, value in after.items()}
    batch = increase["ptenmt_batch_sentences_sum"] / max(increase["ptenmt_batch_sentences_count"], 1)
    statuses = ", ".join(f"{count:,} × {status}" for status, count in sorted(load.statuses.items()))
    log(f"{name}: {load.rate:.1f} sentences/s, {statuses}, {batch:.1f} sentences per batch")
    return LoadResult(load, memory, sorted(health), increase["process_cpu_seconds_total"], batch)


def row(name: str, result: LoadResult) -> list[str]:
    load = result.load
    refused = sum(count for status, count in load.statuses.items() if status in ("429", "503"))
    total = sum(load.statuses.values())
    cores = os.cpu_count() or 1
    return [
        name,
        f"{load.rate:,.1f}",
        *(f"{1000 * load.percentile(share):,.0f}" if load.latencies else "–" for share in SHARES),
        f"{result.batch:.1f}",
        f"{refused:,}",
        f"{total - refused - load.statuses.get('200', 0):,}",
        f"{result.cpu_seconds / load.seconds / cores:.0%}",
        f"{load.cpu_seconds / load.seconds / cores:.0%}",
    ]


def criteria(offline: Measured, idle: float, server: Server, loads: list[LoadResult]) -> Iterator[Criterion]:
    first, over, again = loads
    yield at_most("ready", server.seconds, 2, "{:.2f} s")
    yield at_most("idle memory", idle, 250, "{:.0f} MB")
    yield at_least("throughput / offline throughput", first.load.rate / offline.rate, 0.6, "{:.2f}")
    failed = sum(count for status, count in first.load.statuses.items() if status != "200")
    yield at_most("responses other than 200 under load", failed, 0, "{:.0f}")
    yield at_most(
        "/health under load, p99", 1000 * first.health[int(0.99 * len(first.health))], 100, "{:.0f} ms"
    )
    yield from memory_criteria(first.memory)
    neither = sum(count for status, count in over.load.statuses.items() if status not in ("200", "503"))
    yield at_most("responses other than 200 and 503 under overload", neither, 0, "{:.0f}")
    yield at_least("throughput after overload / before", again.load.rate / first.load.rate, 0.9, "{:.2f}")


def memory_criteria(memory: list[float]) -> Iterator[Criterion]:
    """Whether memory is stable: the largest deviation of a ten-second mean, and the trend.

    The first third is left out: arenas of threads and buffers for the largest batches are allocated then.
    Means of ten seconds cover a hundred batches or more; memory at one moment depends on the current batch.
    """
    third = len(memory) // 3
    if third >= SPAN:
        settled = memory[third:]
        mean = fmean(settled)
        spans = [fmean(settled[begin : begin + SPAN]) for begin in range(len(settled) - SPAN + 1)]
        furthest = max(abs(span - mean) for span in spans) / mean
        name = f"memory under load: largest deviation of a ten-second mean from {mean:.0f} MB"
        yield at_most(name, furthest, 0.05, "{:.1%}")
        growth = fmean(memory[-third:]) / fmean(memory[third:-third])
        yield at_most("memory under load: last third / middle third", growth, 1.05, "{:.3f}")
        log(f"memory, every second, after the first third: {min(settled):.0f} to {max(settled):.0f} MB")


def main() -> None:
    options = parse()
    hide_gpus()
    with tempfile.TemporaryDirectory() as folder:
        task = Task(Path(folder), options.run)
        num = in_process(task.write, options.data_dir, options.input, options.sentences)
        print(f"{describe(None)}\n{same_command(for_page=True)}", flush=True)
        offline = in_process(translate_with, task, "ctranslate2", options.beam_size, options.repeat)
        log(f"offline: {offline.rate:.1f} sentences/s")
        with serving(options) as server:
            idle = server.megabytes
            workload = Workload(server.port, *in_process(languages, options.run), task.sentences())
            steady = (closed_loop, workload, options.clients)
            loads = [run_load(server, "load", *steady, options.seconds)]
            rate = 2 * loads[0].load.rate
            short = min(OVERLOAD_SECONDS, options.seconds)
            loads.append(run_load(server, "overload", open_loop, workload, rate, short))
            loads.append(run_load(server, "again", *steady, short))
    print(f"{num:,} sentences, beam {options.beam_size}; offline {offline.rate:,.1f} sentences/s\n")
    heads = [f"p{share * 100:.0f}, ms" for share in SHARES]
    names = [
        f"{options.clients} clients",
        f"{rate:.0f} requests/s",
        f"{options.clients} clients again",
    ]
    head = ["", "sentences/s", *heads, "mean batch size", "refused", "failed", "server CPU", "client CPU"]
    print_table([head, *(row(name, result) for name, result in zip(names, loads, strict=True))])
    print_criteria(criteria(offline, idle, server, loads))


if __name__ == "__main__":
    main()
