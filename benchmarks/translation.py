"""Translation speed on this machine's CPU, compared with baselines; start, memory and end of the command.

Systems take turns, each turn in its own process, so that noise affects all of them equally:

  tour loop          docs/tour/transformer.py: one sentence at a time, no cache, nothing compiled
  Keras engine       ptenmt's reference engine, from sentences to translations
  engine             ptenmt's CTranslate2 engine, from sentences to translations
  raw                ctranslate2.Translator.translate_batch on prepared tokens, with its best batch size
  ptenmt translate   the whole command: reading a file, tokenizing, translating, detokenizing, writing

Loading is not counted: the command's time for a file of one line is subtracted. Ratios are medians over the
rounds. All but the tour loop translate the run's test pairs (or the sentences of --input), the fast ones
several times.

    python benchmarks/translation.py --run DIR/base [--data-dir DIR] [--memory]
"""

import argparse
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from baselines.criteria import Criterion, at_least, at_most, print_criteria, print_table
from baselines.machine import describe, same_command
from baselines.processes import hide_gpus, in_process, log
from baselines.ptenmt_translation import translate_with
from baselines.raw_ctranslate2 import SETTINGS, Setting, translate_raw
from baselines.tour_translation import translate_with_tour
from baselines.translation_task import Measured, Task

SENTENCE = "este modelo parece funcionar bem"
SEARCHES = {1: "greedy", 4: "beam 4"}
LOOP = "tour loop, greedy"
STARTS = 15
MANY_LINES = [50_000, 500_000]

Rates = dict[str, list[Measured]]
"""For each system, one turn per round."""


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run", required=True, help="the trained run")
    parser.add_argument("--data-dir", help="TFDS folder with the run's corpus, if it was moved")
    parser.add_argument("--input", help="a file of sentences, instead of the run's test pairs")
    parser.add_argument("--sentences", type=int, help="use only the first N")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each system (default: 3)")
    parser.add_argument("--repeat", type=int, default=10, help="repetitions for fast systems (10)")
    parser.add_argument("--loop-sentences", type=int, default=24, help="for the tour loop (default: 24)")
    parser.add_argument(
        "--memory",
        type=int,
        nargs="*",
        metavar="LINES",
        help="also measure peak memory for files of so many lines (minutes; default: 50000 500000)",
    )
    return parser.parse_args()


class Ended(NamedTuple):
    """Time and memory of a finished process."""

    seconds: float
    peak_memory: int
    """Peak resident memory in bytes."""


def command(task: Task, *words: str) -> Ended:
    """Run ``ptenmt translate`` with these arguments."""
    log = task.folder / "log.txt"
    whole = [sys.executable, "-m", "ptenmt", "translate", "--run", task.run, *words]
    started = time.perf_counter()
    with log.open("w") as errors:
        child = subprocess.Popen(whole, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(whole)} failed:\n{log.read_text()[-3000:]}")
    return Ended(time.perf_counter() - started, _bytes(usage))


def translate_file(task: Task, file: Path, beam_size: int) -> Ended:
    """Run the command on a file."""
    output = task.folder / "output.txt"
    output.unlink(missing_ok=True)
    words = "--input", str(file), "--output", str(output), "--beam-size", str(beam_size)
    return command(task, *words)


def whole_command(task: Task, file: Path, num_lines: int, beam_size: int) -> Measured:
    """Run the command on a file; start-up is subtracted."""
    seconds = translate_file(task, file, beam_size).seconds
    return Measured(num_lines, seconds - translate_file(task, task.file_of(1), beam_size).seconds)


def best_setting(task: Task, beam_size: int, options: argparse.Namespace) -> Setting:
    """Find CTranslate2's fastest batch size in two rounds."""
    repeat = max(1, options.repeat // 5)
    rates: dict[Setting, list[float]] = {setting: [] for setting in SETTINGS}
    for _ in range(2):
        for setting, found in rates.items():
            found.append(in_process(translate_raw, task, beam_size, repeat, setting).rate)
    best = max(rates, key=lambda setting: statistics.mean(rates[setting]))
    for setting, found in rates.items():
        shown = ", ".join(f"{rate:,.0f}" for rate in found)
        log(f"raw, {SEARCHES[beam_size]}, batches of {setting}: {shown} sentences/s")
    return best


def systems(
    task: Task, num_sentences: int, settings: dict[int, Setting], options: argparse.Namespace
) -> dict[str, Callable[[], Measured]]:
    """The turn of each system."""
    num_lines = num_sentences * options.repeat
    file = task.file_of(num_lines)
    turns = {LOOP: partial(in_process, translate_with_tour, task, options.loop_sentences)}
    for beam, search in SEARCHES.items():
        engine, raw = (translate_with, task), (translate_raw, task)
        turns |= {
            f"Keras engine, {search}": partial(in_process, *engine, "keras", beam, 1),
            f"engine, {search}": partial(in_process, *engine, "ctranslate2", beam, options.repeat),
            f"raw, {search}": partial(in_process, *raw, beam, options.repeat, settings[beam]),
            f"ptenmt translate, {search}": partial(whole_command, task, file, num_lines, beam),
        }
    return turns


def measure(turns: dict[str, Callable[[], Measured]], rounds: int) -> Rates:
    """Run all systems in turns."""
    rates: Rates = {name: [] for name in turns}
    for number in range(1, rounds + 1):
        for name, turn in turns.items():
            rates[name].append(turn())
            log(f"round {number} {name:>24}: {rates[name][-1].rate:10,.2f} sentences/s")
    return rates


def ratio(rates: Rates, name: str, other: str) -> float:
    """The median over the rounds of the ratio of two systems."""
    pairs = zip(rates[name], rates[other], strict=True)
    return statistics.median(one.rate / two.rate for one, two in pairs)


def table(rates: Rates) -> list[list[str]]:
    rows = [["", "sentences/s, median (range)", "tokens per sentence", "× tour loop", "of raw"]]
    for name, turns in rates.items():
        values = [turn.rate for turn in turns]
        digits = 0 if min(values) >= 100 else 2
        middle, least, most = (
            f"{value:,.{digits}f}" for value in (statistics.median(values), min(values), max(values))
        )
        raw = f"raw, {name.partition(', ')[2]}"
        is_fast = name.startswith(("engine", "raw", "ptenmt"))
        rows.append(
            [
                name,
                f"{middle} ({least}–{most})",
                f"{turns[0].tokens / turns[0].sentences:.1f}" if turns[0].tokens else "–",
                f"{ratio(rates, name, LOOP):,.0f}",
                f"{ratio(rates, name, raw):.0%}" if is_fast else "–",
            ]
        )
    return rows


def speed_criteria(rates: Rates) -> Iterator[Criterion]:
    for search in SEARCHES.values():
        value = ratio(rates, f"ptenmt translate, {search}", f"raw, {search}")
        yield at_least(f"ptenmt translate, {search}, of raw", value, 0.9, "{:.2f}")
    value = ratio(rates, "ptenmt translate, greedy", LOOP)
    yield at_least("ptenmt translate, greedy, × tour loop", value, 3000, "{:,.0f}")
    value = ratio(rates, "Keras engine, greedy", LOOP)
    yield at_least("Keras engine, greedy, × tour loop", value, 100, "{:,.0f}")
    value = ratio(rates, "Keras engine, greedy", "Keras engine, beam 4")
    yield at_most("Keras engine, greedy, × beam 4", value, 5, "{:.2f}")


def start_criteria(task: Task) -> Iterator[Criterion]:
    """Measure the command on one sentence with default options."""
    command(task, SENTENCE)  # loads the files into the page cache
    starts = [command(task, SENTENCE) for _ in range(STARTS)]
    seconds = statistics.median(start.seconds for start in starts)
    name = f'ptenmt translate "{SENTENCE}"'
    yield at_most(f"{name}, median of {STARTS}", seconds, 0.35, "{:.2f} s")
    yield at_most(f"{name}, peak memory", max(start.peak_memory for start in starts) / 1e6, 80, "{:.0f} MB")


def stop_criteria(task: Task) -> Iterator[Criterion]:
    """Measure how soon the command has saved its lines and ended after a signal, in the midst of a file."""
    file, output = task.file_of(MANY_LINES[0]), task.folder / "stopped.txt"
    record = output.with_name(f".{output.name}.partial.json")
    words = "translate", "--run", task.run, "--input", str(file), "--output", str(output), "--beam-size", "4"
    longest = 0.0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([sys.executable, "-m", "ptenmt", *words], stderr=subprocess.DEVNULL) as child:
            while not record.exists():
                if child.poll() is not None:
                    raise SystemExit(f"ptenmt {' '.join(words)} ended before it was stopped")
                time.sleep(0.01)
            started = time.perf_counter()
            child.send_signal(number)
            child.wait()
            longest = max(longest, time.perf_counter() - started)
        for left in task.folder.glob(f".{output.name}.partial*"):
            left.unlink()
    yield at_most("ptenmt translate ends after a signal, longest of 3", longest, 2, "{:.2f} s")


def memory_criteria(task: Task, numbers: list[int]) -> Iterator[Criterion]:
    """Measure the command on growing files, with greedy search; peak memory must not grow."""
    first, *others = ((number, _peak_at(task, number)) for number in numbers)
    for number, peak in others:
        what = f"peak memory at {number:,} lines ({first[1]:.0f} MB at {first[0]:,})"
        yield at_most(what, peak, 1.05 * first[1], "{:.0f} MB")


def _peak_at(task: Task, num_lines: int) -> float:
    file = task.file_of(num_lines)
    peak = translate_file(task, file, 1).peak_memory / 1e6
    file.unlink()
    log(f"peak memory at {num_lines:,} lines: {peak:.1f} MB")
    return peak


def _bytes(usage: resource.struct_rusage) -> int:
    return usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * 1024


def main() -> None:
    options = parse()
    hide_gpus()
    with tempfile.TemporaryDirectory() as folder:
        task = Task(Path(folder), options.run)
        num_sentences = in_process(task.write, options.data_dir, options.input, options.sentences)
        print(f"{describe(None)}\n{same_command(for_page=True)}", flush=True)
        criteria = [*start_criteria(task), *stop_criteria(task)]
        settings = {beam: best_setting(task, beam, options) for beam in SEARCHES}
        rates = measure(systems(task, num_sentences, settings, options), options.rounds)
        criteria += speed_criteria(rates)
        if options.memory is not None:
            criteria += memory_criteria(task, options.memory or MANY_LINES)
    best = " and ".join(f"{setting} ({SEARCHES[beam]})" for beam, setting in settings.items())
    print(
        f"{num_sentences:,} sentences, × {options.repeat} for fast systems; {options.loop_sentences} for the "
        f"tour loop; {options.rounds} rounds; raw CTranslate2 in batches of {best}\n"
    )
    print_table(table(rates))
    print_criteria(criteria)
    own = _bytes(resource.getrusage(resource.RUSAGE_SELF))
    print(f"Peak memory includes that of the measuring process: at least {own / 1e6:.0f} MB.")


if __name__ == "__main__":
    main()
