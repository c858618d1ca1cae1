"""What every export that leaves the house carries: a model card and a list of checksums."""

import hashlib
from collections.abc import Mapping

CARD_FILE = "README.md"
"""Where Argos Translate, model hubs and people look for a description."""
SUMS_FILE = "SHA256SUMS"
"""As ``sha256sum --check`` reads it."""
PAPERS = frozenset({CARD_FILE, SUMS_FILE})


def with_papers(files: Mapping[str, bytes], card: str) -> dict[str, bytes]:
    """Add a model card, and the checksums of all files with it.

    Args:
        files: Contents by the path below the export's folder.
        card: Markdown.
    """
    files = {**files, CARD_FILE: card.encode()}
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    return files | {SUMS_FILE: "".join(sums).encode()}
