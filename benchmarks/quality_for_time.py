"""Translation quality of presets after given minutes of training on this machine's CPU.

Trains each preset with ``ptenmt train``, stops it with SIGTERM at each mark, scores it on the validation
pairs, and resumes the training. Start-up, compilation, preparation of the data, the preset's validations,
saving and resuming count; scoring at the marks does not. Run it on an otherwise idle machine.

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
    parser.add_argument("--folder", type=Path, help="keep the runs in this folder (default: delete them)")
    return parser.parse_args()


def ptenmt(*words: str) -> list[str]:
    return [sys.executable, "-m", "ptenmt", *words]


def train_for(seconds: float, command: list[str]) -> float:
    """Train for ``seconds`` or to the end of the training. Returns the seconds until the process exited."""
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
    """The facts of ``ptenmt evaluate`` for a run's latest weights on the validation pairs."""
    words = ["--run", str(run), "--split", "validation", "--checkpoint", "latest", "--json", "--quiet"]
    answer = subprocess.run(ptenmt("evaluate", *words), check=True, stdout=subprocess.PIPE)
    return json.loads(answer.stdout)


def epochs_of(run: Path) -> float:
    """Epochs of a run so far, from its history."""
    last = json.loads((run / "history.jsonl").read_text().splitlines()[-1])
    return last["step"] / json.loads((run / "run.json").read_text())["steps_per_epoch"]


def measure(preset: str, options: argparse.Namespace, folder: Path) -> Iterator[list[str]]:
    """Train and score one preset; yields a row of the table for each mark."""
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
