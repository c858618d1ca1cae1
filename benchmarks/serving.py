"""A server under load, compared with the same engine on a file of the same sentences.

- ready: time from the start of `ptenmt serve` to its first response; idle: memory after that
- load: clients that each send a sentence, wait for its translation, and send the next, for some minutes:
  throughput compared with offline translation (same engine and beam size), latencies, growth of memory
- unread: before that, 20 clients that send request after request and read no response
- overload: twice the measured throughput, regardless of responses; the server must answer 200 or 503. Then
  the first load again for some seconds, which must be as fast as before
- reload: that load once more, while the server reloads its models every two seconds (SIGHUP)

With --second, the server has two runs, and every other request is for the second one. With --fairness, only
this is measured: two clients send 5,000 characters again and again, a third one short sentence after another.

The clients are one process on the same cores; its CPU use is reported separately.

    python benchmarks/serving.py --run DIR/base [--data-dir DIR] [--seconds 180]
    python benchmarks/serving.py --run DIR/pt-en --input pt --second DIR/en-pt --second-input en
    python benchmarks/serving.py --run starter --fairness --seconds 30
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from statistics import fmean, harmonic_mean
from typing import Any, NamedTuple

from baselines.criteria import Criterion, at_least, at_most, print_criteria, print_table
from baselines.http_clients import Load, Workload, closed_loop, open_loop, unread
from baselines.machine import describe, same_command
from baselines.processes import hide_gpus, in_process, log
from baselines.ptenmt_translation import translate_with
from baselines.translation_task import Task

OVERLOAD_SECONDS = 20
UNREAD_CLIENTS = 20
RELOAD_EVERY = 2.0
SPAN = 10
"""Seconds over which memory is averaged."""
SHARES = (0.5, 0.95, 0.99)
SENTENCE = "Ela não tem tempo."
GREEDY = {
    "nobody": "",
    "#a": "#a" * 2500,
    "a@": "a@" * 2500,
    "o gato": "o gato " * 714,
    "prose": ("Ela não tem tempo para ler o livro que lhe deram ontem na escola. " * 80)[:5000],
}
"""What two clients send again and again while a third sends the sentence."""


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
    parser.add_argument("--second", help="another trained run, served beside the first")
    parser.add_argument("--second-input", help="a file of sentences for it")
    parser.add_argument("--fairness", action="store_true", help="measure only a client beside greedy ones")
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
    command += ["--set", f"decoding.beam_size={options.beam_size}"]
    command += ["--run", options.second] if options.second else []
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
            lines = process.communicate(timeout=30)[1].splitlines()
            seconds = time.perf_counter() - ended
            log(f"stopped in {seconds:.1f} s, exit code {process.returncode}; its log has {len(lines)} lines")
        finally:
            process.kill()


def languages(run: str) -> tuple[str, str]:
    """The run's languages."""
    from ptenmt.runs import find_run

    data = find_run(run).config().data
    return data.source_language, data.target_language


@contextmanager
def reloading(server: Server) -> Iterator[None]:
    """Send the server SIGHUP again and again, after which it reloads its models."""
    is_over = threading.Event()

    def reload() -> None:
        while not is_over.wait(RELOAD_EVERY):
            server.process.send_signal(signal.SIGHUP)

    thread = threading.Thread(target=reload)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


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


def criteria(
    offline: float, idle: float, server: Server, silent: LoadResult, loads: list[LoadResult]
) -> Iterator[Criterion]:
    first, over, again, reloaded = loads
    yield at_most("ready", server.seconds, 2, "{:.2f} s")
    yield at_most("idle memory", idle, 150, "{:.0f} MB")
    name = f"memory with {UNREAD_CLIENTS} clients that read nothing"
    yield at_most(name, max(silent.memory, default=0.0), 250, "{:.0f} MB")
    yield at_least("throughput / offline throughput", first.load.rate / offline, 0.78, "{:.2f}")
    failed = sum(count for status, count in first.load.statuses.items() if status != "200")
    yield at_most("responses other than 200 under load", failed, 0, "{:.0f}")
    yield at_most(
        "/health under load, p99", 1000 * first.health[int(0.99 * len(first.health))], 100, "{:.0f} ms"
    )
    yield from memory_criteria(first.memory)
    neither = sum(count for status, count in over.load.statuses.items() if status not in ("200", "503"))
    yield at_most("responses other than 200 and 503 under overload", neither, 0, "{:.0f}")
    yield at_least("throughput after overload / before", again.load.rate / first.load.rate, 0.9, "{:.2f}")
    failed = sum(count for status, count in reloaded.load.statuses.items() if status != "200")
    yield at_most("responses other than 200 while reloading", failed, 0, "{:.0f}")


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


def measure_fairness(options: argparse.Namespace) -> None:
    """Print the latencies of one client's short sentences, alone and beside two clients with long texts."""
    rows, worst = [["beside", "requests", *(f"p{share * 100:.0f}, ms" for share in SHARES)]], 0.0
    pair = languages(options.run)
    with serving(options) as server:
        modest = Workload(server.port, [(SENTENCE, *pair)])
        in_process(closed_loop, modest, 1, 2)
        for name, text in GREEDY.items():
            greedy = Workload(server.port, [(text, *pair)])
            clients = threading.Thread(
                target=in_process, args=(closed_loop, greedy, 2 if text else 0, options.seconds)
            )
            clients.start()
            time.sleep(1)
            load = in_process(closed_loop, modest, 1, options.seconds - 2)
            clients.join()
            worst = max(worst, load.percentile(0.95))
            latencies = (f"{1000 * load.percentile(share):,.0f}" for share in SHARES)
            rows.append([name, f"{len(load.latencies):,}", *latencies])
    print_table(rows)
    print_criteria([at_most("the sentence, p95", worst, 1.0, "{:.2f} s")])


def main() -> None:
    options = parse()
    hide_gpus()
    if options.fairness:
        print(f"{describe(None)}\n{same_command(for_page=True)}", flush=True)
        measure_fairness(options)
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"{describe(None)}\n{same_command(for_page=True)}", flush=True)
        requests, rates = [], []
        for run, file in ((options.run, options.input), (options.second, options.second_input)):
            if run is None:
                continue
            task = Task(Path(tempfile.mkdtemp(dir=folder)), run)
            in_process(task.write, options.data_dir, file, options.sentences)
            rates.append(
                in_process(translate_with, task, "ctranslate2", options.beam_size, options.repeat).rate
            )
            log(f"offline: {rates[-1]:.1f} sentences/s")
            pair = in_process(languages, run)
            requests.append([(sentence, *pair) for sentence in task.sentences()])
        offline = harmonic_mean(rates)
        num = sum(map(len, requests))
        with serving(options) as server:
            workload = Workload(server.port, list(chain(*zip(*requests, strict=False))))
            in_process(closed_loop, workload, 1, 2)
            idle = server.megabytes
            silent = run_load(server, "unread", unread, workload, UNREAD_CLIENTS, OVERLOAD_SECONDS)
            steady = (closed_loop, workload, options.clients)
            loads = [run_load(server, "load", *steady, options.seconds)]
            rate = 2 * loads[0].load.rate
            short = min(OVERLOAD_SECONDS, options.seconds)
            loads.append(run_load(server, "overload", open_loop, workload, rate, short))
            loads.append(run_load(server, "again", *steady, short))
            with reloading(server):
                loads.append(run_load(server, "reload", *steady, short))
    print(f"{num:,} sentences, beam {options.beam_size}; offline {offline:,.1f} sentences/s\n")
    heads = [f"p{share * 100:.0f}, ms" for share in SHARES]
    names = [
        f"{options.clients} clients",
        f"{rate:.0f} requests/s",
        f"{options.clients} clients again",
        f"{options.clients} clients, reloading",
    ]
    head = ["", "sentences/s", *heads, "mean batch size", "refused", "failed", "server CPU", "client CPU"]
    print_table([head, *(row(name, result) for name, result in zip(names, loads, strict=True))])
    print_criteria(criteria(offline, idle, server, silent, loads))


if __name__ == "__main__":
    main()
