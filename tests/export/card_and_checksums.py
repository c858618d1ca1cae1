"""What every export has, whatever its format: a model card and checksums."""

import re
import subprocess
from pathlib import Path


def check_card_and_checksums(folder: Path) -> str:
    """Whether a folder has a checksum of every file, and a card that says what it is; gives the card."""
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert {line.removesuffix(": OK") for line in checked.stdout.splitlines()} == names - {"SHA256SUMS"}
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# sentencepiece: Portuguese to English\n\nA Transformer that translates")
    assert "weights best (step 7), checksum `" in card
    assert "| train | 5 | `0123456789abcdef` |" in card
    assert "Sentence pairs from `pairs.tsv`. ptenmt does not know the licence" in card
    assert "jdoe" not in card
    assert "| BLEU | 12.3 | sacreBLEU, `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in card
    assert "The longest sentence has 40 tokens" in card
    assert "max_positions: 40" in card
    assert re.search(r"^\| tensorflow \| (\d+\.\d+\.\d+) \| \1 \|$", card, re.MULTILINE)
    return card
