"""Memory and time to prepare large corpora, and to start a second training from the cache.

Generates files of 50,000 and 5,000,000 sentence pairs and starts two trainings on each: the first reads,
prepares and tokenizes the text and learns a vocabulary, the second finds all of it in the cache. Each is a
separate process, stopped after some steps. Prints peak private memory of the process and its children
(RssAnon from /proc, sampled; without mapped files), seconds until the corpus is ready and until the first
step, and the mean number of busy cores until the corpus is ready. Linux only.

    python benchmarks/large_corpus.py [--pairs 50000 5000000] [--steps 100] [--folder /tmp]
"""

import argparse
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

OPTIONS = {
    "data.source": "files",
    "tokenizer.kind": "sentencepiece",
    "tokenizer.shared": True,
    "model.num_layers": 1,
    "model.d_model": 64,
    "model.num_heads": 4,
    "model.d_ff": 128,
    "model.max_positions": 256,
    "batch.tokens": 4096,
}


def generate(file: Path, count: int) -> None:
    """Write distinct pairs, each of one to five sentences of the demo corpus and a number."""
    from ptenmt.data.readers import demo_pairs

    sentences = demo_pairs("train")
    numbers = random.Random(1)
    with file.open("w", encoding="utf-8") as lines:
        for number in range(count):
            pairs = numbers.choices(sentences, k=numbers.choice((1, 1, 1, 2, 2, 3, 5)))
            source, target = (" ".join(texts) for texts in zip(*pairs, strict=True))
            lines.write(f"{number}: {source}\t{number}: {target}\n")


def train_a_little(file: str, run: str, cache: str, steps: int) -> None:
    """The measured process: print events of the training on stdout, and stop after ``steps``."""
    from ptenmt.config.loading import load_config
    from ptenmt.training.events import CorpusReady, Event, StepDone, TrainingStarted
    from ptenmt.training.session import train

    settings = OPTIONS | {"data.path": file, "data.cache_dir": cache}
    config = load_config("base", [f"{name}={value}" for name, value in settings.items()])

    def on_event(event: Event) -> None:
        if isinstance(event, CorpusReady | TrainingStarted | StepDone):
            step = event.step_in_epoch if isinstance(event, StepDone) else 0
            print(json.dumps({"event": type(event).__name__, "step": step}), flush=True)
            if step >= steps:
                os.kill(os.getpid(), signal.SIGTERM)

    train(config, run, on_event=on_event)


def private_memory(process: int) -> float:
    """Current private memory of a process and its children in MB; 0 after its end."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
        except OSError:  # the process has ended
            continue
        facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if process in (int(facts["Pid"]), int(facts["PPid"])):
            total += int(facts.get("RssAnon", "0").split()[0])
    return total / 1024


def cpu_seconds(process: int) -> float:
    """CPU time of a process and of its finished children."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def measure(file: Path, run: Path, cache: Path, steps: int) -> dict[str, float]:
    """Run one training. Returns peaks in MB, seconds until each event, CPU time until the corpus is ready."""
    arguments = [sys.executable, __file__, "--child", str(file), str(run), str(cache), "--steps", str(steps)]
    started = time.monotonic()
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout is not None
    os.set_blocking(child.stdout.fileno(), False)
    result: dict[str, float] = {"peak": 0.0}
    while child.poll() is None:
        result["peak"] = max(result["peak"], private_memory(child.pid))
        for line in child.stdout.readlines():
            if line.startswith("{"):
                result.setdefault(json.loads(line)["event"], time.monotonic() - started)
        time.sleep(0.05)
        if "CorpusReady" not in result:
            result["peak before"], result["cpu"] = result["peak"], cpu_seconds(child.pid)
    assert child.returncode == 0, f"the training ended with {child.returncode}"
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[50_000, 5_000_000])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--folder", help="for the generated pairs: 3 GB for 5,000,000, deleted afterwards")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return train_a_little(*options.child, options.steps)
    print(f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} CPUs\n")
    print(
        "| pairs | training | peak MB until ready | peak MB, total "
        "| corpus ready, s | busy cores until ready | first step, s |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="large-corpus-", dir=options.folder))
    try:
        for count in options.pairs:
            file = folder / f"{count}.tsv"
            generate(file, count)
            for name in ("first", "second"):
                found = measure(file, folder / f"{count}-{name}", folder / f"cache-{count}", options.steps)
                print(
                    f"| {count:,} | {name} | {found['peak before']:,.0f} | {found['peak']:,.0f} | "
                    f"{found['CorpusReady']:.1f} | {found['cpu'] / found['CorpusReady']:.2f} | "
                    f"{found['StepDone']:.1f} |",
                    flush=True,
                )
    finally:
        shutil.rmtree(folder)
    return None


if __name__ == "__main__":
    main()
