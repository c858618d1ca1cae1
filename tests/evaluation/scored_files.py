"""Files of hypotheses and references, and what others say of them."""

import json
import subprocess
import sys
from pathlib import Path

HYPOTHESES = ["the cat sees the dog .", "is n't it a house ?", "we are here", "no , no"]
REFERENCES = ["the cat sees a dog .", "is n't this a house ?", "we are all here .", "no , no !"]
OTHERS = ["a cat sees the dog .", "", "here we are .", "never !"]


def write(file: Path, lines: list[str]) -> Path:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def sacrebleu_command(folder: Path, form: str, *options: str, references: int = 1) -> list[float]:
    """What the command sacrebleu says of written texts, to the last digit."""
    numbers = ["", *range(2, references + 1)]
    files = [str(folder / f"{form}.reference{number}.txt") for number in numbers]
    metrics = ["-m", "bleu", "chrf", "ter", "--chrf-word-order", "2", "-w", "17", *options]
    answer = subprocess.run(
        [sys.executable, "-m", "sacrebleu", *files, "-i", str(folder / f"{form}.hypotheses.txt"), *metrics],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return [score["score"] for score in json.loads(answer.stdout)]
