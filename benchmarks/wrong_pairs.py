"""Give every fifth pair another one's target, and count how many of these `ptenmt clean` scores lowest.

python benchmarks/wrong_pairs.py mix PAIRS.tsv NOISY.tsv; ptenmt clean … --keep 1 --output SCORED.tsv.gz;
python benchmarks/wrong_pairs.py count PAIRS.tsv SCORED.tsv.gz
"""

import gzip
import random
import sys
from pathlib import Path

SHARE = 5


def pairs_of(file: str) -> list[list[str]]:
    """The rows of a table; compressed if its name ends in .gz."""
    opener = gzip.open if file.endswith(".gz") else open
    with opener(file, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def mixed(pairs: list[list[str]], seed: int = 17) -> list[tuple[str, str, bool]]:
    """The pairs, a fifth of them with targets exchanged, and whether each is one of these."""
    rng = random.Random(seed)
    wrong = sorted(rng.sample(range(len(pairs)), len(pairs) // SHARE))
    cycle = wrong[:]
    rng.shuffle(cycle)
    other = dict(zip(cycle, cycle[1:] + cycle[:1], strict=True))
    return [(pair[0], pairs[other.get(row, row)][1], row in other) for row, pair in enumerate(pairs)]


if __name__ == "__main__":
    action, original, file = sys.argv[1:]
    rows = mixed(pairs_of(original))
    if action == "mix":
        Path(file).write_text("".join(f"{pt}\t{en}\n" for pt, en, _ in rows), encoding="utf-8")
    else:
        wrong = {(pt, en) for pt, en, is_wrong in rows if is_wrong}
        scored = sorted((float(score), (pt, en)) for pt, en, score in pairs_of(file))
        found = sum(pair in wrong for _, pair in scored[: len(scored) // SHARE])
        print(f"{found} of {len(wrong)} wrong pairs ({found / len(wrong):.1%}) are among the lowest fifth")
