"""Perplexity of next-word models on held-out text, compared with an interpolated trigram model.

    python benchmarks/next_word.py --text english.txt --words 200000

Only the first --words words of the text are used. The first 80% of the windows are for training; the word
after each of the others is predicted, if the training part contains it. Results: next_word.md.
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ptenmt.config import Config
from ptenmt.config.loading import load_config
from ptenmt.data.word_windows import read_prose, split_for_windows
from ptenmt.training.session import train

VARIANTS = {
    "pooled": [],
    "causal": ["model.prediction=causal", "data.stride=20"],
    "causal, stride 5": ["model.prediction=causal", "data.stride=5"],
}
WEIGHTS = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]


class Trigram:
    """``λ₃ p(w | u, v) + λ₂ p(w | v) + λ₁ p(w) + λ₀ / V`` of relative frequencies (Jelinek, Mercer 1980)."""

    def __init__(self, words: Sequence[str]) -> None:
        self.total, self.size = len(words), len(set(words))
        self.counts = [
            Counter(zip(*(words[place:] for place in range(order + 1)), strict=False)) for order in range(3)
        ]
        self.before = [Counter(), Counter(), Counter()]
        for order in (1, 2):
            for gram, count in self.counts[order].items():
                self.before[order][gram[:-1]] += count

    def parts(self, words: Sequence[str]) -> np.ndarray:
        """The four estimates of every known word from the third on: [N, 4]."""
        rows = []
        for gram in zip(words, words[1:], words[2:], strict=False):
            unigram = self.counts[0][gram[2:]]
            if not unigram:
                continue
            bigram = self.counts[1][gram[1:]] / max(self.before[1][gram[1:2]], 1)
            trigram = self.counts[2][gram] / max(self.before[2][gram[:2]], 1)
            rows.append((1 / self.size, unigram / self.total, bigram, trigram))
        return np.array(rows)


def trigram_perplexity(
    training: Sequence[str], held_out: Sequence[str], window: int
) -> tuple[float, list[float]]:
    """Perplexity and weights; the weights are tuned on the last tenth of the training part, held out."""
    cut = len(training) * 9 // 10
    tuning = Trigram(training[:cut]).parts(training[cut:])
    best: tuple[float, list[float]] = (math.inf, [])
    for three, two in product(WEIGHTS, WEIGHTS):
        if three + two > 0.95:
            continue
        weights = [0.01, 0.99 - three - two, two, three]
        loss = -np.log(tuning @ weights).mean()
        best = min(best, (loss, weights))
    parts = Trigram(training).parts(held_out[window - 2 :])
    return math.exp(-np.log(parts @ best[1]).mean()), best[1]


def trained(config: Config, run: Path) -> tuple[float, int, float]:
    """The lowest held-out loss, its epoch, and the training time in minutes."""
    started = time.perf_counter()
    history = train(config, run).history
    best = min(history, key=lambda line: line["validation"]["loss"])
    return best["validation"]["loss"], best["epoch"], (time.perf_counter() - started) / 60


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--variants", nargs="+", default=["pooled", "causal"], choices=VARIANTS)
    parser.add_argument(
        "--set", dest="overrides", action="append", default=[], help="options of all variants"
    )
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        config = load_config("next-word", [f"data.path={given.text}", *given.overrides])
        words = read_prose(config.data, config.tokenizer.punctuation)[: given.words]
        text = folder / "text.txt"
        text.write_text("\n".join(words), encoding="utf-8")
        common = [f"data.path={text}", "validation.patience=2", *given.overrides]
        training, held_out = split_for_windows(words, config.data.window)
        print(f"{len(words):,} words, {len(set(training)):,} distinct ones in the training part")
        perplexity, weights = trigram_perplexity(training, held_out, config.data.window)
        shown = " ".join(f"{weight:.2f}" for weight in weights)
        print("| model | held-out perplexity | best epoch | minutes |\n| --- | ---: | ---: | ---: |")
        print(f"| trigram (weights {shown}) | {perplexity:,.1f} | | |")
        for variant in given.variants:
            loss, epoch, minutes = trained(
                load_config("next-word", [*common, *VARIANTS[variant]]), folder / variant.replace(" ", "-")
            )
            print(f"| {variant} | {math.exp(loss):,.1f} | {epoch} | {minutes:.1f} |", flush=True)


if __name__ == "__main__":
    main()
