"""How well presets translate after so many minutes of training, on the processor of this machine.

Each preset in turn is trained with ``ptenmt train`` for as long as it takes to the first mark, stopped with
SIGTERM, scored on the validation pairs, and trained on to the next mark, where it resumes. All that training
takes is counted: starting, compiling, preparing the data, the validations of the preset, saving, resuming.
Scoring at the marks is not. Nothing else should be at work beside it.

    python benchmarks/quality_for_time.py --set data.data_dir=DIR --set tokenizer.path=DIR
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from baselines.machine import describe, same_command

SCORES = ["BLEU tokenized", "chrF2++ tokenized", "BLEU detokenized", "chrF2++ detokenized"]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=["base", "small"], help="presets or YAML files")
    parser.add_argument("--minutes", nargs="+", type=float, default=[15, 25, 30, 45, 60], help="the marks")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="for all presets")
    parser.add_argument("--folder", type=Path, help="keep the runs there; by default they are deleted")
    return parser.parse_args()


def ptenmt(*words: str) -> list[str]:
    return [sys.executable, "-m", "ptenmt", *words]


def train_for(seconds: float, command: list[str]) -> float:
    """Train for so long or to the training's end. Returns the seconds it took, to the exit."""
    started = time.monotonic()
    with subprocess.Popen(command) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
    if process.returncode not in (0, 128 + signal.SIGTERM):
        raise SystemExit(f"the training failed with exit code {process.returncode}")
    return time.monotonic() - started


def score(run: Path) -> dict[str, Any]:
    """What ``ptenmt evaluate`` says of a run's newest weights on its validation pairs."""
    report = run.with_suffix(".json")
    words = ["--run", str(run), "--split", "validation", "--checkpoint", "latest", "--report", str(report)]
    subprocess.run(ptenmt("evaluate", *words, "--quiet"), check=True, stdout=subprocess.DEVNULL)
    return json.loads(report.read_text())


def epochs_of(run: Path) -> float:
    """Epochs behind a run, to some steps, as its history tells."""
    last = json.loads((run / "history.jsonl").read_text().splitlines()[-1])
    return last["step"] / json.loads((run / "run.json").read_text())["steps_per_epoch"]


def measure(preset: str, options: argparse.Namespace, folder: Path) -> Iterator[list[str]]:
    """Train and score one preset; a row of the table a mark."""
    run, seconds = folder / Path(preset).stem, 0.0
    settings = [f"data.cache_dir={folder / 'cache'}", *options.set]
    command = ptenmt("train", "--config", preset, "--run", str(run), "--quiet")
    command += [word for setting in settings for word in ("--set", setting)]
    for mark in options.minutes:
        seconds += train_for(60 * mark - seconds, command)
        report = score(run)
        values = {f"{each['name']} {each['text']}": f"{each['value']:.2f}" for each in report["scores"]}
        scores = [values.get(name, "–") for name in SCORES]
        yield [run.name, f"{seconds / 60:.1f}", f"{epochs_of(run):.1f}", f"{report['loss']:.3f}", *scores]


def main() -> None:
    options = parse()
    rows = [["preset", "minutes", "epochs", "loss", *SCORES]]
    with tempfile.TemporaryDirectory() as temporary:
        for preset in options.presets:
            for row in measure(preset, options, (options.folder or Path(temporary)).absolute()):
                print("  ".join(row), file=sys.stderr, flush=True)
                rows.append(row)
    print(f"{describe(None)}\n{same_command(for_page=True)}\n")
    rows.insert(1, ["---"] + ["---:"] * (len(rows[0]) - 1))
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))


if __name__ == "__main__":
    main()
