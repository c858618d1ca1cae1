"""``ptenmt lexicon``: what it writes and refuses; tests/data/test_lexicon.py has the rest."""

import gzip
from pathlib import Path

COMMAND = ("lexicon", "--pairs", "pairs.tsv", "--dictionary", "words.tsv")


def test_pairs_for_rare_words(ptenmt, empty: Path) -> None:
    rows = [
        f"O gato {verb} aqui {number}.\tThe cat {verb} here {number}.\n"
        for number, verb in enumerate(("d", "c"))
    ]
    (empty / "pairs.tsv").write_text("".join(rows), encoding="utf-8")
    (empty / "words.tsv").write_text("gato\tcat\tn\tpt\npato\tduck\tn\nbule\tpot\tn\n", encoding="utf-8")
    # Function words are the 150 most frequent ones.
    fillers = " ".join(f"{first}{second}" for first in "bcdfghjklmnpq" for second in "bcdfghjklmnp")
    texts = {
        "pt": ("o gato d aqui", "o pato d aqui", "o bule caiu"),
        "en": ("the cat d here", "the duck d here", "my pot fell"),
    }
    for language, lines in texts.items():
        article = lines[0].split()[0]
        text = f"{fillers} {article} {article}\n" * 50 + "\n".join(lines * 15) + "\n"
        (empty / f"text.{language}").write_text(text, encoding="utf-8")
    answer = ptenmt(
        *COMMAND,
        "--source-text",
        "text.pt",
        "--target-text",
        "text.en",
        "--max-count",
        "1",
        "-o",
        "rare.tsv.gz",
    )
    assert answer.stderr == "2 pairs for rare words: rare.tsv.gz\n"
    text = gzip.decompress((empty / "rare.tsv.gz").read_bytes()).decode()
    pairs = sorted(line.split("\t")[:2] for line in text.splitlines())
    assert pairs == [["O pato c aqui 1.", "The duck c here 1."], ["O pato d aqui 0.", "The duck d here 0."]]


def test_refusals_leave_no_file(ptenmt, empty: Path) -> None:
    (empty / "pairs.tsv").write_text("O gato.\tThe cat.\n", encoding="utf-8")
    (empty / "words.tsv").write_text("gato\tcat\n", encoding="utf-8")
    assert "has no entry with a part of speech" in ptenmt(*COMMAND, "-o", "rare.tsv", code=1).stderr
    (empty / "words.tsv").write_text("gato\tcat\tn\n", encoding="utf-8")
    assert "must end in .tsv or .tsv.gz" in ptenmt(*COMMAND, "-o", "rare.txt", code=1).stderr
    assert "cannot read" in ptenmt(*COMMAND, "--target-text", "none.en", "-o", "rare.tsv", code=1).stderr
    assert not list(empty.glob("rare*"))
