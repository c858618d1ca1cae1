"""The starter model's validation and test pairs: python tools/starter_data.py FOLDER.

FOLDER has pt-en/, the files of configs/good.yaml, and tfds/, the TED pairs as TensorFlow Datasets keeps
them. Writes ted-valid.tsv and ted-test.tsv, TED's pairs in natural spacing, and tatoeba-test.tsv, 1,000 of
the direct Tatoeba pairs of four words or more on each side, none of which shares a sentence with another.
Training leaves out every pair that has a sentence of them.
"""

import argparse
import gzip
import random
from pathlib import Path

from ptenmt.data.text import detokenize_tokens

NUM_TEST_PAIRS = 1000


def ted(folder: Path, split: str) -> list[tuple[str, str]]:
    """TED's pairs of a split, detokenized."""
    import tensorflow_datasets as tfds

    pairs = tfds.load(
        "ted_hrlr_translate/pt_to_en",
        split=split,
        data_dir=folder / "tfds",
        as_supervised=True,
        download=False,
    )
    return [
        (detokenize_tokens(pt.decode(), "pt"), detokenize_tokens(en.decode(), "en"))
        for pt, en in tfds.as_numpy(pairs)
    ]


def held_out(folder: Path) -> list[tuple[str, ...]]:
    """Tatoeba's pairs for testing; the same in every run."""
    pairs = set()
    for name in ("tatoeba", "tatoeba_more"):
        with gzip.open(folder / "pt-en" / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
            pairs |= {tuple(line.rstrip("\n").split("\t")) for line in lines}
    candidates = sorted(pair for pair in pairs if min(len(side.split()) for side in pair) >= 4)
    random.Random(2).shuffle(candidates)
    seen: set[str] = set()
    chosen: list[tuple[str, ...]] = []
    for pair in candidates:
        if not seen & set(pair) and len(chosen) < NUM_TEST_PAIRS:
            chosen.append(pair)
            seen |= set(pair)
    return chosen


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    data = parser.parse_args().folder
    if missing := [name for name in ("pt-en", "tfds") if not (data / name).is_dir()]:
        parser.error(f"no folder {data / missing[0]}")
    tables = {
        "ted-valid": ted(data, "validation"),
        "ted-test": ted(data, "test"),
        "tatoeba-test": held_out(data),
    }
    for name, rows in tables.items():
        (data / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        print(f"{name}.tsv: {len(rows):,} pairs")
