"""Training speed on this machine's CPU, compared with baselines.

Processes take turns (A B C D E A B C D E …), so that noise affects all of them equally:

  tour           the Transformer in one file, docs/tour/transformer.py: random batches of 64
  ptenmt         ptenmt.train with batch.tokens=4096
  PyTorch        nn.Transformer of the same sizes on ptenmt's batches, default settings (with --torch-python)
  PyTorch tuned  the same with dropout only where ptenmt has it, and an allocator that keeps freed memory
  products       only the matrix products of ptenmt's batches: the upper bound

Tokens are real target tokens: labels that are not padding. Compilation, warm-up, validation and saving are
not counted. Memory is the peak of a process.

    python benchmarks/training.py --data-dir DIR --tokenizer DIR --torch-python DIR/bin/python
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from baselines.interleave import InterleavedProcess, Turn
from baselines.machine import describe, has_amx, same_command
from baselines.task import Sizes, Task, count_labels

import ptenmt
from ptenmt.config import Config
from ptenmt.config.loading import dump_config
from ptenmt.data.batches import BatchPlan, encode_training_pairs, learn_tokenizers
from ptenmt.data.corpus import fetch_sources, load_corpus
from ptenmt.data.store import corpus_cache
from ptenmt.errors import PtenmtError

BASELINES = Path(__file__).parent / "baselines"


class Entry(NamedTuple):
    """The program of a system."""

    script: list[str]
    """File in ``baselines/``, and its arguments after the task's folder."""
    environment: dict[str, str] = {}


# By default glibc returns large arrays to the kernel, which clears their pages again in every step.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40)}
ENTRIES = {
    "tour": Entry(["tour_training.py"]),
    "ptenmt": Entry(["ptenmt_training.py"]),
    "PyTorch": Entry(["torch_training.py", "default"]),
    "PyTorch tuned": Entry(["torch_training.py", "tuned"], KEEP_MEMORY),
    "products": Entry(["matrix_products.py"]),
}
MAX_RATE = 50_000  # tokens per second; determines the number of planned epochs
DEMO = ["data.source=demo", "tokenizer.kind=sentencepiece", "tokenizer.vocabulary_size=1200"]


@dataclass(frozen=True)
class Result:
    """The turns of one system."""

    turns: list[Turn]

    @property
    def rates(self) -> list[float]:
        """Tokens per second of each turn."""
        return [turn.tokens / turn.seconds for turn in self.turns]

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    @property
    def gigaflops(self) -> float:
        return statistics.median(turn.operations / turn.seconds for turn in self.turns) / 1e9

    @property
    def peak_memory(self) -> int:
        return max(turn.peak_memory for turn in self.turns)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", help="TFDS folder with ted_hrlr_translate; by default the demo corpus")
    parser.add_argument("--tokenizer", help="folder of the published tokenizer (with --data-dir)")
    parser.add_argument("--torch-python", help="python of an environment with torch and numpy")
    parser.add_argument("--preset", choices=["base", "paper"], default="base", help="sizes of the model")
    parser.add_argument("--precision", choices=["float32", "mixed_bfloat16"], default="float32")
    parser.add_argument("--force", action="store_true", help="allow mixed_bfloat16 without AMX-bf16")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each system (default: 3)")
    parser.add_argument("--seconds", type=float, default=20, help="duration of a turn (default: 20)")
    parser.add_argument("--warmup", type=float, default=20, help="seconds not counted (default: 20)")
    parser.add_argument("--only", nargs="+", choices=list(ENTRIES), default=list(ENTRIES), help="systems")
    parser.add_argument(
        "--set", action="append", default=[], metavar="OPTION=VALUE", help="options of ptenmt"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table for training.md")
    options = parser.parse_args()
    if bool(options.data_dir) != bool(options.tokenizer):
        parser.error("--data-dir and --tokenizer go together")
    return options


def training_config(options: argparse.Namespace, cache: Path) -> Config:
    """The config of ptenmt; the other systems have the same sizes."""
    published = [f"data.data_dir={options.data_dir}", f"tokenizer.path={options.tokenizer}"]
    overrides = [
        *(published if options.data_dir else DEMO),
        f"data.cache_dir={cache}",
        "batch.tokens=4096",
        "training.epochs=1000",
        "decoding.max_length=8",  # the demo corpus is validated within a turn
        *([] if options.precision == "float32" else [f"machine.precision={options.precision}"]),
        *options.set,
    ]
    return ptenmt.load_config(options.preset, overrides)


def write_task(task: Task, config: Config, options: argparse.Namespace) -> int:
    """Write the task with data prepared like ``ptenmt.train``'s. Returns the number of training pairs."""
    task.config_file.write_text(dump_config(config))
    tokenizer_options = fetch_sources(config)
    corpus = load_corpus(config.data, config.seed)
    cache = corpus_cache(config.data.cache_dir)
    tokenizers = learn_tokenizers(tokenizer_options, corpus.train, config.data, cache)
    longest = config.model.max_positions
    pairs, _ = encode_training_pairs(tokenizers, corpus.train, config.data, longest, cache)
    plan = BatchPlan(pairs, config.batch, config.seed)
    batches = list(plan.batches(0))
    counts = [[count_labels(target) for _, target in batches]]
    needed = MAX_RATE * (options.warmup + options.rounds * options.seconds)
    for epoch in range(1, 1 + int(needed / sum(counts[0]))):
        counts.append([count_labels(target) for _, target in plan.batches(epoch)])
    model = config.model
    sizes = Sizes(
        num_layers=model.num_layers,
        d_model=model.d_model,
        d_ff=model.d_ff,
        num_heads=model.num_heads,
        dropout=model.dropout,
        max_positions=model.max_positions,
        source_vocabulary=tokenizers.source.vocabulary_size,
        target_vocabulary=tokenizers.target.vocabulary_size,
    )
    task.write(sizes, options.precision, batches, counts)
    return len(pairs)


def pythons(options: argparse.Namespace) -> dict[str, str]:
    """The chosen systems and the Python interpreter of each; reports skipped ones."""
    chosen = {name: sys.executable for name in ENTRIES if name in options.only}
    torch = [name for name in chosen if name.startswith("PyTorch")]
    if not torch:
        return chosen
    if options.torch_python is None:
        print("PyTorch is skipped: no --torch-python", file=sys.stderr)
        return {name: python for name, python in chosen.items() if name not in torch}
    subprocess.run([options.torch_python, "-c", "import torch, numpy"], check=True)
    return chosen | dict.fromkeys(torch, options.torch_python)


def measure(task: Task, chosen: dict[str, str], options: argparse.Namespace) -> dict[str, Result]:
    """Run all systems in turns."""
    results = {name: Result([]) for name in chosen}
    with ExitStack() as processes:
        started = {}
        for name, python in chosen.items():
            entry = ENTRIES[name]
            command = [python, str(BASELINES / entry.script[0]), str(task.folder), *entry.script[1:]]
            process = InterleavedProcess(command, task.folder / f"{name}.log", entry.environment)
            started[name] = processes.enter_context(process)
            started[name].turn(options.warmup)
        for number in range(1, options.rounds + 1):
            for name, process in started.items():
                turn = process.turn(options.seconds)
                results[name].turns.append(turn)
                rate = turn.tokens / turn.seconds
                print(f"round {number} {name:>13}: {rate:8,.0f} tokens/s", file=sys.stderr)
    return results


def table(results: dict[str, Result]) -> list[list[str]]:
    """The headings and a row for each system."""
    baselines = {name: f"× {name}" for name in ("tour", "PyTorch", "PyTorch tuned") if name in results}
    ceiling = {"products": "of the products"} if "products" in results else {}
    rows = [["", "tokens/s, median (range)", *ceiling.values(), *baselines.values(), "peak memory"]]
    for name, result in results.items():
        row = [name, f"{result.rate:,.0f} ({min(result.rates):,.0f}–{max(result.rates):,.0f})"]
        row += [f"{result.rate / results[other].rate:.0%}" for other in ceiling]
        row += [f"{result.rate / results[other].rate:.2f}" for other in baselines]
        rows.append([*row, f"{result.peak_memory / 2**30:.2f} GiB"])
    return rows


def show(rows: list[list[str]], markdown: bool) -> None:
    if markdown:
        rows = [rows[0], ["---"] + ["---:"] * (len(rows[0]) - 1), *rows[1:]]
        print("\n".join(f"| {' | '.join(row)} |" for row in rows))
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def main() -> None:
    options = parse()
    if options.precision == "mixed_bfloat16" and not (has_amx() or options.force):
        print("this CPU has no AMX-bf16: mixed_bfloat16 is skipped (run it with --force)")
        return
    chosen = pythons(options)
    with tempfile.TemporaryDirectory() as folder:
        task = Task(Path(folder))
        num_pairs = write_task(task, training_config(options, task.folder / "cache"), options)
        results = measure(task, chosen, options)
    corpus = "TED-sized corpus" if options.data_dir else "demo corpus"
    has_torch = any(name.startswith("PyTorch") for name in chosen)
    print(
        f"{describe(options.torch_python if has_torch else None)}\n{same_command(options.markdown)}\n"
        f"{corpus}, {num_pairs:,} pairs, {options.preset}, {options.precision}, "
        f"{options.rounds} turns of {options.seconds:g} s each\n"
    )
    show(table(results), options.markdown)
    if "products" in results:
        print(f"\nproducts: {results['products'].gigaflops:,.0f} GFLOP/s")


if __name__ == "__main__":
    try:
        main()
    except PtenmtError as error:
        raise SystemExit(f"{error.message}\n{error.hint or ''}") from error
