"""How a server does under load, beside the same engine on the same sentences as a file.

- ready: from the start of `ptenmt serve` to the first answer; idle: memory after that
- load: clients that each ask for a sentence, wait, and ask for the next, for some minutes: throughput beside
  the offline figure (ptenmt's engine on the whole file, beam alike), latencies, memory's growth
- overload: twice the throughput just measured, asked for whatever the server says: it refuses, and nothing
  else; then the first load again for some seconds: it is as fast as before

The clients are one lean process on the same cores; its share of the processor is told, and not the server's.

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from baselines.bars import Bar, at_least, at_most, show, show_bars
from baselines.http_clients import Load, Wanted, closed_loop, open_loop
from baselines.machine import describe, same_command
from baselines.processes import apart, on_processor, tell
from baselines.ptenmt_translation import translate_with
from baselines.translation_task import Measured, Task

OVERLOAD_SECONDS = 20  # and as long again
SPAN = 10
"""Seconds whose memory is averaged."""
SHARES = (0.5, 0.95, 0.99)


class Served(NamedTuple):
    """A server that runs."""

    process: subprocess.Popen
    port: int
    seconds: float
    """Until it answered."""

    def figures(self) -> dict[str, float]:
        """What it counts."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            lines = re.findall(r"^(\w+) (\S+)$", answer.read().decode(), re.MULTILINE)
        return {name: float(value) for name, value in lines}

    @property
    def megabytes(self) -> float:
        """The memory it holds (resident)."""
        return self.figures()["process_resident_memory_bytes"] / 1e6


class Watched(NamedTuple):
    """A load, and what it did to the server."""

    load: Load
    memory: list[float]
    """Megabytes, every second."""
    cpu_seconds: float
    batch: float
    """Sentences translated together, the mean."""


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run", required=True, help="the trained run")
    parser.add_argument("--data-dir", help="TFDS folder with the run's corpus, if it was moved")
    parser.add_argument("--input", help="a file of sentences, instead of the run's test pairs")
    parser.add_argument("--sentences", type=int, help="only the first so many")
    parser.add_argument("--clients", type=int, default=64, help="that ask at a time (default: 64)")
    parser.add_argument("--seconds", type=float, default=180, help="of the load (default: 180)")
    parser.add_argument("--beam-size", type=int, default=4, help="of server and file (default: 4)")
    parser.add_argument("--repeat", type=int, default=2, help="how often the file is translated (default: 2)")
    return parser.parse_args()


@contextmanager
def serving(options: argparse.Namespace) -> Iterator[Served]:
    """Start a server, and end it."""
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
            served = Served(process, port, time.perf_counter() - started)
            served.figures()
            yield served
            process.terminate()
            ended = time.perf_counter()
            process.communicate(timeout=30)
            tell(f"ended with {process.returncode} in {time.perf_counter() - ended:.1f} s")
        finally:
            process.kill()


def languages(run: str) -> tuple[str, str]:
    """The run's languages."""
    from ptenmt.runs import find_run

    data = find_run(run).config().data
    return data.source_language, data.target_language


def watched(served: Served, what: str, loop: Callable[..., Load], *arguments: Any) -> Watched:
    """Put a load on the server, from a process of its own."""
    before, memory, is_over = served.figures(), [], threading.Event()

    def watch() -> None:
        while not is_over.wait(1):
            memory.append(served.megabytes)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        load = apart(loop, *arguments)
    finally:
        is_over.set()
        watcher.join()
    after = served.figures()
    gained = {name: after[name] - before[name] for name in before if name in after}
    batches = gained["ptenmt_batch_sentences_count"]
    batch = gained["ptenmt_batch_sentences_sum"] / batches if batches else 0.0
    statuses = ", ".join(f"{count:,} × {status}" for status, count in sorted(load.statuses.items()))
    tell(f"{what}: {load.rate:.1f} sentences/s, {statuses}, {batch:.1f} together")
    return Watched(load, memory, gained["process_cpu_seconds_total"], batch)


def row(what: str, seen: Watched) -> list[str]:
    load = seen.load
    refused = sum(count for status, count in load.statuses.items() if status in ("429", "503"))
    total = sum(load.statuses.values())
    cores = os.cpu_count() or 1
    return [
        what,
        f"{load.rate:,.1f}",
        *(f"{1000 * load.percentile(share):,.0f}" if load.latencies else "–" for share in SHARES),
        f"{seen.batch:.1f}",
        f"{refused:,}",
        f"{total - refused - load.statuses.get('200', 0):,}",
        f"{seen.cpu_seconds / load.seconds / cores:.0%}",
        f"{load.cpu_seconds / load.seconds / cores:.0%}",
    ]


def bars(offline: Measured, idle: float, served: Served, loads: list[Watched]) -> Iterator[Bar]:
    first, over, again = loads
    yield at_most("ready", served.seconds, 2, "{:.2f} s")
    yield at_most("idle memory", idle, 250, "{:.0f} MB")
    yield at_least("throughput, of offline", first.load.rate / offline.rate, 0.6, "{:.2f}")
    failed = sum(count for status, count in first.load.statuses.items() if status != "200")
    yield at_most("requests not answered with 200, under load", failed, 0, "{:.0f}")
    yield from memory_bars(first.memory)
    neither = sum(count for status, count in over.load.statuses.items() if status not in ("200", "503"))
    yield at_most("overload: neither 200 nor 503", neither, 0, "{:.0f}")
    yield at_least("after it, throughput of before", again.load.rate / first.load.rate, 0.9, "{:.2f}")


def memory_bars(memory: list[float]) -> Iterator[Bar]:
    """Whether memory is flat: how far ten seconds are from the mean, and where it goes in the long run.

    What a first third allocates (threads' arenas, buffers of the largest batches) is no growth. A second's
    memory depends on the one batch that is in work; ten seconds have a hundred and more.
    """
    third = len(memory) // 3
    if third >= SPAN:
        settled = memory[third:]
        mean = fmean(settled)
        spans = [fmean(settled[begin : begin + SPAN]) for begin in range(len(settled) - SPAN + 1)]
        furthest = max(abs(span - mean) for span in spans) / mean
        what = f"memory under load after the first third, any ten seconds from their mean of {mean:.0f} MB"
        yield at_most(what, furthest, 0.05, "{:.1%}")
        growth = fmean(memory[-third:]) / fmean(memory[third:-third])
        yield at_most("its last third, of the middle one", growth, 1.05, "{:.3f}")
        tell(f"memory of a second, after the first third: {min(settled):.0f} to {max(settled):.0f} MB")


def main() -> None:
    options = parse()
    on_processor()
    with tempfile.TemporaryDirectory() as folder:
        task = Task(Path(folder), options.run)
        num = apart(task.write, options.data_dir, options.input, options.sentences)
        print(f"{describe(None)}\n{same_command(for_page=True)}", flush=True)
        offline = apart(translate_with, task, "ctranslate2", options.beam_size, options.repeat)
        tell(f"offline: {offline.rate:.1f} sentences/s")
        with serving(options) as served:
            idle = served.megabytes
            wanted = Wanted(served.port, *apart(languages, options.run), task.sentences())
            steady = (closed_loop, wanted, options.clients)
            loads = [watched(served, "load", *steady, options.seconds)]
            rate = 2 * loads[0].load.rate
            short = min(OVERLOAD_SECONDS, options.seconds)
            loads.append(watched(served, "overload", open_loop, wanted, rate, short))
            loads.append(watched(served, "again", *steady, short))
    print(f"{num:,} sentences, beam {options.beam_size}; offline {offline.rate:,.1f} sentences/s\n")
    heads = [f"p{share * 100:.0f}, ms" for share in SHARES]
    names = [
        f"{options.clients} clients",
        f"{rate:.0f} requests a second",
        f"{options.clients} clients again",
    ]
    head = ["", "sentences/s", *heads, "together", "refused", "failed", "server's CPU", "clients' CPU"]
    show([head, *(row(name, seen) for name, seen in zip(names, loads, strict=True))])
    show_bars(bars(offline, idle, served, loads))


if __name__ == "__main__":
    main()
