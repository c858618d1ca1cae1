"""How fast the Keras engine translates, and whether its cache changes anything.

Translates a run's own test pairs greedily in two ways, in turns: with the key–value cache (what ``ptenmt
translate`` does), and by running the whole model again for every token. Prints sentences a second of both,
their ratio, and how many translations differ.

    python benchmarks/decoding.py [--run base] [--sentences 256] [--rounds 3]
"""

import argparse
import os
import platform
import statistics
import time
from datetime import UTC, datetime

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from ptenmt.corpus.pairs import load_split
from ptenmt.evaluation.evaluation import encode_pairs
from ptenmt.runs import find_run
from ptenmt.tokenizers import PAD, START, UNK
from ptenmt.translation import Translator
from ptenmt.translation.search import Hypothesis, greedy_search

BATCH = 64


def recompute(model, source: np.ndarray, limits: list[int]) -> list[Hypothesis]:
    """Greedy search in which every step runs the decoder over all tokens so far."""
    ids = tf.TensorSpec([None, None], tf.int64)
    if not hasattr(recompute, "compiled"):
        recompute.compiled = tf.function(lambda s, t: model((s, t))[:, -1], input_signature=[ids, ids])

    def next_logits(tokens, fed):
        fed = np.concatenate([fed, tokens[:, None]], axis=1)
        return recompute.compiled(source, fed).numpy(), fed

    return greedy_search(next_logits, np.zeros((len(source), 0), np.int64), limits, [PAD, UNK, START])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run")
    parser.add_argument("--sentences", type=int, default=256, help="how many of the test pairs")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    run = find_run(options.run)
    config = run.config()
    pairs = load_split(config.data, config.seed, "test")[: options.sentences]
    translator = Translator.load(run)
    encoded, _ = encode_pairs(translator.tokenizers, pairs, config.model.max_positions)
    order = np.argsort(encoded.source.lengths, kind="stable")
    batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]

    def translate_all(translate) -> tuple[list[list[int]], float]:
        started = time.perf_counter()
        rows = []
        for batch in batches:
            limits = [translator.limit(int(length)) for length in encoded.source.lengths[batch]]
            rows += [hypothesis.ids for hypothesis in translate(encoded.source.padded(batch), limits)]
        return rows, time.perf_counter() - started

    ways = {
        "with cache": translator.engine.translate,
        "recomputed": lambda source, limits: recompute(translator.engine.model, source, limits),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    rows = {}
    for translate in ways.values():
        translate_all(translate)  # compile
    for _ in range(options.rounds):
        for name, translate in ways.items():
            rows[name], seconds = translate_all(translate)
            times[name].append(seconds)
    different = sum(one != other for one, other in zip(*rows.values(), strict=True))
    print(f"{datetime.now(UTC):%Y-%m-%d}, run {run.name}, {len(pairs)} test sentences, batches of {BATCH}")
    versions = f"TensorFlow {tf.__version__}, Keras {keras.__version__}"
    print(f"{os.cpu_count()} CPUs, {platform.machine()}, {versions}")
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in medians.items():
        print(f"{name:>12}: {len(pairs) / seconds:8.1f} sentences/s (median of {options.rounds})")
    print(f"{'ratio':>12}: {medians['recomputed'] / medians['with cache']:8.1f}")
    print(f"{'different':>12}: {different:6} translations")


if __name__ == "__main__":
    main()
